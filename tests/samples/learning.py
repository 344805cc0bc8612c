"""Training steps on one batch, on the gradients that RETURNN gives."""

import numpy


def losses_of_steps(network, inputs, steps=20, learning_rate=0.01):
    """The objective before and after some steps of Adam (Kingma, Ba 2015).

    Steps are taken as RETURNN takes them, with the train flag on and updates of running statistics; the objective is
    told with the flag off. The network has its parameters back afterwards.
    """
    start = network.get_params()
    mean = {name: 0.0 for name in start}
    square = {name: 0.0 for name in start}
    before = network.run(inputs, want_outputs=False, want_grads=False)["objective"]
    for step in range(1, steps + 1):
        gradients = network.run(inputs, train=True, want_outputs=False, updates=True)["gradients"]
        values = network.get_params()
        for name, gradient in gradients.items():
            mean[name] = 0.9 * mean[name] + 0.1 * gradient
            square[name] = 0.999 * square[name] + 0.001 * gradient**2
            direction = mean[name] / (1 - 0.9**step) / (numpy.sqrt(square[name] / (1 - 0.999**step)) + 1e-8)
            values[name] = values[name] - learning_rate * direction
        network.set_params(values)
    after = network.run(inputs, want_outputs=False, want_grads=False)["objective"]
    network.set_params(start)
    return before, after

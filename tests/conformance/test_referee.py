"""The referee gives the right numbers: RETURNN's answers against numpy, on hand-written networks."""

import unittest

import numpy

from compare import compare, sequence_of
from example_nets import BATCH_NORM, DROPOUT, EMBEDDING, LINEAR, LOSSES, LSTM, NO_MASK, REDUCE, config
from inputs import frame_mask, poisoned, random_inputs, random_parameters, single
from referee import Network


def prepared(network, seed=1):
    """The network with random parameters, these parameters, random inputs."""
    net = Network(config(network))
    params = random_parameters(net.params(), seed)
    net.set_params(params)
    return net, params, random_inputs(net.externs(), seed)


def close(a, b, tolerance=1e-5):
    """Equal up to `tolerance` of the largest value."""
    numpy.testing.assert_allclose(a, b, rtol=0, atol=tolerance * max(1e-3, numpy.abs(b).max()))


def mask_of(inputs, net):
    """[batch, time]: valid frames of the data."""
    return frame_mask(inputs, "data", net.externs()["data"])[:, :, 0]


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


def lstm(x, params):
    """[batch, time, feat] -> [batch, time, hidden]; gates in the order j i f o (cell input, input, forget, output)."""
    hidden = params["lstm/W_re"].shape[0]
    h = c = numpy.zeros((x.shape[0], hidden))
    frames = []
    for t in range(x.shape[1]):
        gates = x[:, t] @ params["lstm/W"] + h @ params["lstm/W_re"] + params["lstm/b"]
        j, i, f, o = numpy.split(gates, 4, axis=-1)
        c = c * sigmoid(f) + numpy.tanh(j) * sigmoid(i)
        h = numpy.tanh(c) * sigmoid(o)
        frames.append(h)
    return numpy.stack(frames, axis=1)


class Forward(unittest.TestCase):
    def test_linear(self):
        net, params, inputs = prepared(LINEAR)
        output = net.run(inputs)["outputs"]["output"]
        close(output["values"], inputs["data"] @ params["lin/weight"] + params["lin/bias"])
        self.assertEqual(output["dims"], ["batch", "time", "hidden"])
        self.assertEqual(output["lengths"]["time"].tolist(), inputs["data/length/time"].tolist())
        self.assertEqual((output["dtype"], output["sparse_dim"]), ("float32", None))

    def test_no_lengths_means_full(self):
        net, _, inputs = prepared(LINEAR)
        output = net.run({"data": inputs["data"]})["outputs"]["output"]
        self.assertEqual(output["lengths"]["time"].tolist(), [7, 7, 7])

    def test_lstm_gate_order(self):
        net, params, inputs = prepared(LSTM)
        output = net.run(inputs)["outputs"]["output"]["values"]
        mask = mask_of(inputs, net)
        close(output[mask], lstm(inputs["data"], params)[mask])

    def test_masked_reduce(self):
        net, _, inputs = prepared(REDUCE)
        inputs = poisoned(inputs, net.externs(), 1e3)
        outputs = net.run(inputs)["outputs"]
        for i, length in enumerate(inputs["data/length/time"]):
            close(outputs["output"]["values"][i], inputs["data"][i, :length].mean(axis=0))
            close(outputs["unmasked"]["values"][i], inputs["data"][i].sum(axis=0))

    def test_sparse_input_and_output(self):
        net, params, inputs = prepared(EMBEDDING)
        outputs = net.run(inputs)["outputs"]
        close(outputs["output"]["values"], params["table"][inputs["labels"]])
        best = outputs["best"]
        self.assertEqual((best["dtype"], best["sparse_dim"], best["sparse_size"]), ("int32", "hidden", 4))
        self.assertEqual(best["values"].tolist(), params["table"][inputs["labels"]].argmax(axis=-1).tolist())

    def test_train_flag(self):
        net, _, inputs = prepared(DROPOUT)
        close(net.run(inputs)["outputs"]["output"]["values"], inputs["data"])
        trained = net.run(inputs, train=True)["outputs"]["output"]["values"]
        kept = trained != 0
        self.assertLess(kept.sum(), inputs["data"].astype(bool).sum())
        close(trained[kept], 2 * inputs["data"][kept])

    def test_updates(self):
        net, params, inputs = prepared(BATCH_NORM)
        net.run(inputs, train=True)
        close(net.get_params()["norm/batch_norm/v2_mean"].ravel(), params["norm/batch_norm/v2_mean"].ravel())
        net.run(inputs, train=True, updates=True)
        mean = inputs["data"][mask_of(inputs, net)].mean(axis=0)
        expected = 0.9 * params["norm/batch_norm/v2_mean"].ravel() + 0.1 * mean
        close(net.get_params()["norm/batch_norm/v2_mean"].ravel(), expected)

    def test_search_flag_on_a_network_without_search(self):
        net, _, inputs = prepared(LINEAR)
        self.assertEqual(compare(net.run(inputs), net.run(inputs, search=True)), [])


class Losses(unittest.TestCase):
    def setUp(self):
        self.net, self.params, self.inputs = prepared(LOSSES)
        self.frames = self.inputs["data"][mask_of(self.inputs, self.net)]
        self.result = self.net.run(poisoned(self.inputs, self.net.externs()))

    def test_sums_and_means(self):
        for name, weight in (("scaled", "w"), ("mean", "frozen")):
            values = self.frames @ self.params[weight]
            close(self.result["losses"][name]["sum"], values.sum())
            close(self.result["losses"][name]["mean"], values.mean())
        off = self.frames @ self.params["w"] > self.frames @ self.params["frozen"]
        close(self.result["errors"]["off"]["sum"], off.sum())
        close(self.result["errors"]["off"]["mean"], off.mean())
        self.assertNotIn("off", self.result["losses"])

    def test_objective(self):
        constraint = 0.5 * (self.params["w"] ** 2).sum()
        close(self.result["constraints"], constraint)
        scaled = 0.3 * (self.frames @ self.params["w"]).sum()
        mean = (self.frames @ self.params["frozen"]).mean()
        close(self.result["objective"], scaled + mean + constraint)

    def test_gradient_with_constraint(self):
        self.assertEqual(list(self.result["gradients"]), ["w"])
        expected = 0.3 * self.frames.sum(axis=0) + 2 * 0.5 * self.params["w"]
        close(self.result["gradients"]["w"], expected)


class Gradients(unittest.TestCase):
    def test_embedding_gradient_is_dense(self):
        net, params, inputs = prepared(EMBEDDING)
        labels = inputs["labels"][mask_of(inputs, net)]
        counts = numpy.bincount(labels, minlength=params["table"].shape[0])
        close(net.run(inputs)["gradients"]["table"], numpy.repeat(counts[:, None], 4, axis=1))

    def test_no_loss_means_zero(self):
        net, params, inputs = prepared(LINEAR)
        gradients = net.run(inputs)["gradients"]
        self.assertEqual({name: g.shape for name, g in gradients.items()}, {n: p.shape for n, p in params.items()})
        self.assertFalse(any(g.any() for g in gradients.values()))

    def test_lstm_finite_difference(self):
        net, params, inputs = prepared(LSTM)
        gradients = net.run(inputs)["gradients"]
        mask = mask_of(inputs, net)
        for name, value in params.items():
            index = tuple(size // 2 for size in value.shape)
            sums = []
            for sign in (1, -1):
                moved = {key: numpy.array(p, dtype="float64") for key, p in params.items()}
                moved[name][index] += sign * 1e-4
                sums.append(lstm(inputs["data"].astype("float64"), moved)[mask].sum())
            close(gradients[name][index], (sums[0] - sums[1]) / 2e-4, 1e-3)


class Padding(unittest.TestCase):
    """Poison and single sequences change nothing where RETURNN masks, and show where it does not."""

    def test_masked_networks(self):
        for network in (LINEAR, LSTM, EMBEDDING, LOSSES):
            net, _, inputs = prepared(network)
            result = net.run(inputs)
            self.assertEqual(compare(result, net.run(poisoned(inputs, net.externs(), 1e3))), [])
            for i in range(3):
                alone = {"outputs": net.run(single(inputs, net.externs(), i))["outputs"]}
                self.assertEqual(compare(sequence_of(result, i), alone), [])

    def test_nan_in_the_padding(self):
        net, _, inputs = prepared(LINEAR)
        self.assertEqual(compare(net.run(inputs), net.run(poisoned(inputs, net.externs(), float("nan")))), [])

    def test_leak_is_seen(self):
        net, _, inputs = prepared(NO_MASK)
        differences = compare(net.run(inputs), net.run(poisoned(inputs, net.externs(), 1e3)))
        self.assertEqual(len(differences), 1, differences)
        self.assertIn("outputs: output: relative error", differences[0])


class Arguments(unittest.TestCase):
    def test_parameter_names_with_and_without_param(self):
        net, params, inputs = prepared(LINEAR)
        result = net.run(inputs)
        net.set_params({name + "/param": value for name, value in params.items()})
        self.assertEqual(compare(result, net.run(inputs)), [])

    def test_wrong_parameters_are_listed(self):
        net, params, inputs = prepared(LINEAR)
        before = net.run(inputs)
        with self.assertRaises(ValueError) as caught:
            net.set_params({"lin/weight": numpy.zeros((4, 3)), "lin/scale": numpy.zeros(4)})
        for part in ("missing: lin/bias (4,)", "left over: lin/scale (4,)", "lin/weight is (4, 3)"):
            self.assertIn(part, str(caught.exception))
        self.assertEqual(compare(before, net.run(inputs)), [])

    def test_wrong_inputs_are_refused(self):
        net, _, inputs = prepared(LINEAR)
        for wrong, message in (
            ({"labels": inputs["labels"]}, "missing ['data']"),
            ({**inputs, "other": 1}, "unknown ['other']"),
            ({"data": inputs["data"][0]}, "array of shape"),
            ({"data": inputs["data"][:, :, :2]}, "size 2 of dim feat"),
            ({**inputs, "data/length/time": [8, 1, 1]}, "exceed the padded size 7"),
            ({**inputs, "labels/length/time": [1, 1, 1]}, "lengths"),
            ({**inputs, "data/length/tame": [1, 1, 1], "data/length/time": [1, 1, 1]}, "lengths for ['tame']"),
            ({"data": inputs["data"], "labels": inputs["labels"][:, :5]}, "size 5 of dim time of labels, but 7"),
            ({**inputs, "labels": inputs["labels"] + 0.5}, "dtype float64 for int32"),
        ):
            with self.assertRaises(ValueError) as caught:
                net.run(wrong)
            self.assertIn(message, str(caught.exception))

    def test_descriptions(self):
        net, _, inputs = prepared(LINEAR)
        self.assertEqual(
            net.params()[1], {"name": "lin/weight", "shape": (3, 4), "dtype": "float32", "trainable": True}
        )
        self.assertEqual(net.externs()["labels"]["sparse_size"], 5)
        time = net.dims(inputs)["output"][1]
        self.assertEqual((time["name"], time["kind"], time["entity"]), ("time", "dynamic", "spatial"))
        self.assertEqual(time["lengths"].tolist(), inputs["data/length/time"].tolist())


if __name__ == "__main__":
    unittest.main()

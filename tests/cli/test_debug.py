"""The debugger in a real terminal, interrupts, and files that change between two runs of it."""

import os
import pty
import re
import select
import shlex
import shutil
import signal
import subprocess
import termios
import time
import unittest

import support

EAGER = support.RCNC.with_name("rcnc-eager")

MODEL = """\
import nn

dim time: spatial

extern data: float32[batch, time]

network {
    fn main() {
        doubled = data * 2.0
        shifted = nn.relu(doubled) + 1.0
        output shifted
    }
}
"""

LONG = """\
import nn

dim time: spatial = 100000000

extern data: float32[batch]

network {
    fn main() {
        loop t over time with h = data {
            h = h + 1.0
        }
        output h
    }
}
"""

# Adam makes the weights larger by the learning rate in each step.
FALLING = """\
import nn
dim time: spatial
dim f: feature = 3
extern data: float32[batch, time, f]
network {
    param w: [f] = 0.0
    fn main() {
        s = nn.reduce(w, mode="sum", axis=f)
        assert s < 0.005, "too large"
        loss l = nn.sin(nn.reduce(data, mode="sum", axis=f)) - s
    }
}
"""

ALONE = """\
import nn
dim time: spatial
dim f: feature = 3
extern data: float32[batch, time, f]
network {
    fn main() {
        n = nn.dim_value(batch)
        y = nn.tanh(data)
        assert n > 1, "alone"
        output y
    }
}
"""


class Terminal:
    """A program whose standard streams are a terminal of its own."""

    def __init__(self, command, folder):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execve(command[0], command, {"PATH": os.environ["PATH"], "TERM": "xterm", "LC_ALL": "C.UTF-8", "NO_COLOR": "1"})
        self.text = ""

    def expect(self, wanted, seconds=60):
        """Reads until `wanted` appears behind what was read before; gives all up to it."""
        end = time.monotonic() + seconds
        while wanted not in self.text:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.fd], [], [], left)[0]:
                raise AssertionError(f"no {wanted!r} in {self.text!r}")
            try:
                data = os.read(self.fd, 4096)
            except OSError:
                data = b""
            if not data:
                raise AssertionError(f"the program ended without {wanted!r}: {self.text!r}")
            self.text += data.decode(errors="replace")
        before, _, self.text = self.text.partition(wanted)
        return before

    def send(self, text):
        os.write(self.fd, text.encode())

    def answer(self, text):
        """Types `text` at the next prompt: before its line is edited, the terminal takes control characters for itself."""
        self.expect("(rcn) ")
        self.wait_for_editing()
        self.send(text)

    def wait_for_editing(self, seconds=60):
        end = time.monotonic() + seconds
        while termios.tcgetattr(self.fd)[3] & termios.ICANON and time.monotonic() < end:
            time.sleep(0.01)

    def interrupt_prompt(self, seconds=60):
        """Ctrl-C at the next prompt until there is another one: the program may not be reading yet."""
        self.expect("(rcn) ")
        self.wait_for_editing()
        end = time.monotonic() + seconds
        while "(rcn) " not in self.text and time.monotonic() < end:
            self.send("\x03")
            if select.select([self.fd], [], [], 2)[0]:
                self.text += os.read(self.fd, 4096).decode(errors="replace")

    def kill(self):
        """The program, if it still runs."""
        try:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass

    def exit_code(self, seconds=60):
        end = time.monotonic() + seconds
        while True:
            if not select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]:
                os.kill(self.pid, signal.SIGKILL)
            try:
                if not os.read(self.fd, 4096):
                    break
            except OSError:
                break
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@unittest.skipUnless(EAGER.exists(), "there is no rcnc-eager")
class Debugging(support.CliTest):
    def terminal(self, model, *args):
        self.write("model.rcn", model)
        try:
            terminal = Terminal([str(support.RCNC), "--eager", *args, "model.rcn"], self.folder)
        except OSError as error:
            self.skipTest(f"there are no terminals here: {error}")
        self.addCleanup(terminal.kill)
        return terminal

    def script(self, model, text, *args):
        self.write("model.rcn", model)
        return subprocess.run(
            [support.RCNC, "--eager", *args, "model.rcn"], cwd=self.folder, input=text, capture_output=True, text=True, timeout=120
        )

    def test_a_terminal_has_a_prompt_and_repeats_the_last_line(self):
        terminal = self.terminal(MODEL, "--debug", "--data", "data=[[1,2]]")
        terminal.expect("before the first operation, mul")
        terminal.answer("next\n")
        terminal.expect("model.rcn:10:9 in main")
        terminal.answer("\n")
        terminal.expect("model.rcn:11:9 in main")
        terminal.answer("p shifted\n")
        terminal.expect("[[3, 5]]")
        terminal.answer("continue\n")
        terminal.expect("shifted")
        self.assertEqual(terminal.exit_code(), 0)

    def test_names_and_commands_complete_and_lines_come_back(self):
        terminal = self.terminal(MODEL, "--break", "11", "--data", "data=[[1,2]]")
        terminal.answer("p shi\t\n")
        terminal.expect("shifted  float32")
        terminal.answer("p nn.expand_di\t\n")
        terminal.expect("the function `expand_dims`")
        terminal.answer("\x1b[A\x1b[A\n")  # up, up: `p shifted`
        terminal.expect("[[3, 5]]")
        terminal.answer("whe\t\n")
        terminal.expect("> model.rcn:11:9 in main")
        terminal.answer("\x04")
        self.assertEqual(terminal.exit_code(), 0)

    def test_an_interrupt_opens_the_prompt(self):
        terminal = self.terminal(LONG, "--break", "error", "--trace")
        terminal.expect("loop[")  # it runs
        terminal.send("\x03")
        terminal.expect("interrupted")
        terminal.interrupt_prompt()  # an empty line
        terminal.answer("p t >= 0\n")
        terminal.expect("true")
        terminal.answer("quit\n")
        self.assertEqual(terminal.exit_code(), support.INTERRUPTED)

    def test_an_interrupt_without_a_prompt_ends_the_run(self):
        self.write("model.rcn", LONG)
        run = subprocess.Popen(
            [support.RCNC, "--eager", "--trace", "model.rcn"], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.addCleanup(run.kill)
        run.stdout.readline()
        run.send_signal(signal.SIGINT)
        run.stdout.read()
        run.stdout.close()
        self.assertEqual(run.wait(60), support.INTERRUPTED)

    def test_a_restart_reads_the_file_again(self):
        self.write("model.rcn", MODEL)
        run = subprocess.Popen(
            [support.RCNC, "--eager", "--break", "11", "--data", "data=[[1,2]]", "model.rcn"],
            cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        run.stdin.write("p shifted\n")
        run.stdin.flush()
        self.assertIn("[[3, 5]]\n", iter(run.stdout.readline, ""))
        self.write("model.rcn", MODEL.replace("2.0", "3.0"))
        out, _ = run.communicate("restart\np shifted\n", timeout=120)
        self.assertIn("[[4, 7]]", out)
        self.assertEqual(run.returncode, 0)

    def test_saved_tensors_have_their_lengths(self):
        run = self.script(MODEL, "save t.npz doubled, shifted * 2\nquit\n", "--break", "11", "--data", "data=[[1,2],[3]]")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        again = self.script(MODEL, "p data\nquit\n", "--debug", "--data", "data=t.npz:shifted * 2")
        self.assertIn("[[6, 10]", again.stdout)
        self.assertIn("data  float32[batch=2, time=2 (2, 1)]", again.stdout)

    def test_with_json_results_alone_are_on_standard_output(self):
        run = self.script(MODEL, "p data\ncontinue\n", "--debug", "--json", "--data", "data=[[1,2]]")
        self.assertEqual(run.returncode, 0)
        self.assertTrue(run.stdout.startswith("{"), run.stdout)
        self.assertIn("[[1, 2]]", run.stderr)

    def test_a_step_of_fit_that_fails_opens_the_prompt(self):
        run = self.script(FALLING, "w\nquit\n", "--debug", "--fit", "20", "--lr", "0.001")
        self.assertEqual(run.returncode, support.MODEL_ERROR)
        self.assertIn("too large [E0708]", run.stderr)
        self.assertIn("note: in step 2 of --fit", run.stderr)
        self.assertIn("> model.rcn:9:9 in main", run.stdout)
        self.assertIn("[0.0019999999, 0.0019999999, 0.0019999999]", run.stdout)
        again = self.script(FALLING, "", "--fit", "20", "--lr", "0.001")
        self.assertEqual(again.stderr, run.stderr)

    def test_a_further_run_that_fails_opens_the_prompt(self):
        run = self.script(ALONE, "nn.dim_value(batch)\nquit\n", "--break", "error", "--check-padding", "--batch", "2")
        self.assertEqual(run.returncode, support.MODEL_ERROR)
        self.assertIn("note: with sequence 0 alone", run.stderr)
        self.assertIn("> model.rcn:9:9 in main", run.stdout)
        self.assertIn("\n1\n", run.stdout)

    def test_the_prompt_needs_standard_input(self):
        run = subprocess.run([support.RCNC, "--eager", "--debug", "-"], input=MODEL, capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, support.USAGE)
        self.assertIn("the model must be a file", run.stderr)

    def test_random_numbers_do_not_depend_on_the_prompt(self):
        model = MODEL.replace("data * 2.0", "nn.dropout(data, 0.5, axis=time)")
        args = ("--train", "--data", "data=[[1,2,3,4]]", "--break", "9", "--print", "*")
        plain = self.script(model, "continue\n", *args)
        looked = self.script(model, "nn.dropout(data, 0.5, axis=time)\nnn.dropout(data, 0.5, axis=time)\ncontinue\n", *args)
        self.assertEqual(plain.returncode, 0)
        self.assertEqual(plain.stdout.splitlines()[-4:], looked.stdout.splitlines()[-4:])

    def test_what_the_documentation_shows_is_so(self):
        text = (support.ROOT / "docs" / "debugging.md").read_text()
        shutil.copytree(support.ROOT / "tests" / "gallery", self.folder, dirs_exist_ok=True)
        environment = {**os.environ, "RCNC_PYTHON": os.environ.get("RCNC_TEST_PYTHON", str(support.ROOT / "build" / "venv" / "bin" / "python"))}
        for model, name in re.findall(r"```rcn\n(# (\S+\.rcn)\n.*?)```", text, re.DOTALL):
            self.write(name, model)
        sessions = re.findall(r"```\n\$ rcnc (.*?)\n(.*?)```", text, re.DOTALL)
        self.assertGreater(len(sessions), 3)
        for command, transcript in sessions:
            lines = transcript.splitlines()
            said = [line.removeprefix("(rcn) ") for line in lines if line.startswith("(rcn) ")]
            run = subprocess.run(
                [support.RCNC, *shlex.split(command)], cwd=self.folder, input="\n".join(said), stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, timeout=120, env=environment,
            )
            with self.subTest(command=command):
                shown = [line for line in lines if not line.startswith("(rcn) ")]
                self.assert_alike(run.stdout.splitlines(), shown)

    def assert_alike(self, lines, expected):
        """Equal but for the last digits of numbers with a point, which depend on the machine."""
        number = re.compile(r"-?\d+\.\d+(?:e[-+]\d+)?")
        self.assertEqual([number.sub("0.0", line) for line in lines], [number.sub("0.0", line) for line in expected])
        for line, other in zip(lines, expected):
            for a, b in zip(number.findall(line), number.findall(other)):
                self.assertAlmostEqual(float(a), float(b), delta=2e-3 * abs(float(b)) + 1e-6, msg=line)


if __name__ == "__main__":
    unittest.main()

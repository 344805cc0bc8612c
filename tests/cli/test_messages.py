"""What is said to people and tools: help, diagnostics, and input that is no model."""

import json
import os
import re
import shutil

from support import BROKEN, MODEL, MODEL_ERROR, NOBODY, OK, RCNC, ROOT, USAGE, CliTest, errors


class Help(CliTest):
    def test_version(self):
        version = re.search(r"project\(rcnc VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
        self.assertEqual(self.output_of("--version"), f"rcnc {version}\n")

    def test_help(self):
        text = self.output_of("--help")
        self.assertEqual(text, self.output_of("-h"))
        for word in ("-o", "-D", "-I", "--json", "--emit", "--mode", "--eager", "--diagnostics", "check", "params", "--version"):
            self.assertIn(word, text)

    def test_wrong_usage(self):
        self.write("model.rcn", MODEL)
        self.error_of(USAGE)
        self.assertIn("--frobnicate", self.error_of(USAGE, "model.rcn", "--frobnicate"))
        self.error_of(USAGE, "model.rcn", "-o")
        self.error_of(USAGE, "check")
        self.error_of(USAGE, "params")
        self.error_of(USAGE, "model.rcn", "--diagnostics=xml")


    def test_options_that_do_not_go_together(self):
        self.write("model.rcn", MODEL)
        for args, text in (
            (["--print", "x"], "--eager only"),
            (["--grad"], "--eager only"),
            (["--eager", "-o", "x.py"], "does not go with --eager"),
            (["--eager", "--device", "cuda"], "CPU only"),
            (["--eager", "--rename-map", "names"], "--rename-map needs --params"),
            (["--eager", "--params-partial"], "--params-partial needs --params"),
            (["--eager", "--save", "x.txt"], "--save writes FILE.npz or FILE.safetensors, not `x.txt`"),
            (["--eager", "--save-params", "x.pt"], "--save-params writes FILE.npz or FILE.safetensors, not `x.pt`"),
            (["--eager", "--sample-rate", "0"], "--sample-rate: `0` is no number above 0"),
            (["--eager", "--fit", "-3"], "--fit: `-3` is no number above 0"),
            (["--eager", "--threads", "0"], "--threads: `0` is no number above 0"),
            (["--eager", "--step", "-1"], "--step: `-1` is no number of at least 0"),
        ):
            with self.subTest(args=args):
                self.assertIn(text, self.error_of(USAGE, *args, "model.rcn"))

    def test_command_behind_options(self):
        self.write("model.rcn", MODEL)
        self.assertEqual(self.output_of("-q", "check", "model.rcn"), "")


class Diagnostics(CliTest):
    def test_text(self):
        self.write("broken.rcn", BROKEN)
        error = self.error_of(MODEL_ERROR, "broken.rcn")
        self.assertRegex(error, r"^broken\.rcn:16:24: error: .*`liner`.* \[E\d{4}\]\n")
        self.assertIn("        x = nn.dropout(liner(data), 0.1, axis=hidden)\n", error)
        self.assertIn("`linear`", error)

    def test_paths_as_they_were_given(self):
        self.write("models/broken.rcn", BROKEN)
        self.assertTrue(self.error_of(MODEL_ERROR, "models/broken.rcn").startswith("models/broken.rcn:16:24: "))
        path = str(self.folder / "models" / "broken.rcn")
        self.assertTrue(self.error_of(MODEL_ERROR, path).startswith(f"{path}:16:24: "))

    def test_json(self):
        self.write("broken.rcn", BROKEN)
        document = json.loads(self.error_of(MODEL_ERROR, "broken.rcn", "--diagnostics=json"))
        (found,) = document["diagnostics"]
        self.assertEqual((found["file"], found["line"], found["column"], found["severity"]), ("broken.rcn", 16, 24, "error"))
        self.assertEqual((found["end_line"], found["end_column"]), (16, 29))
        self.assertRegex(found["code"], r"^E\d{4}$")
        self.assertIn("`liner`", found["message"])

    def test_json_of_a_good_model(self):
        self.write("model.rcn", MODEL)
        result = self.run_rcnc("model.rcn", "--diagnostics=json")
        self.assertEqual((result.returncode, result.stdout), (OK, self.output_of("model.rcn")))
        self.assertEqual(json.loads(result.stderr or "{}").get("diagnostics", []), [])

    def test_json_of_several_models(self):
        self.write("a.rcn", BROKEN)
        self.write("b.rcn", BROKEN)
        document = json.loads(self.error_of(MODEL_ERROR, "check", "a.rcn", "b.rcn", "--diagnostics=json"))
        self.assertEqual([found["file"] for found in document["diagnostics"]], ["a.rcn", "b.rcn"])

    def test_max_errors(self):
        self.write("broken.rcn", errors(30))
        for args, shown in (([], 20), (["--max-errors", "3"], 3), (["--max-errors=100"], 30)):
            error = self.error_of(MODEL_ERROR, "broken.rcn", *args)
            found = re.findall(r"(?m)^broken\.rcn:(\d+):\d+: error:", error)
            self.assertEqual(found, [str(20 + i) for i in range(shown)])
            self.assertEqual(str(30 - shown) in error.splitlines()[-1], shown < 30, error.splitlines()[-1])
        for wrong in ("0", "-1", "many"):
            self.error_of(USAGE, "broken.rcn", "--max-errors", wrong)

    def test_max_errors_holds_for_all_models(self):
        self.write("a.rcn", errors(4))
        self.write("b.rcn", errors(4))
        error = self.error_of(MODEL_ERROR, "check", "a.rcn", "b.rcn", "--max-errors", "6")
        self.assertEqual(len(re.findall(r"(?m)^[ab]\.rcn:\d+:\d+: error:", error)), 6)

    def test_color(self):
        self.write("broken.rcn", BROKEN)
        plain = self.error_of(MODEL_ERROR, "broken.rcn")
        self.assertNotIn("\x1b", plain)
        self.assertEqual(self.error_of(MODEL_ERROR, "broken.rcn", "--color=never"), plain)
        self.assertEqual(self.error_of(MODEL_ERROR, "broken.rcn", "--color=auto", env={"NO_COLOR": "1"}), plain)
        colored = self.error_of(MODEL_ERROR, "broken.rcn", "--color=always")
        self.assertIn("\x1b[", colored)
        self.assertEqual(re.sub(r"\x1b\[[0-9;]*m", "", colored), plain)

    def test_verbose(self):
        self.write("model.rcn", MODEL)
        result = self.run_rcnc("model.rcn", "-v")
        self.assertEqual((result.returncode, result.stdout), (OK, self.output_of("model.rcn")))
        for stage in ("parse", "emit"):
            self.assertRegex(result.stderr, rf"(?m){stage}.*\bms\b")

    def test_quiet(self):
        self.write("model.rcn", MODEL)
        self.write("broken.rcn", BROKEN)
        self.assertEqual(self.output_of("model.rcn", "-q"), self.output_of("model.rcn"))
        self.assertIn("broken.rcn:16:24: error", self.error_of(MODEL_ERROR, "broken.rcn", "-q"))


class Input(CliTest):
    def test_missing_file(self):
        self.assertIn("absent.rcn", self.error_of(MODEL_ERROR, "absent.rcn"))
        self.error_of(MODEL_ERROR, "check", "absent.rcn")
        self.error_of(MODEL_ERROR, "params", "absent.rcn")
        self.write("model.rcn", MODEL)
        self.assertIn("model.rcn/deeper", self.error_of(MODEL_ERROR, "model.rcn/deeper"))

    def test_folder(self):
        (self.folder / "model.rcn").mkdir()
        error = self.error_of(MODEL_ERROR, "model.rcn")
        self.assertRegex(error, r"model\.rcn.*(folder|directory)")

    def test_unreadable_file(self):
        self.write("model.rcn", MODEL).chmod(0)
        shutil.copy(RCNC, self.folder / "rcnc")
        self.folder.chmod(0o755)
        options = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        error = self.error_of(MODEL_ERROR, "model.rcn", binary=self.folder / "rcnc", **options)
        self.assertIn("model.rcn", error)
        self.assertIn("ermission denied", error)

    def test_empty_file(self):
        self.write("model.rcn", "")
        self.assertIn("network", self.error_of(MODEL_ERROR, "model.rcn"))

    def test_not_utf8(self):
        self.write("model.rcn", MODEL.encode() + b"# caf\xe9\n")
        error = self.error_of(MODEL_ERROR, "model.rcn")
        self.assertIn("model.rcn:20:6: error", error)
        self.assertIn("UTF-8", error)
        self.write("wide.rcn", MODEL.encode("utf-16"))
        self.assertIn("UTF-16", self.error_of(MODEL_ERROR, "wide.rcn"))
        self.write("binary.rcn", bytes(range(256)) * 100)
        self.error_of(MODEL_ERROR, "binary.rcn")

    def test_columns_count_characters(self):
        self.write("model.rcn", MODEL + 's = "äöü" + unknown\n')
        self.assertIn("model.rcn:20:13: error", self.error_of(MODEL_ERROR, "model.rcn"))

    def test_byte_order_mark_and_line_ends(self):
        self.write("model.rcn", MODEL)
        text = self.output_of("model.rcn")
        for content in ("\ufeff" + MODEL, MODEL.replace("\n", "\r\n"), "\ufeff" + MODEL.replace("\n", "\r\n"), MODEL[:-1]):
            self.write("model.rcn", content)
            self.assertEqual(self.output_of("model.rcn"), text)

    def test_line_ends_in_messages(self):
        self.write("broken.rcn", BROKEN)
        error = self.error_of(MODEL_ERROR, "broken.rcn")
        self.write("broken.rcn", "\ufeff" + BROKEN.replace("\n", "\r\n"))
        self.assertEqual(self.error_of(MODEL_ERROR, "broken.rcn"), error)

    def test_huge_file(self):
        with open(self.folder / "model.rcn", "wb") as file:
            file.truncate(100 << 20)
        self.assertIn("model.rcn", self.error_of(MODEL_ERROR, "model.rcn"))

    def test_names_with_odd_characters(self):
        for name in ("my model.rcn", "modell-ä.rcn", "-model.rcn", "@model.rcn"):
            self.write(name, MODEL)
            self.assertIn("network", self.output_of(f"./{name}"))
        self.assertIn("network", self.output_of("--", "-model.rcn"))

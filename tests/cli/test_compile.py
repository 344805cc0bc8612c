"""Compiling: what is written with which options."""

import json

from support import MODEL, MODEL_ERROR, OK, USAGE, CliTest


class Compile(CliTest):
    def setUp(self):
        super().setUp()
        self.write("model.rcn", MODEL)

    def test_the_command_may_be_left_out(self):
        text = self.output_of("model.rcn")
        self.assertEqual(text, self.output_of("compile", "model.rcn"))
        self.assertEqual(text, self.output_of("model.rcn", "--python"))
        compile(text, "model.py", "exec")
        for name in ("extern_data", "network", "behavior_version"):
            self.assertRegex(text, rf"(?m)^{name} = ")

    def test_json(self):
        document = json.loads(self.output_of("model.rcn", "--json"))
        self.assertIn("network", document)
        self.assertIn("extern_data", document)
        self.error_of(USAGE, "model.rcn", "--json=fancy")
        self.error_of(USAGE, "model.rcn", "--json", "--python")

    def test_plain_json_is_written_or_refused(self):
        result = self.run_rcnc("model.rcn", "--json=plain")
        if result.returncode == OK:
            self.assertIn("network", json.loads(result.stdout))
        else:
            self.assertEqual((result.returncode, result.stdout), (MODEL_ERROR, ""))
            self.assertIn("plain JSON", result.stderr)

    def test_loader(self):
        compile(self.output_of("--print-loader"), "loader.py", "exec")

    def test_emit_parts(self):
        names = {"net": "network", "extern": "extern_data", "dims": "time_dim"}
        parts = {part: self.output_of("model.rcn", "--emit", part) for part in names}
        for part, name in names.items():
            for other, text in parts.items():
                self.assertEqual(part == other, f"\n{name} = " in text, f"{name} in {other}")
        self.assertEqual(self.output_of("model.rcn", "--emit", "all"), self.output_of("model.rcn"))
        self.error_of(USAGE, "model.rcn", "--emit", "everything")

    def test_mode(self):
        self.assertIn('"dropout"', self.output_of("model.rcn"))
        self.assertEqual(self.output_of("model.rcn", "--mode", "train"), self.output_of("model.rcn"))
        self.assertNotIn('"dropout"', self.output_of("model.rcn", "--mode", "eval"))
        self.assertNotIn('"dropout"', self.output_of("model.rcn", "--mode", "search"))
        self.assertIn("`eval`", self.error_of(MODEL_ERROR, "model.rcn", "--mode", "evall"))

    def test_behavior_version(self):
        self.assertIn("\nbehavior_version = 30\n", self.output_of("model.rcn"))
        text = self.output_of("model.rcn", "--behavior-version", "31")
        self.assertIn("\nbehavior_version = 31\n", text)
        for wrong in ("12", "new", "-1"):
            self.error_of(USAGE, "model.rcn", "--behavior-version", wrong)

    def test_sort_keys(self):
        plain = json.loads(self.output_of("model.rcn", "--json"))
        ordered = json.loads(self.output_of("model.rcn", "--json", "--sort-keys"))
        self.assertEqual(plain, ordered)
        self.assertEqual(list(ordered["network"]), sorted(ordered["network"]))
        for layer in ordered["network"].values():
            self.assertEqual(list(layer), sorted(layer))
        self.assertNotEqual(list(plain["network"]), sorted(plain["network"]), "program order by default")

    def test_no_comments(self):
        with_comments = self.output_of("model.rcn")
        without = self.output_of("model.rcn", "--no-comments")
        self.assertIn("# model.rcn:", with_comments)
        self.assertNotIn("model.rcn", without)
        values = []
        for text in (with_comments, without):
            network = text[text.index("\nnetwork = "):]
            dims = dict.fromkeys(("batch_dim", "time_dim", "input_dim", "hidden_dim"))
            exec(compile(network, "model.py", "exec"), dims)
            values.append(dims["network"])
        self.assertEqual(*values)


class Options(CliTest):
    def setUp(self):
        super().setUp()
        self.write("model.rcn", MODEL)

    def test_define(self):
        self.assertEqual(self.output_of("model.rcn", "-D", "size=4"), self.output_of("model.rcn"))
        self.assertIn("Dim(512, ", self.output_of("model.rcn", "-D", "size=512"))
        self.assertEqual(self.output_of("model.rcn", "-Dsize=512"), self.output_of("model.rcn", "-D", "size=512"))
        self.assertIn("0.25", self.output_of("model.rcn", "-D", "rate=0.25", "-D", "size=8"))
        self.assertEqual(self.output_of("-D", "size=8", "model.rcn"), self.output_of("model.rcn", "-D", "size=8"))

    def test_define_is_typed(self):
        self.assertIn("size", self.error_of(MODEL_ERROR, "model.rcn", "-D", "size=big"))
        self.assertIn("size", self.error_of(MODEL_ERROR, "model.rcn", "-D", "size=0.5"))
        self.assertIn("size", self.error_of(MODEL_ERROR, "model.rcn", "-D", "size="))

    def test_define_of_unknown_names(self):
        self.assertIn("`size`", self.error_of(MODEL_ERROR, "model.rcn", "-D", "siez=8"))

    def test_define_needs_a_value(self):
        self.error_of(USAGE, "model.rcn", "-D", "size")
        self.error_of(USAGE, "model.rcn", "-D", "=8")
        self.error_of(USAGE, "model.rcn", "-D")

    def test_limit(self):
        deep = "x = " + "(" * 30 + "1" + ")" * 30 + "\n"
        self.write("deep.rcn", MODEL + deep)
        self.output_of("deep.rcn")
        self.error_of(MODEL_ERROR, "deep.rcn", "--limit", "nesting=10")
        self.assertIn("nesting", self.error_of(USAGE, "deep.rcn", "--limit", "nestign=10"))
        self.error_of(USAGE, "deep.rcn", "--limit", "nesting=few")


class Imports(CliTest):
    USER = MODEL.replace("import nn\n", 'import nn\nimport "blocks/sizes.rcn" as sizes\n', 1).replace("= 3\n", "= sizes.width\n", 1)

    def test_beside_the_importing_file(self):
        self.write("models/model.rcn", self.USER)
        self.write("models/blocks/sizes.rcn", "width = 7\n")
        self.assertIn("Dim(7, ", self.output_of("models/model.rcn"))

    def test_search_path(self):
        self.write("model.rcn", self.USER)
        self.write("first/other.rcn", "")
        self.write("second/blocks/sizes.rcn", "width = 8\n")
        self.write("third/blocks/sizes.rcn", "width = 9\n")
        self.assertIn("Dim(8, ", self.output_of("model.rcn", "-I", "first", "-I", "second", "-Ithird"))
        self.assertIn("Dim(9, ", self.output_of("model.rcn", "-I", "third", "-I", "second"))
        self.write("blocks/sizes.rcn", "width = 7\n")
        self.assertIn("Dim(7, ", self.output_of("model.rcn", "-I", "second"))

    def test_not_found(self):
        self.write("models/model.rcn", self.USER)
        error = self.error_of(MODEL_ERROR, "models/model.rcn", "-I", "lib")
        self.assertIn("models/model.rcn:2:", error)
        self.assertIn("blocks/sizes.rcn", error)
        self.assertIn("lib", error)

    def test_no_search_in_the_current_folder(self):
        self.write("models/model.rcn", self.USER)
        self.write("blocks/sizes.rcn", "width = 7\n")
        self.error_of(MODEL_ERROR, "models/model.rcn")


class Commands(CliTest):
    def test_check(self):
        self.write("model.rcn", MODEL)
        self.write("bad.rcn", MODEL + "x = unknown\n")
        self.write("worse.rcn", MODEL + "y = unknown\n")
        self.assertEqual(self.output_of("check", "model.rcn"), "")
        error = self.error_of(MODEL_ERROR, "check", "bad.rcn", "model.rcn", "worse.rcn")
        self.assertIn("bad.rcn:20:5: error: ", error)
        self.assertIn("worse.rcn:20:5: error: ", error)

    def test_params(self):
        self.write("model.rcn", MODEL)
        text = self.output_of("params", "model.rcn")
        self.assertRegex(text, r"(?m)^linear/weight\b.*\binput\b.*\bhidden\b.*\bfloat32\b")
        self.assertRegex(text, r"(?m)^linear/bias\b")
        self.assertIn("16", text, "the number of all values: 3 * 4 + 4")

    def test_params_of_a_broken_model(self):
        self.write("bad.rcn", MODEL + "x = unknown\n")
        self.error_of(MODEL_ERROR, "params", "bad.rcn")

    def test_response_file(self):
        self.write("model.rcn", MODEL)
        self.write("args.txt", "-D size=8\n'model.rcn'\n")
        self.assertEqual(self.output_of("@args.txt"), self.output_of("model.rcn", "-D", "size=8"))
        self.assertIn("absent.txt", self.error_of(USAGE, "@absent.txt"))

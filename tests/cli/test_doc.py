"""`rcnc doc`, and the reference that is made of it."""

import pathlib
import re
import unittest

from support import MODEL_ERROR, OK, USAGE, CliTest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Doc(CliTest):
    def test_one_name(self):
        text = self.output_of("doc", "nn.Linear")
        self.assertTrue(text.startswith("module nn.Linear(in_dim: Dim, out_dim: Dim, *, with_bias: bool = true)\n"), text)
        self.assertIn("    fn call(x: Tensor) -> [..., out_dim]\n", text)
        self.assertEqual(self.output_of("doc", "Linear"), text)

    def test_operation_and_namespace(self):
        text = self.output_of("doc", "softmax", "init")
        self.assertIn("operation nn.softmax(source: Tensor, *, axis: Dim) -> Tensor\n", text)
        self.assertIn("operation nn.init.glorot() -> Initializer\n", text)

    def test_unknown_name(self):
        self.assertIn("did you mean `Linear`", self.error_of(MODEL_ERROR, "doc", "Linaer"))
        self.error_of(USAGE, "doc", "Linear", "-o", "x")
        self.error_of(USAGE, "check", "--markdown")

    def test_every_public_name_is_documented(self):
        names = dict(re.split(r" +", line, maxsplit=1) for line in self.output_of("doc").splitlines())
        operations = {"nn." + name for name in self.output_of("--print-operations").split()}
        library = set()
        for path in (ROOT / "stdlib").rglob("*.rcn"):
            module = ".".join(path.relative_to(ROOT / "stdlib").parts[:-1]) or path.stem
            library |= {f"{module}.{name}" for name in re.findall(r"(?m)^(?:fn|module) ([A-Za-z]\w*)\(", path.read_text())}
        self.assertEqual(sorted((operations | library) - set(names)), [])
        self.assertEqual([name for name, text in names.items() if not text.strip()], [])

    def test_functions_of_modules_are_documented(self):
        """But for `default_initial_state`, which means the same everywhere."""
        page = self.output_of("doc", "--markdown")
        bare = re.findall(r"```\nfn (\w+)[^`]*\n```\n\n(?=```|#)", page)
        self.assertEqual([name for name in bare if name != "default_initial_state"], [])

    def test_names_in_the_parity_tables_exist(self):
        names = {line.split()[0] for line in self.output_of("doc").splitlines()} | {"nn.init"}
        text = (ROOT / "docs" / "parity.md").read_text(encoding="utf-8")
        here = [row.split(" | ")[1] for row in text.splitlines() if row.startswith("| ") and row.count(" | ") > 2]
        said = {name for cell in here for name in re.findall(r"`((?:nn|asr)\.[\w.]+)", cell)}
        self.assertEqual(sorted(said - names), [])
        self.assertGreater(len(said), 50)

    def test_the_page_in_docs_is_current(self):
        self.assertEqual((ROOT / "docs" / "reference.md").read_text(encoding="utf-8"), self.output_of("doc", "--markdown"))


if __name__ == "__main__":
    unittest.main()

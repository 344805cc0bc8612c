"""`--html`: the page is one file, and works in a browser."""

import json
import re
import unittest

import browser
from support import MODEL_ERROR, OK, CliTest, eager_there

MODEL = """\
import nn

dim time: spatial
dim f: feature = 2

extern data: float32[batch, time, f]

module Block() {
    fn call(x: [batch, time, f]) {
        shifted = x + 1.0      # </script> & <b>
        return nn.log(shifted)
    }
}

network {
    block = Block()

    fn main() {
        y = block(data)
        output z = nn.reduce(y, mode="sum", axis=f)
    }
}
"""
DATA = "data=[[[0,1],[2,3]],[[-1,5]]]"
"""Two sequences; the log of 0 at the first entry of the second."""


@unittest.skipUnless(eager_there(), "there is no rcnc-eager")
class Page(CliTest):
    def setUp(self):
        super().setUp()
        self.write("model.rcn", MODEL)
        self.run_page = lambda *more: self.run_rcnc("--eager", "model.rcn", "--data", DATA, "--html", "run.html", *more)

    def page(self):
        done = self.run_page()
        self.assertEqual(done.returncode, OK, done.stderr)
        return (self.folder / "run.html").read_text()

    def data(self):
        """What the page draws."""
        text = (self.folder / "run.html").read_text()
        return json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.S)[1])

    def test_needs_nothing_else(self):
        text = self.page()
        self.assertEqual(re.findall(r"""(?:src|href)=["'][^"']*["']|url\(|@import|https?://""", text), [])
        self.assertIn("<title>model.rcn</title>", text)

    def test_data(self):
        self.page()
        data = self.data()
        self.assertEqual(data["files"][0]["lines"], MODEL.splitlines())
        tensors = {t["name"]: t for t in data["tensors"]}
        self.assertEqual(list(tensors), ["data", "block.shifted", "block.log", "reduce"])
        log = tensors["block.log"]
        self.assertEqual((log["place"], log["calls"]), ([0, 11, 16], [[0, 19, 13]]))
        self.assertEqual((log["stats"]["nans"], log["stats"]["infs"]), (0, 1))
        self.assertEqual(log["variables"], ["y"])
        self.assertEqual(log["values"]["shape"], [2, 2, 2])

    def test_same_values_in_the_text(self):
        plain = self.run_rcnc("--eager", "model.rcn", "--data", DATA)
        self.assertEqual(self.run_page().stdout, plain.stdout)

    def test_a_run_that_fails(self):
        """The page has what was computed up to there, and the errors."""
        done = self.run_page("--check-finite")
        self.assertEqual(done.returncode, MODEL_ERROR)
        data = self.data()
        self.assertEqual(data["errors"], done.stderr)
        self.assertIn("block.log", {t["name"] for t in data["tensors"]})

    def test_a_folder_in_place_of_the_file(self):
        (self.folder / "run.html").mkdir()
        done = self.run_page()
        self.assertEqual(done.returncode, MODEL_ERROR)
        self.assertIn("`run.html`", done.stderr)

    @unittest.skipUnless(browser.find(), f"there is no browser ({', '.join(browser.NAMES)})")
    def test_in_a_browser(self):
        self.page()
        with browser.Browser() as b:
            b.open((self.folder / "run.html").as_uri())
            texts = lambda selector: b.value(f"[...document.querySelectorAll('{selector}')].map(e => e.textContent)")
            click = lambda selector: b.value(f"document.querySelector('{selector}').click()")
            rows = "#list tbody td:first-child"

            self.assertEqual(texts(rows), ["data", "block.shifted", "block.log = y", "reduce = z"])
            self.assertEqual(texts("#tree summary, #tree .leaf"), ["network", "block"])
            self.assertIn("shifted = x + 1.0      # </script> & <b>", "".join(texts("#source .has")))

            click('[data-line="0:19"]')  # the call: what runs in it
            self.assertEqual(texts(rows), ["block.shifted", "block.log = y"])
            click('[data-line="0:10"]')
            self.assertEqual(texts(rows), ["block.shifted"])
            click("#all")
            click("#tree .leaf button")
            self.assertEqual(texts(rows), ["block.shifted", "block.log = y"])

            click('[data-tensor="2"]')
            self.assertIn("float32[batch=2, time=2 (2, 1), f=2]", texts("#detail dd"))
            pixel = "[...document.getElementById('picture').getContext('2d').getImageData({}, {}, 1, 1).data]"
            self.assertEqual(b.value("[picture.width, picture.height]"), [2, 2])
            self.assertEqual(b.value(pixel.format(0, 0)), [68, 1, 84, 255])  # log 1, the least
            slice_of_batch = "document.querySelector('[data-axis=\"0\"]')"
            b.value(f"{slice_of_batch}.value = 1; {slice_of_batch}.dispatchEvent(new Event('input'))")
            self.assertEqual(b.value(pixel.format(0, 0)), [220, 30, 220, 255])  # log 0
            self.assertEqual(b.value(pixel.format(1, 0)), [253, 231, 37, 255])  # log 6, the largest
            self.assertEqual(b.value(pixel.format(0, 1))[3], 70)  # padding

            b.value("search.value = 'Z'; search.dispatchEvent(new Event('input'))")
            self.assertEqual(texts(rows), ["reduce = z"])
            self.assertEqual(b.errors, [])
            self.assertEqual([address for address in b.requests if not address.startswith(("file:", "about:"))], [])


if __name__ == "__main__":
    unittest.main()

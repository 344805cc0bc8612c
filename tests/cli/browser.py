"""A headless Chromium, driven over the pipe of its DevTools protocol; nothing but the browser is needed."""

import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")


def find():
    """The path of a browser, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page of one browser. A context manager."""

    def __init__(self, timeout=60):
        self.timeout = timeout
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.ids = itertools.count(1)
        self.errors = []  # what the page's scripts threw
        self.requests = []  # the addresses that the page asked for
        self.rest = b""
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()
        script = 'exec 3<&"$1" 4>&"$2"; shift 2; exec "$@"'  # the protocol wants these two numbers
        arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe"]
        self.process = subprocess.Popen(
            ["bash", "-c", script, "-", str(to_browser), str(from_browser), find(), *arguments, f"--user-data-dir={self.profile.name}", "about:blank"],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self.session = None
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self.call(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)
        self.profile.cleanup()

    def _message(self, deadline):
        while b"\0" not in self.rest:
            if not select.select([self.read_end], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError("no answer of the browser")
            part = os.read(self.read_end, 1 << 16)
            if not part:
                raise RuntimeError("the browser has ended")
            self.rest += part
        text, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(text)
        if message.get("method") == "Runtime.exceptionThrown":
            self.errors.append(message["params"]["exceptionDetails"])
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(message["params"]["request"]["url"])
        return message

    def call(self, method, **params):
        number = next(self.ids)
        request = {"id": number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.write_end, json.dumps(request).encode() + b"\0")
        deadline = time.monotonic() + self.timeout
        while True:
            message = self._message(deadline)
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(message["error"])
                return message["result"]

    def open(self, address):
        self.call("Page.navigate", url=address)
        deadline = time.monotonic() + self.timeout
        while self.value("document.readyState") != "complete":
            if time.monotonic() > deadline:
                raise TimeoutError("the page does not load")
            time.sleep(0.05)

    def value(self, expression):
        """What a JavaScript expression is on the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

"""Chromium without a screen, driven by its DevTools protocol over two pipes: no driver, no port, no package.

Source: https://chromedevtools.github.io/devtools-protocol/ (Page, Runtime, Emulation); with --remote-debugging-pipe
messages are JSON with a zero byte behind each, to the browser on descriptor 3 and from it on descriptor 4.
"""

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

SECONDS = 600
"""For one answer of the browser, on a machine that is busy."""
BETWEEN_PAGES = {
    "Inspected target navigated or closed",
    "Cannot find default execution context",
    "Execution context was destroyed.",
}
"""What a question gets for answer that was under way when its page gave place to another."""


class PageLeft(Exception):
    """The page has gone while it was asked; ask the next one."""


class Chromium:
    """One browser with one page. Use as a context manager: the browser ends with it."""

    def __init__(self, profile: Path) -> None:
        program = shutil.which("chromium")
        assert program, "chromium is not installed; run tools/browser/install.py"
        there, self._out = os.pipe()
        self._in, here = os.pipe()
        # What a sandbox in a container needs root's namespaces for; the page is our own file.
        words = [
            program,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
        ]
        words += ["--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"]

        def descriptors() -> None:
            # Copies first: the pipes may themselves be 3 and 4.
            one, other = os.dup(there), os.dup(here)
            os.dup2(one, 3)
            os.dup2(other, 4)

        self._process = subprocess.Popen(
            words,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=descriptors,
        )
        os.close(there)
        os.close(here)
        self._number, self._held = 0, b""
        self._session: str | None = None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.ask("Page.enable")

    def __enter__(self) -> "Chromium":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._in)
        os.close(self._out)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method and wait for its answer; events in between are dropped.

        Raises:
            PageLeft: The page gave place to another before it could answer.
        """
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                if answer.get("error", {}).get("message") in BETWEEN_PAGES:
                    raise PageLeft(method)
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result

    def open(self, file: Path, *, width: int = 1000, height: int = 1200, dark: bool = False) -> None:
        """Open a page in a window of that size, in light or dark mode."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        self.ask("Page.navigate", url=file.resolve().as_uri())
        self.until("document.readyState == 'complete' && location.protocol == 'file:'")

    def evaluate(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def until(self, script: str) -> Any:
        """The first value of an expression that is true, in this page or in one that takes its place meanwhile."""
        end = time.monotonic() + SECONDS
        while True:
            with contextlib.suppress(PageLeft):
                if value := self.evaluate(script):
                    return value
            assert time.monotonic() < end, f"never true: {script}"
            time.sleep(0.05)

    def picture(self, file: Path) -> None:
        """A screenshot of the window, as PNG."""
        file.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot")["data"]))

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._held:
            ready, _, _ = select.select([self._in], [], [], SECONDS)
            assert ready, "the browser does not answer"
            block = os.read(self._in, 1 << 16)
            assert block, "the browser has ended"
            self._held += block
        text, _, self._held = self._held.partition(b"\0")
        answer: dict[str, Any] = json.loads(text)
        return answer

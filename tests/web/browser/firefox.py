"""Debian's Firefox, driven over WebDriver BiDi.

Playwright drives only its own build of Firefox, which is not packaged; the stock browser speaks the W3C's
protocol over a socket (https://w3c.github.io/webdriver-bidi/).
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

FIREFOX = Path("/usr/bin/firefox-esr")
PATIENCE = 240.0
_LISTENS = re.compile(r"WebDriver BiDi listening on (ws://127\.0\.0\.1:\d+)")
# Requests to other machines go to a proxy that does not exist, so they fail.
_PREFERENCES = {
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "app.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "toolkit.telemetry.reportingpolicy.firstRun": False,
}
_UNTIL = """new Promise((found, gone) => {
  const end = performance.now() + %d;
  const look = () => {
    const value = (() => %s)();
    if (value) found(value);
    else if (performance.now() > end) gone(new Error("not in time: " + document.body.innerText));
    else setTimeout(look, 50);
  };
  look();
})"""


class FirefoxPage:
    """A page of a running Firefox."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._numbers = count(1)
        self.errors: list[str] = []
        self._call("session.new", capabilities={})
        self._call("session.subscribe", events=["log.entryAdded"])
        self._context = self._call("browsingContext.getTree")["contexts"][0]["context"]

    def size(self, width: int, height: int) -> None:
        """Set the size of the viewport in pixels."""
        self._call(
            "browsingContext.setViewport", context=self._context, viewport={"width": width, "height": height}
        )

    def goto(self, address: str) -> None:
        """Open an address and wait until it is loaded."""
        self._call("browsingContext.navigate", context=self._context, url=address, wait="complete")

    def until(self, expression: str) -> Any:
        """Wait until an expression of the page is true and return it: a text, a number or a Boolean."""
        script = _UNTIL % (int(PATIENCE * 1000), expression)
        answer = self._call(
            "script.evaluate", expression=script, target={"context": self._context}, awaitPromise=True
        )
        assert answer["type"] == "success", answer["exceptionDetails"]["text"]
        return answer["result"].get("value")

    def press(self, selector: str, words: str = "") -> None:
        """Click the first visible element that matches a selector and contains the words."""
        found = f"""[...document.querySelectorAll({selector!r})]
            .find((each) => each.checkVisibility() && each.innerText.includes({words!r}))"""
        self.until(f"((each) => each && (each.click(), true))({found})")

    def key(self, value: str) -> None:
        """Press a key on the focused element."""
        keys = [{"type": kind, "value": value} for kind in ("keyDown", "keyUp")]
        self._call(
            "input.performActions",
            context=self._context,
            actions=[{"type": "key", "id": "keys", "actions": keys}],
        )

    def _call(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            answer = json.loads(self._socket.recv(PATIENCE + 30))
            if answer.get("method") == "log.entryAdded" and answer["params"]["level"] == "error":
                self.errors.append(str(answer["params"]["text"]))
            if answer.get("id") == number:
                assert answer["type"] == "success", answer
                result: dict[str, Any] = answer["result"]
                return result


@contextmanager
def firefox(folder: Path) -> Iterator[FirefoxPage]:
    """Start Firefox without a window, with a new profile in ``folder``, and stop it after the block."""
    folder.mkdir(parents=True)
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in _PREFERENCES.items()]
    (folder / "user.js").write_text("\n".join(lines))
    words = [
        str(FIREFOX),
        "--headless",
        "--no-remote",
        "--profile",
        str(folder),
        "--remote-debugging-port",
        "0",
    ]
    with (
        (folder / "output.txt").open("w") as output,
        subprocess.Popen(words, stdout=output, stderr=subprocess.PIPE, text=True) as process,
    ):
        try:
            assert process.stderr is not None
            address = next(found[1] for line in process.stderr if (found := _LISTENS.search(line)))
            with connect(f"{address}/session", max_size=None, open_timeout=60) as socket:
                yield FirefoxPage(socket)
        finally:
            process.terminate()
            process.communicate(timeout=60)

"""A server's process and the messages to and from it, byte by byte."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PATIENCE = 30.0
REPOSITORY = Path(__file__).parents[2]
SERVER = ("-c", "from pallas_lsp.__main__ import main; import sys; sys.exit(main(['server', '--stdio']))")


class Wire:
    """The client's end: requests wait for their answers; other messages are in ``received``."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.received: list[dict[str, Any]] = []
        self._last_request = 0
        self._holds_back = False

    def notify(self, method: str, params: object = None) -> None:
        self._send({"method": method, "params": params})

    def request(self, method: str, params: object = None) -> Any:
        self._last_request += 1
        self._send({"id": self._last_request, "method": method, "params": params})
        return self.wait_for(lambda message: message.get("id") == self._last_request)["result"]

    def ask(self, name: str, method: str, params: object) -> None:
        """Send a request under a name, and wait for nothing."""
        self._send({"id": name, "method": method, "params": params})

    def answer(self, name: object, result: object) -> None:
        """Answer a request of the server's."""
        self._send({"id": name, "result": result})

    def wait_for(self, wanted: Any) -> dict[str, Any]:
        """The first message that is ``wanted``; a name stands for the method."""
        while True:
            message = self._receive()
            if message.get("method") == wanted if isinstance(wanted, str) else wanted(message):
                return message
            self.received.append(message)

    def initialize(self, **params: object) -> Any:
        result = self.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}, **params})
        self.notify("initialized", {})
        return result

    def open(self, uri: str, text: str) -> None:
        self.notify("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "python", "version": 1, "text": text}})

    def end(self) -> int:
        """The exit code after a proper farewell."""
        self.request("shutdown")
        self.notify("exit")
        return self.process.wait(PATIENCE)

    def _send(self, message: dict[str, object]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        if not self._holds_back:
            self.process.stdin.flush()

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Send all messages of the block together, at its end."""
        assert self.process.stdin is not None
        self._holds_back = True
        yield
        self._holds_back = False
        self.process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        """The next message; fails on anything between messages."""
        assert self.process.stdout is not None
        length = 0
        while (line := self.process.stdout.readline()) != b"\r\n":
            name, _, value = line.partition(b": ")
            assert name in (b"Content-Length", b"Content-Type"), line
            if name == b"Content-Length":
                length = int(value)
        message: dict[str, Any] = json.loads(self.process.stdout.read(length))
        return message


@contextmanager
def started(*arguments: str, cwd: Path | None = None, environment: Mapping[str, str] | None = None) -> Iterator[Wire]:
    """A server that Python is started with as ``arguments`` say."""
    variables = {**os.environ, "PYTHONPATH": str(REPOSITORY), **(environment or {})}
    pipes: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    process = subprocess.Popen([sys.executable, *(arguments or SERVER)], bufsize=1 << 20, cwd=cwd, env=variables, **pipes)
    patience = threading.Timer(2 * PATIENCE, process.kill)  # whoever waits for a message then sees the end of the stream
    patience.start()
    try:
        yield Wire(process)
    finally:
        patience.cancel()
        process.kill()
        process.wait()


def after(*statements: str) -> tuple[str, str]:
    """Arguments for `started`: a server whose process runs the statements first."""
    return "-c", "\n".join([*statements, SERVER[1]])

"""An editor with one document: what it waits for, and what the server spends on it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from server.wire import Wire

from pallas_lsp.text.source import Source


@dataclass(frozen=True)
class Cost:
    """Seconds: until there was an answer, until there was all of it, and those of the server's CPU."""

    first: float
    all: float
    cpu: float


class Editor:
    """Starts a server for a file, as a context."""

    def __init__(self, path: Path) -> None:
        self._uri, self._version, self._text = path.as_uri(), 0, ""
        pipes: Any = dict.fromkeys(("stdin", "stdout"), subprocess.PIPE)
        self._process = subprocess.Popen([sys.executable, "-m", "pallas_lsp", "server"], **pipes)
        self._wire = Wire(self._process)
        self._wire.initialize(rootUri=path.parent.as_uri())

    def __enter__(self) -> Editor:
        return self

    def __exit__(self, *_: object) -> None:
        self._wire.request("shutdown")
        self._wire.notify("exit")
        self._process.wait()

    def measured(self, run: Callable[[], None]) -> Cost:
        """What ``run`` took, until it came back and until the server had nothing left to do."""
        began, used = time.perf_counter(), self.cpu()
        run()
        first = time.perf_counter() - began
        self.hover(0)
        return Cost(first, time.perf_counter() - began, self.cpu() - used)

    def open(self, text: str) -> None:
        """Open the file, and wait for its first diagnostics."""
        self._version, self._text = 1, text
        self._wire.open(self._uri, text)
        self._wait()

    def write(self, *texts: str) -> None:
        """Give it these texts one right after the other, and wait for the first diagnostics of the last."""
        for text in texts:
            self._version, self._text = self._version + 1, text
            document = {"uri": self._uri, "version": self._version}
            self._wire.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})
        self._wait()

    def hover(self, offset: int) -> None:
        """Ask what is at an offset of the text."""
        line, character = Source("", self._text).position_in(offset, "utf-16")
        position = {"line": line, "character": character}
        self._wire.request("textDocument/hover", {"textDocument": {"uri": self._uri}, "position": position})

    def cpu(self) -> float:
        """The CPU seconds that the server has used."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> float:
        """The MiB of memory that the server holds."""
        pages = int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def _wait(self) -> None:
        def told(message: dict[str, Any]) -> bool:
            params = message.get("params") or {}
            is_ours = message.get("method") == "textDocument/publishDiagnostics" and params["uri"] == self._uri
            return is_ours and params.get("version") == self._version

        self._wire.wait_for(told)

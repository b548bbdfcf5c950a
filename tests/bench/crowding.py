"""Many requests and many documents at once: what they cost a server on JAX's own kernels."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from server import wire
from server.wire import Wire, started

# Names that neither the project nor JAX's public tables tell: jedi reads the package.
LOOKS_UP = "from jax.experimental import pallas as pl\nfrom hypothesis import strategies as st\n" + "".join(
    f"{name} = st.{name}(pl)\n" for name in ("integers", "lists", "text", "tuples", "builds", "composite", "recursive", "data", "sets")
)


def taken_back(kernels: Path) -> float:
    """Milliseconds by which a hover comes later after 200 hovers that were taken back at once."""
    with _server(kernels) as server:
        document = _opened(server, kernels / "flash_attention.py")
        params = {"textDocument": document, "position": {"line": 300, "character": 6}}
        alone, after = [], []
        for run in range(10):
            alone.append(_hover(server, document))
            with server.at_once():
                for number in range(200):
                    server.ask(f"{run}-{number}", "textDocument/hover", params)
                    server.notify("$/cancelRequest", {"id": f"{run}-{number}"})
            after.append(_hover(server, document))
    return median(after) - median(alone)


def memory(kernels: Path) -> tuple[float, float, float]:
    """MiB of a server at its start, with the ten largest of the files open, and once jedi has looked up names of an installed package."""
    largest = sorted(kernels.rglob("*.py"), key=lambda path: path.stat().st_size)[-10:]
    with _server(kernels) as server:
        before = _resident(server)
        for path in largest:
            _opened(server, path)
        without = _resident(server)
        server.open("untitled:looks-up", LOOKS_UP)
        _hover(server, {"uri": "untitled:looks-up"})
        return before, without, _resident(server)


@contextmanager
def _server(kernels: Path) -> Iterator[Wire]:
    """A server that has met a client whose workspace is this folder."""
    wire.PATIENCE = 600.0
    with started() as server:
        options = {"jaxVersion": "0.10.2", "interpreter": sys.executable}
        server.initialize(rootUri=kernels.as_uri(), initializationOptions=options)
        yield server


def _opened(server: Wire, path: Path) -> dict[str, Any]:
    """Open a file, and wait for all that it leads to."""
    document = {"uri": path.as_uri()}
    server.open(document["uri"], path.read_text())
    _hover(server, document)
    return document


def _hover(server: Wire, document: dict[str, Any]) -> float:
    """Milliseconds until a hover is answered."""
    began = time.perf_counter()
    server.request("textDocument/hover", {"textDocument": document, "position": {"line": 0, "character": 0}})
    return 1000 * (time.perf_counter() - began)


def _resident(server: Wire) -> float:
    lines = Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024

"""What an editor feels of the server on JAX's own kernels: ``python -m server.measure`` in tests/. A figure a line; CPU time is the server's.

* hover: asked all over flash_attention.py once its analysis is finished;
* taken back: how much later a hover is answered that comes after 200 hovers that were taken back at once;
* burst: from the last of twenty edits, sent at once, to the findings of the last text;
* memory: after the ten largest of JAX's TPU kernel files were opened, and after names of an installed package were looked up with jedi.
"""

from __future__ import annotations

import os
import random
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jax
from server import wire
from server.wire import Wire, started

KERNELS = Path(jax.__file__).parent / "experimental/pallas/ops/tpu"
OPTIONS = {"jaxVersion": jax.__version__, "interpreter": sys.executable}
TICK = os.sysconf("SC_CLK_TCK")

# Names that neither the project nor JAX's public tables tell: jedi reads the package.
LOOKS_UP = "from jax.experimental import pallas as pl\nfrom hypothesis import strategies as st\n" + "".join(
    f"{name} = st.{name}(pl)\n" for name in ("integers", "lists", "text", "tuples", "builds", "composite", "recursive", "data", "sets")
)


@contextmanager
def server() -> Iterator[Wire]:
    """A server that has met a client whose workspace is the folder of JAX's TPU kernels."""
    wire.PATIENCE = 600.0
    with started() as one:
        one.initialize(rootUri=KERNELS.as_uri(), initializationOptions=OPTIONS)
        yield one


def cpu(one: Wire) -> float:
    """Seconds of processor time that the server has used."""
    fields = Path(f"/proc/{one.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def memory(one: Wire) -> int:
    """MiB that the server has resident."""
    (line,) = [line for line in Path(f"/proc/{one.process.pid}/status").read_text().splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1]) // 1024


def opened(one: Wire, path: Path) -> dict[str, Any]:
    """Open a file, and wait for all that it leads to."""
    document = {"uri": path.as_uri()}
    one.open(document["uri"], path.read_text())
    hover(one, document, 0, 0)
    return document


def hover(one: Wire, document: dict[str, Any], line: int, character: int) -> float:
    """Milliseconds until a hover is answered."""
    began = time.perf_counter()
    one.request("textDocument/hover", {"textDocument": document, "position": {"line": line, "character": character}})
    return 1000 * (time.perf_counter() - began)


def measure_hover() -> None:
    path = KERNELS / "flash_attention.py"
    lines, chosen = path.read_text().splitlines(), random.Random(0)
    with server() as one:
        document = opened(one, path)
        places = [(line, chosen.randrange(len(lines[line]) + 1)) for line in chosen.choices(range(len(lines)), k=1000)]
        used = cpu(one)
        took = sorted(hover(one, document, *place) for place in places)
        used = cpu(one) - used
    print(f"hover        p50 {took[500]:.1f} ms, p95 {took[950]:.1f} ms, {1000 * used / len(places):.1f} ms of CPU each")


def measure_taken_back() -> None:
    with server() as one:
        document = opened(one, KERNELS / "flash_attention.py")
        params = {"textDocument": document, "position": {"line": 300, "character": 6}}
        alone, after = [], []
        for run in range(10):
            alone.append(hover(one, document, 300, 6))
            with one.at_once():
                for number in range(200):
                    one.ask(f"{run}-{number}", "textDocument/hover", params)
                    one.notify("$/cancelRequest", {"id": f"{run}-{number}"})
            after.append(hover(one, document, 300, 6))
    print(f"taken back   {statistics.median(after) - statistics.median(alone):.0f} ms later after 200 of them")


def measure_burst() -> None:
    path = KERNELS / "flash_attention.py"
    text = path.read_text()
    with server() as one:
        document = opened(one, path)
        took = []
        for run in range(10):
            with one.at_once():
                for number in range(20):
                    edited = text.replace("def _flash_attention_kernel(", f"# {run} {number}\ndef _flash_attention_kernel(")
                    version = 2 + 20 * run + number
                    one.notify(
                        "textDocument/didChange",
                        {"textDocument": {**document, "version": version}, "contentChanges": [{"text": edited}]},
                    )
            took.append(hover(one, document, 0, 0))
            time.sleep(0.6)  # whoever types pauses now and then
    print(f"burst        of 20 edits: {statistics.median(took):.0f} ms")


def measure_memory() -> None:
    largest = sorted(KERNELS.rglob("*.py"), key=lambda path: path.stat().st_size)[-10:]
    with server() as one:
        before = memory(one)
        documents = [opened(one, path) for path in largest]
        without = memory(one)
        one.open("untitled:looks-up", LOOKS_UP)
        hover(one, {"uri": "untitled:looks-up"}, 0, 0)
        print(f"memory       {before} MiB at the start, {without} MiB with {len(documents)} files, {memory(one)} MiB with jedi")


if __name__ == "__main__":
    measure_hover()
    measure_taken_back()
    measure_burst()
    measure_memory()

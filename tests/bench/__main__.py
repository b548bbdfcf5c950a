"""``make bench``: what the server and the check cost, on kernels that JAX ships.

CPU time where nothing else is said, medians, and as a ratio to ``ast.parse`` of the same text measured beside it, for machines differ.
"""

from __future__ import annotations

import ast
import importlib.util
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from statistics import median, quantiles

from bench import crowding
from bench.editing import Editor
from bench.growing import copies, flags

from pallas_lsp.analysis import analyze
from pallas_lsp.resolve.project import Project
from pallas_lsp.settings import Settings
from pallas_lsp.text.source import Source

ROUNDS = 24
SETTINGS = Settings(jax_version="0.10.2")


def main() -> None:
    """Print the figures, a line each."""
    kernels = _kernels()
    for name in ("flash_attention.py", "splash_attention/splash_attention_kernel.py"):
        _edits(kernels / name)
    _crowd(kernels)
    _check(kernels)
    print("\ngrowth (CPU ms an analysis, and for each kernel or condition)")
    _growth("kernels in a file", copies, (4, 8, 16, 32))
    _growth("conditions of a host function", flags, (2, 4, 8, 15))


def _crowd(kernels: Path) -> None:
    print("\nmany at once")
    print(f"  a hover after 200 that were taken back {crowding.taken_back(kernels):4.0f} ms later")
    start, without, with_jedi = crowding.memory(kernels)
    print(f"  memory with the ten largest files  {without:7.0f} MiB, {with_jedi:.0f} MiB with jedi, {start:.0f} MiB at the start")


def _kernels() -> Path:
    spec = importlib.util.find_spec("jax.experimental.pallas.ops")
    assert spec is not None and spec.submodule_search_locations
    return Path(next(iter(spec.submodule_search_locations)), "tpu")


def _edits(path: Path) -> None:
    text = path.read_text()
    parsing = median(_cpu(lambda: ast.parse(text)) for _ in range(9))
    print(f"\n{path.name}: {text.count(chr(10))} lines, ast.parse {parsing:.1f} ms")

    def row(what: str, cpu: float, waits: str = "") -> None:
        print(f"  {what:34} {cpu:7.1f} ms CPU, {cpu / parsing:5.1f} x ast.parse{waits}")

    def costs(what: str, runs: Iterable[Callable[[], None]]) -> None:
        found = [editor.measured(run) for run in runs]
        first, whole = _times([cost.first for cost in found]), _times([cost.all for cost in found])
        # The system counts a process's CPU time in hundredths of a second: many edits together tell more.
        row(what, 1e3 * sum(cost.cpu for cost in found) / len(found), f"; first answer {first}, all {whole}")

    with Editor(path) as editor:
        editor.open(text)
        editor.hover(0)
        row("open, from the server's start", 1e3 * editor.cpu())
        held = editor.memory()
        kinds = {"code typed in a kernel": _typed, "a comment": _remarks, "half of the edits break the text": _broken, "new lines": _lines}
        for what, edits in kinds.items():
            costs(what, (partial(editor.write, edited) for edited in edits(text)))
        costs("burst of ten edits", (partial(editor.write, *many) for many in _bursts(text)))
        costs("hover", (partial(editor.hover, at) for at in _names(text)))
        print(f"  memory                             {held:7.0f} MiB, {editor.memory():.0f} MiB after all edits")


def _times(waited: list[float]) -> str:
    ms = [1e3 * seconds for seconds in waited]
    return f"p50 {median(ms):.0f} ms, p95 {quantiles(ms, n=20)[-1]:.0f} ms"


def _cpu(run: Callable[[], object]) -> float:
    began = time.process_time()
    run()
    return 1e3 * (time.process_time() - began)


def _places(text: str) -> list[int]:
    """The ends of lines without a comment spread over the bodies of the file's kernels."""
    found = []
    lines = text.split("\n")
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and "kernel" in node.name and node.end_lineno is not None:
            found += [line0 for line0 in range(node.body[0].lineno - 1, node.end_lineno) if lines[line0].strip().endswith((")", "]")) and "#" not in lines[line0]]
    chosen = found[:: max(len(found) // ROUNDS, 1)][:ROUNDS]
    return [sum(len(line) + 1 for line in lines[:line0]) + len(lines[line0]) for line0 in chosen]


def _typed(text: str) -> Iterator[str]:
    for count, at in enumerate(_places(text)):
        yield text[:at] + f" + {count}" + text[at:]


def _remarks(text: str) -> Iterator[str]:
    for at in _places(text):
        yield text[:at] + "  # x" + text[at:]


def _broken(text: str) -> Iterator[str]:
    for count, at in enumerate(_places(text)):
        yield text[:at] + (" + (" if count % 2 else " ") + text[at:]


def _lines(text: str) -> Iterator[str]:
    for at in _places(text):
        yield text[:at] + "\n" + text[at:]


def _bursts(text: str) -> Iterator[list[str]]:
    for at in _places(text)[::6]:
        word = "  # a note"
        yield [text[:at] + word[: count + 1] + text[at:] for count in range(len(word))]


def _names(text: str) -> list[int]:
    return [at - 2 for at in _places(text)]


def _check(kernels: Path) -> None:
    texts = [file.read_text() for file in kernels.rglob("*.py")]
    parsing = _cpu(lambda: [ast.parse(text) for text in texts])
    with tempfile.TemporaryDirectory() as folder:
        nothing = _whole(folder)
        Path(folder, "kernel.py").write_text("from jax.experimental import pallas as pl\n")
        first = _whole(folder)
    whole = _whole(str(kernels))
    print(f"\ncheck over {kernels.name}/: {whole:.2f} s CPU, {1e3 * whole / parsing:.1f} x ast.parse of its files")
    print(f"start-up: {1e3 * nothing:.0f} ms CPU of check on an empty folder, {1e3 * first:.0f} ms on a file that only imports pallas")


def _whole(path: str) -> float:
    """The CPU seconds of a whole ``check``, start and end of Python included."""
    used = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "pallas_lsp", "check", path], check=False, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return median(used)


def _growth(what: str, made: Callable[[int], str], sizes: tuple[int, ...]) -> None:
    row = []
    for size in sizes:
        source = Source("/bench/kernels.py", made(size))
        project = Project(overlay={source.path: source.text})
        cpu = median(_cpu(lambda source=source, project=project: analyze(source, project, SETTINGS)) for _ in range(3))  # type: ignore[misc]
        row.append(f"{size}: {cpu:.0f} ({cpu / size:.1f})")
    print(f"  {what:34} {', '.join(row)}")


if __name__ == "__main__":
    main()

"""The errors and warnings that the checker finds in a folder of other people's kernels."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import jax


@dataclass(frozen=True, order=True)
class Found:
    """An error or warning in a file, on a 1-based line; ``text`` is what it underlines of that line."""

    file: str
    line: int
    rule: str
    text: str
    message: str


def faults_in(folder: Path) -> tuple[int, list[Found]]:
    """How many files of ``folder`` speak of Pallas, and the errors and warnings that ``pallas-lsp check`` finds in it."""
    command = [sys.executable, "-m", "pallas_lsp", "check", "--output-format", "json", "--jax-version", jax.__version__, "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    found = set[Found]()
    for diagnostic in json.loads(done.stdout):
        if diagnostic["severity"] in ("error", "warning"):
            path, start, end = diagnostic["filename"], diagnostic["location"], diagnostic["end_location"]
            line = Path(path).read_text().splitlines()[start["row"] - 1]
            text = line[start["column"] - 1 : end["column"] - 1 if end["row"] == start["row"] else None]
            found.add(Found(path, start["row"], diagnostic["code"], text, diagnostic["message"]))
    return sum("pallas" in path.read_text(errors="replace") for path in folder.rglob("*.py")), sorted(found)

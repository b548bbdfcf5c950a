"""The errors and warnings that the checker finds in a folder of other people's kernels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import jax

from pallas_lsp.analysis import analyze
from pallas_lsp.resolve.project import Project
from pallas_lsp.settings import Settings


@dataclass(frozen=True, order=True)
class Found:
    """An error or warning in a file, on a 1-based line; ``text`` is what it underlines."""

    file: str
    line: int
    rule: str
    text: str
    message: str


def faults_in(folder: Path) -> tuple[int, list[Found]]:
    """How many files of ``folder`` speak of Pallas, and the errors and warnings that are found from them."""
    project = Project([str(folder)])
    files, found = 0, set[Found]()
    for path in sorted(folder.rglob("*.py")):
        source = project.read(str(path))
        if source is None or "pallas" not in source.text:
            continue
        files += 1
        for diagnostic in analyze(source, project, Settings(jax_version=jax.__version__)).diagnostics:
            if diagnostic.severity in ("error", "warning"):
                place = project.read(diagnostic.location.path)
                assert place is not None
                span = diagnostic.location.span
                found.add(Found(place.path, place.line_of(span.start) + 1, diagnostic.rule, place.slice(span), diagnostic.message))
    return files, sorted(found)

"""Small projects on disk, and what the checker says of them."""

from __future__ import annotations

from pathlib import Path

from pallas_lsp.analysis import Analysis, analyze
from pallas_lsp.resolve.environment import Environment
from pallas_lsp.resolve.project import Project
from pallas_lsp.settings import Settings

HEAD = """import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
"""


def write(folder: Path, files: dict[str, str] | None = None, **modules: str) -> Path:
    """Write files by their relative paths, and ``name=text`` as name.py; give the folder."""
    for name, text in {**(files or {}), **{f"{module}.py": body for module, body in modules.items()}}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def analysed(folder: Path, name: str, jax_version: str | None = "0.10.2", site_packages: Path | None = None, **options: bool) -> Analysis:
    """The analysis of the file ``name`` of a project."""
    environment = Environment((str(site_packages),)) if site_packages is not None else None
    project = Project([str(folder)], environment)
    source = project.read(str(folder / name))
    assert source is not None
    return analyze(source, project, Settings(jax_version=jax_version), **options)


def findings(analysis: Analysis) -> list[tuple[str, str, int]]:
    """Rule, file name and 1-based line of every finding."""
    result = []
    for diagnostic in analysis.diagnostics:
        text = Path(diagnostic.location.path).read_text()
        line = text.count("\n", 0, diagnostic.location.span.start) + 1
        result.append((diagnostic.rule, Path(diagnostic.location.path).name, line))
    return result


def line_of(text: str, part: str) -> int:
    """The 1-based line of the only place where ``part`` stands."""
    assert text.count(part) == 1, part
    return text.count("\n", 0, text.index(part)) + 1

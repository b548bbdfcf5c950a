"""The checker as the tests ask it: about one text, for the installed JAX or another."""

from __future__ import annotations

import jax

from pallas_lsp.analysis import Analysis, analyze
from pallas_lsp.given import GivenCall
from pallas_lsp.resolve.project import Project
from pallas_lsp.rules import Diagnostic
from pallas_lsp.settings import Settings

PATH = "/project/kernel.py"


def analysis_of(text: str, target: str | None = None, version: str = jax.__version__, call: GivenCall | None = None) -> Analysis:
    """All that is known of a file with this text, for a chip (None: every chip); of this ``call`` only, where there is one."""
    project = Project(overlay={PATH: text})
    source = project.read(PATH)
    assert source is not None
    return analyze(source, project, Settings(jax_version=version, target=target), call=call)


def findings(text: str, target: str | None = None, version: str = jax.__version__) -> list[Diagnostic]:
    """What the checker finds in a file with this text."""
    return analysis_of(text, target, version).diagnostics

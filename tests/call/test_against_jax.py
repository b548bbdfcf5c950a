"""The checker and JAX on kernel calls: it speaks, with the rule expected, exactly where JAX refuses."""

from __future__ import annotations

import jax
import pytest
from call.block_cases import BLOCKS
from call.function_cases import FUNCTIONS
from call.spec_cases import SPECS
from call.surrounding_cases import SURROUNDINGS
from referee import lower

from pallas_lsp.analysis import analyze
from pallas_lsp.resolve.project import Project
from pallas_lsp.rules import Diagnostic
from pallas_lsp.settings import Settings

PATH = "/project/kernel.py"
CASES = [pytest.param(rule, source, id=what) for what, rule, source in (*SPECS, *BLOCKS, *FUNCTIONS, *SURROUNDINGS)]


def findings(text: str) -> list[Diagnostic]:
    """What the checker finds in a file with this text, for the installed JAX."""
    project = Project(overlay={PATH: text})
    source = project.read(PATH)
    assert source is not None
    return analyze(source, project, Settings(jax_version=jax.__version__)).diagnostics


@pytest.mark.parametrize(("rule", "source"), CASES)
def test_the_rule_speaks_where_jax_refuses(rule: str | None, source: str) -> None:
    verdict = lower(source)
    errors = {finding.rule for finding in findings(source) if finding.severity == "error"}
    assert errors == ({rule} if rule is not None else set()), verdict
    assert verdict.ok == (rule is None), verdict

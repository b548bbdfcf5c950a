"""The checker and JAX on kernel calls: it speaks, with the rule expected, exactly where JAX refuses."""

from __future__ import annotations

import pytest
from call.block_cases import BLOCKS
from call.function_cases import FUNCTIONS
from call.spec_cases import SPECS
from call.surrounding_cases import SURROUNDINGS
from checker import findings
from referee import lower

CASES = [pytest.param(rule, source, id=what) for what, rule, source in (*SPECS, *BLOCKS, *FUNCTIONS, *SURROUNDINGS)]


@pytest.mark.parametrize(("rule", "source"), CASES)
def test_the_rule_speaks_where_jax_refuses(rule: str | None, source: str) -> None:
    verdict = lower(source)
    errors = {finding.rule for finding in findings(source) if finding.severity == "error"}
    assert errors == ({rule} if rule is not None else set()), verdict
    assert verdict.ok == (rule is None), verdict

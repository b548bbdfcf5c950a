"""The checker and JAX on operations in kernels: it speaks, with the rule expected and on JAX's line, exactly where JAX refuses."""

from __future__ import annotations

import pytest
from checker import findings
from ops.copy_cases import COPIES
from ops.forwarding_cases import FORWARDED
from ops.lowering_cases import LOWERING
from ops.pipeline_cases import PIPELINES
from ops.python_cases import PYTHON
from ops.remote_cases import REMOTE
from ops.scalar_cases import SCALARS
from ops.traced_cases import TRACED
from referee import lower

ALL = (*TRACED, *LOWERING, *COPIES, *PIPELINES, *REMOTE, *PYTHON, *FORWARDED, *SCALARS)
CASES = [pytest.param(rule, source, id=what) for what, rule, source in ALL]


@pytest.mark.parametrize(("rule", "source"), CASES)
def test_the_rule_speaks_where_jax_refuses(rule: str | None, source: str) -> None:
    verdict = lower(source)
    errors = [finding for finding in findings(source) if finding.severity == "error"]
    assert verdict.ok == (rule is None), verdict
    assert {finding.rule for finding in errors} == ({rule} if rule is not None else set()), verdict
    if verdict.line is not None and verdict.exc != "VerificationError":  # which has the line of the call where JAX inlined the operation
        assert {source.count("\n", 0, finding.location.span.start) + 1 for finding in errors} == {verdict.line}

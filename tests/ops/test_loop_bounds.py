"""The bounds of a ``fori_loop``, in pairs: JAX refuses what the checker refuses, and the index has the dtype that JAX gives it."""

from __future__ import annotations

from itertools import product

import pytest
from checker import findings
from ops.modules import steps
from referee import lower

BOUNDS = ("4", "0.0", "True", "x_ref.shape[0]", "i", "i.astype(jnp.int8)", "i.astype(jnp.uint32)", "i * 1.0", "jnp.int16(3)")


@pytest.mark.parametrize(("first", "last"), list(product(BOUNDS, BOUNDS)))
def test_bounds_of_a_loop(first: str, last: str) -> None:
    source = steps(f"o_ref[...] = jax.lax.fori_loop({first}, {last}, lambda j, x: x + j, x_ref[...])")
    errors = [finding for finding in findings(source) if finding.severity == "error"]
    verdict = lower(source)
    assert verdict.ok == (not errors), (verdict, errors)
    assert {finding.rule for finding in errors} <= {"invalid-operands"}
    assert errors == [] or "fori_loop" in verdict.message

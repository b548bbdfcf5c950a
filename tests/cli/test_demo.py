"""The kernels of ``make demo``: what JAX says of them, and that the tool says it on the same line."""

from __future__ import annotations

from pathlib import Path

import pytest
import referee

DEMO = Path(__file__).parents[1] / "demo"

REFUSED = {
    "rms_norm.py": ("Cannot store scalars to VMEM", "rrms_ref[0, 0] = rrms"),
    "ragged_gather.py": ("Can only load scalars from SMEM", "lengths = lengths_ref[...]"),
    "histogram.py": ("Can only store scalars to SMEM", "counts_ref[...] = jnp.zeros((1, NUM_EXPERTS), jnp.int32)"),
}


def test_every_demo_is_judged_here() -> None:
    assert {path.name for path in DEMO.glob("*.py")} == {*REFUSED, "matmul.py"}


@pytest.mark.parametrize("name", REFUSED)
def test_jax_refuses_it(name: str) -> None:
    text = (DEMO / name).read_text()
    message, line = REFUSED[name]
    verdict = referee.lower(text, name)
    assert not verdict.ok
    assert message in verdict.message
    assert verdict.line is not None
    assert text.splitlines()[verdict.line - 1].strip() == line


def test_jax_lowers_the_good_one() -> None:
    assert referee.lower((DEMO / "matmul.py").read_text(), "matmul.py") == referee.Verdict(ok=True)

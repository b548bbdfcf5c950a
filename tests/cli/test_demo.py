"""The kernels of ``make demo``: what JAX says of them, and that the tool says it on the same line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import referee
from cli.command_line import Run

DEMO = Path(__file__).parents[1] / "demo"

# What JAX says, the line it says it of, and the rule.
REFUSED = {
    "rms_norm.py": ("Cannot store scalars to VMEM", "rrms_ref[0, 0] = rrms", "store-scalar-to-vmem"),
    "ragged_gather.py": ("Can only load scalars from SMEM", "lengths = lengths_ref[...]", "load-vector-from-smem"),
    "histogram.py": ("Can only store scalars to SMEM", "counts_ref[...] = jnp.zeros((1, NUM_EXPERTS), jnp.int32)", "store-vector-to-smem"),
}


def test_every_demo_is_judged_here() -> None:
    assert {path.name for path in DEMO.glob("*.py")} == {*REFUSED, "matmul.py"}


@pytest.mark.parametrize("name", REFUSED)
def test_jax_refuses_it(name: str) -> None:
    text = (DEMO / name).read_text()
    message, line, _ = REFUSED[name]
    verdict = referee.lower(text, name)
    assert not verdict.ok
    assert message in verdict.message
    assert verdict.line is not None
    assert text.splitlines()[verdict.line - 1].strip() == line


def test_the_tool_says_so_where_jax_does(run: Run) -> None:
    result = run("check", "--output-format", "json", "--jax-version", "0.10.2", DEMO)
    assert result.code == 1
    found = [(os.path.basename(finding["filename"]), finding["location"]["row"], finding["code"]) for finding in json.loads(result.out)]
    for name, (_, line, rule) in REFUSED.items():
        row = [text.strip() for text in (DEMO / name).read_text().splitlines()].index(line) + 1
        assert (name, row, rule) in found
    assert {name for name, *_ in found} == set(REFUSED)


def test_jax_lowers_the_good_one() -> None:
    assert referee.lower((DEMO / "matmul.py").read_text(), "matmul.py") == referee.Verdict(ok=True)

"""Containers of refs that are taken apart, where nothing is known of the operands."""

from __future__ import annotations

import pytest
from checker import findings
from small_kernel import HEAD

CALL = """
def kernel({refs}):
    {body}


def run(x):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32), in_specs=[{spec}])(x)
"""
BLOCK = "pl.BlockSpec((8, 128))"


@pytest.mark.parametrize(
    ("refs", "body", "spec", "told"),
    [
        ("*refs", "x_ref, y_ref, o_ref = refs", BLOCK, ["unpack-count"]),
        ("*refs", "refs[...] = 0.0", BLOCK, ["sequence-index"]),
        ("x_ref, o_ref", "o_ref[...] = x_ref[...]", f"[{BLOCK}]", []),
        ("x_refs, o_ref", "a_ref, b_ref = x_refs", f"[{BLOCK}]", []),
    ],
)
def test_how_many_refs_come_is_sure_and_what_an_operand_is_made_of_is_not(refs: str, body: str, spec: str, told: list[str]) -> None:
    assert [found.rule for found in findings(HEAD + CALL.format(refs=refs, body=body, spec=spec))] == told

"""Which starts of a slice the TPU compiler can prove to be multiples of 8, and what the checker says of each."""

from __future__ import annotations

import pytest
from call.modules import module
from ops.test_against_the_compiler import warnings_of
from referee import compile_many, libtpu_installed, lower

PROVEN = """
i*8; i*16; (i+1)*8; i*8 + 8; 8 - i*8; -(i*8); i*4*2; 2*i*4; i*8 + i*16; i*8 + s_ref[0]*8; i*i*8; jnp.square(i)*8; i*0
i*8 // 8*8; pl.cdiv(i, 2)*8; lax.div(i, 2)*8; lax.div(i*16, 2); lax.div(i*24, 3); lax.rem(i*8, 16); i*8 % 16; divmod(i*8, 16)[1]
jnp.minimum(i*8, 24); jnp.minimum(i, 2)*8; jnp.minimum(i*8, s_ref[0]*8); jnp.where(i > 0, i*8, 0); lax.select(i > 0, i*8, i*16)
(i > 0).astype(jnp.int32)*8; jnp.int32(i)*8; (i*8).astype(jnp.uint32); lax.mul(i, 8); lax.neg(i*8); jnp.sign(i)*8
pl.multiple_of(i, 8); pl.multiple_of(s_ref[0], 16); pl.multiple_of(i, 4)*2; pl.multiple_of(i, 24)
lax.fori_loop(0, 2, lambda k, c: c, i*8); lax.fori_loop(0, 3, lambda k, c: c + 1, 0)*8
"""
UNPROVEN = """
i; i*4; i*8 + 3; s_ref[0]; (i*16)//2; lax.div(i*8, 3); i << 3; i*16 >> 1; i*8 & 24; i*8 | 8; i ^ 8; i & ~7
jnp.maximum(i*8, 0); lax.max(i*8, 8); jnp.clip(i*8, 0, 16); lax.clamp(0, i*8, 16); jnp.minimum(i*8, s_ref[0]); jnp.where(i > 0, i, 0)
pl.cdiv(i, 2); (i*8.0).astype(jnp.int32); pl.multiple_of(i, 4); pl.multiple_of(i, 12)
lax.fori_loop(0, 3, lambda k, c: c + 8, 0); lax.fori_loop(0, 3, lambda k, c: c - i*8, i*8); lax.while_loop(lambda c: c < 8, lambda c: c + 8, 0)
lax.fori_loop(0, 3, lambda k, c: (c[0] + 8, c[1] + 1), (0, 0))[0]
"""
FOLDED = """
i & 0; (i*8) & -1; (i*8) | 0; (i*8) >> 0; i*8 & i*8; jnp.maximum(8, 8); jnp.maximum(i*0, 0); jnp.maximum(i*8, i*8); jnp.clip(8, 0, 16)
jnp.clip(i*8); pl.cdiv(i*8, 1); lax.fori_loop(0, 2, lambda k, c: c + 0, i*8); lax.fori_loop(0, 2, lambda k, c: i*8, i*8)
lax.fori_loop(0, 1, lambda k, c: c + 8, i*8); lax.fori_loop(0, 2, lambda k, c: c + 8, 0, unroll=True)
"""
LOOPS = {
    "pl.loop(0, 16, step=8)": True,
    "pl.loop(8, 16, step=8)": True,
    "pl.loop(i*8, 16, step=8)": True,
    "pl.loop(3, 8, step=8)": True,
    "pl.loop(0, 16, step=4, unroll=True)": True,
    "pl.loop(0, 16, step=4)": False,
    "pl.loop(4, 16, step=8)": False,
    "pl.loop(0, i, step=4)": False,
    "pl.loop(i*4, 16, step=8)": False,
}
BLOCK = "pl.BlockSpec(({}, 256), lambda i: (0, 0))"


def listed(text: str) -> list[str]:
    """The expressions of one of the lists above."""
    return [part.strip() for line in text.strip().splitlines() for part in line.split(";")]


def rows(start: str, loop: str | None = None) -> str:
    """A kernel that loads eight rows from ``start`` on, once or in a loop with the index ``k``."""
    load = f"o_ref[...] = x_ref[pl.ds({start}, 8), :]"
    body = f"i = pl.program_id(0)\n{load}" if loop is None else f"i = pl.program_id(0)\n@{loop}\ndef _(k):\n    {load}"
    return module(
        body, refs="s_ref, x_ref, o_ref", x="i32[4]", y="f32[64,256]", out="f32[8,256]", grid="(2,)", top="from jax import lax",
        in_specs=f"[SMEM, {BLOCK.format(64)}]", out_specs=BLOCK.format(8),
    )  # fmt: skip


CASES = {
    **{start: (True, rows(start)) for start in (*listed(PROVEN), *listed(FOLDED))},
    **{start: (False, rows(start)) for start in listed(UNPROVEN)},
    **{loop: (proven, rows("k", loop)) for loop, proven in LOOPS.items()},
}


@pytest.mark.parametrize(("proven", "source"), CASES.values(), ids=CASES)
def test_the_rule_speaks_of_what_cannot_be_proven(proven: bool, source: str) -> None:
    assert warnings_of(source, None) == (set() if proven else {"unaligned-dynamic-sublane"})


def test_jax_lowers_them_all() -> None:
    refused = [start for start, (_, source) in CASES.items() if not lower(source).ok]
    assert not refused


@pytest.mark.libtpu
@pytest.mark.skipif(not libtpu_installed(), reason="libtpu is not installed")
def test_the_compiler_says_the_same() -> None:
    verdicts = compile_many([source for _, source in CASES.values()])
    for (start, (proven, _)), verdict in zip(CASES.items(), verdicts, strict=True):
        assert verdict.ok == proven, (start, verdict)
        assert proven or "cannot statically prove" in verdict.message

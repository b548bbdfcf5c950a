"""What a branch or a loop hands through depends on nothing else: JAX drops what only decided or went round beside it."""

from __future__ import annotations

from call.modules import module
from ops.modules import NEW, Case

RULE = "narrow-vector-to-scalar"  # for the maximum of a bfloat16 vector, where something needs it
REV = "unimplemented-primitive"
OLD = None if NEW else RULE


def stored(value: str) -> str:
    """A kernel that stores ``value``, made of the loaded ``v`` and of ``w``."""
    body = f"v = x_ref[...]\nw = v * 2\no_ref[...] = {value}"
    specs = "[pl.BlockSpec(memory_space=pltpu.VMEM), SMEM]"
    return module(body, refs="x_ref, n_ref, o_ref", x="bf16[8,128]", y="i32[4]", out="bf16[8,128]", in_specs=specs)


FORWARDED: list[Case] = [
    (what, rule, stored(value))
    for what, rule, value in (
        ("both branches give what they are given", None, "jax.lax.cond(jnp.max(v) > 1, lambda c: c, lambda c: c, v)"),
        ("both give what they see outside", None, "jax.lax.cond(jnp.max(v) > 1, lambda: v, lambda: v)"),
        ("one of each are two variables", RULE, "jax.lax.cond(jnp.max(v) > 1, lambda c: c, lambda c: v, v)"),
        ("an operand that is another value", RULE, "jax.lax.cond(jnp.max(v) > 1, lambda c: c, lambda c: w, v)"),
        ("a switch", None, "jax.lax.switch(jnp.max(v).astype(jnp.int32), [lambda c: c, lambda c: c], v)"),
        ("one result of two", None, "jax.lax.cond(jnp.max(v) > 1, lambda c: (c, c + 1), lambda c: (c, c), v)[0]"),
        ("the other result", RULE, "jax.lax.cond(jnp.max(v) > 1, lambda c: (c, c + 1), lambda c: (c, c), v)[1]"),
        ("a branch within a branch", None, "jax.lax.cond(jnp.max(v) > 1, lambda c: jax.lax.cond(n_ref[0] > 1, lambda: c, lambda: c), lambda c: c, v)"),
        ("a loop within a branch", None, "jax.lax.cond(jnp.max(v) > 1, lambda c: jax.lax.fori_loop(0, 3, lambda i, d: d, c), lambda c: c, v)"),
        ("a jitted function", RULE, "jax.lax.cond(jnp.max(v) > 1, lambda c: jax.jit(lambda q: q)(c), lambda c: c, v)"),
        ("the other way round", REV, "jax.lax.cond(n_ref[0] > 1, lambda c: c[::-1], lambda c: c, v)"),
        ("two transposes", RULE, "jax.lax.cond(jnp.max(v) > 1, lambda c: c.T.T, lambda c: c, v)"),
        ("there and back", RULE, "jax.lax.cond(jnp.max(v) > 1, lambda c: c[:, None][:, 0], lambda c: c, v)"),
        ("a sum", RULE, "jax.lax.cond(jnp.max(v) > 1, lambda c: c + 1, lambda c: c, v)"),
        ("a load in each", RULE, "jax.lax.cond(jnp.max(v) > 1, lambda: x_ref[...], lambda: x_ref[...])"),
        ("a dead carry", None, "jax.lax.fori_loop(0, 3, lambda i, c: (c[0] + 1, c[1] + 1), (jnp.max(v), v))[1]"),
        ("a dead carry in a while loop", OLD, "jax.lax.fori_loop(0, n_ref[0], lambda i, c: (c[0] + 1, c[1] + 1), (jnp.max(v), v))[1]"),
        ("a while loop hands through", OLD, "jax.lax.fori_loop(0, n_ref[0], lambda i, c: (c[0], c[1] + 1), (jnp.max(v), v))[1]"),
        ("a bound of a loop that only hands through", None, "jax.lax.fori_loop(0, jnp.max(v).astype(jnp.int32), lambda i, c: c, v)"),
        ("what a while loop hands through", None, "jax.lax.while_loop(lambda c: jnp.max(c[0]) < 3, lambda c: (c[0] + 1, c[1]), (v, v))[1]"),
        ("what it hands through and looks at", RULE, "jax.lax.while_loop(lambda c: jnp.max(c[0]) < 3, lambda c: (c[0], c[1] + 1), (v, v))[1]"),
        ("what a scan hands through", None, "jax.lax.scan(lambda c, _: ((c[0] + jnp.max(c[1]), c[1]), None), (jnp.max(v), v), None, length=3)[0][1]"),
        ("what is scanned and stacked again", None, "jax.lax.scan(lambda c, u: (c, u), v, v)[1]"),
    )
]
FORWARDED += [
    (call, None, stored(f"jax.lax.cond(jnp.max(v) > 1, lambda c: {call}, lambda c: c, v)"))
    for call in (
        "+c",
        "jnp.positive(c)",
        "jnp.real(c)",
        "jnp.conj(c)",
        "c.conj()",
        "jnp.asarray(c)",
        "c.astype(c.dtype)",
        "jnp.bfloat16(c)",
        "c.view(c.dtype)",
        "jnp.reshape(c, (8, 128))",
        "c.reshape(-1, 128)",
        "jnp.broadcast_to(c, (8, 128))",
        "jnp.transpose(c, (0, 1))",
        "jnp.swapaxes(c, 0, 0)",
        "jnp.moveaxis(c, 0, 0)",
        "c.squeeze()",
        "jnp.expand_dims(c, ())",
        "jnp.concatenate([c])",
        "jax.lax.convert_element_type(c, c.dtype)",
        "jax.lax.reshape(c, (8, 128))",
        "jax.lax.broadcast(c, ())",
        "jax.lax.broadcast_in_dim(c, (8, 128), (0, 1))",
        "jax.lax.transpose(c, (0, 1))",
        "jax.lax.squeeze(c, ())",
        "jax.lax.expand_dims(c, ())",
        "jax.lax.concatenate([c], 0)",
        "jax.lax.collapse(c, 0, 1)",
        "c[...]",
        "c[:, :]",
        "c[0:8]",
    )
]

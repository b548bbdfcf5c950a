"""What is made of something unknown is unknown: it may have the right shape, dtype and memory space."""

from __future__ import annotations

import pytest
from random_kernels.compare import errors_of

VALUES = [
    "-u", "+u", "~u", "u + 1", "1 + u", "u - 1.0", "2 * u", "u / 2", "u // 2", "u % 2", "u ** 2", "u @ u", "u << 1", "u >> 1", "u & 1", "u | 1",
    "u > 0", "abs(u)", "min(u, 3)", "max(2, u)", "sum(u)", "len(u)", "int(u)", "float(u)", "round(u)", "pow(u, 2)",
    "u[0]", "u[...]", "u[:, None]", "u.T", "u.shape", "u.dtype", "u.sum()", "u.astype(jnp.float32)", "u.reshape(8, 128)", "u.at[0].set(1.0)", "u()", "u(x_ref)",
    "(u if x_ref.ndim else 1.0)", "(u or 1.0)", "[u][0]", "(u, 1)[0]", "{'a': u}['a']", "[*u][0]", "next(iter(u))", "dict(a=u)['a']",
    "jnp.maximum(-u, 1.0)", "-u + jnp.float32(1)", "(u + 1) * jnp.float32(1)", "jnp.exp(-u // 2)", "jnp.where(-u > 0, u, u)", "jnp.minimum(u, jnp.float32(1))", "jnp.exp(u)", "jnp.sum(u, axis=0)", "jnp.where(u, 1.0, 0.0)", "jnp.where(u > 0, u, 0.0)",
    "jnp.dot(u, u)", "jnp.zeros(u)", "jnp.zeros(u, u)", "jnp.full(u, 1.0)", "jnp.zeros_like(u)", "jnp.broadcast_to(1.0, u)", "jnp.reshape(x_ref[...], u)",
    "jnp.asarray(u)", "jnp.array(u)", "jnp.stack([u, u])", "jnp.concatenate([u, u])", "jnp.float32(u)", "jnp.squeeze(u)", "jnp.transpose(u)", "jnp.max(u, axis=u)",
    "lax.broadcasted_iota(u, u, 0)", "lax.select(u, u, u)", "lax.fori_loop(0, 2, lambda i, c: c + u, 0.0 * u)", "lax.fori_loop(0, u, lambda i, c: c, u)",
    "lax.cond(u, lambda: u, lambda: u)", "jax.tree.map(lambda a: a, u)", "functools.reduce(lambda a, b: a + b, [u, u])", "functools.partial(u, 1)()",
    "jax.jit(u)(x_ref[...])", "x_ref[u]", "x_ref[u, ...]", "x_ref[0, u]", "x_ref[u:]", "x_ref[pl.ds(u, 8)]", "x_ref[pl.ds(0, u)]", "x_ref.at[u][...]",
    "x_ref.at[u].get()", "pltpu.load(x_ref.at[u])", "jax.ref.get(x_ref, u)", "x_ref[...][u]", "x_ref[...] * u", "x_ref[0] + u", "x_ref[0, 0] + u", "jnp.sum(x_ref[...]) * u",
    "x_ref[...].astype(u)", "x_ref[...].reshape(u)", "x_ref[...].sum(axis=u)", "jnp.sum(x_ref[...], keepdims=u)", "jnp.sum(x_ref[...], **u)", "jnp.sum(*u)",
]  # fmt: skip

VECTORS = ("x_ref[...]", "x_ref[0]", "x_ref[0:2]")
PLACES = dict.fromkeys(("o_ref[u]", "o_ref[u, u]", "o_ref.at[u][...]", "u[0]", "u[...]", "u.at[0][0]"), ("1.0", "jnp.sum(x_ref[...])", *VECTORS)) | {
    "o_ref[pl.ds(u, u)]": ("x_ref[...]", "x_ref[0:2]"), "o_ref[u:u]": ("x_ref[...]", "x_ref[0:2]"), "o_ref[0, u]": ("1.0", "x_ref[0]"), "o_ref[u, 0]": ("1.0", "x_ref[0]"),
}  # fmt: skip

_MODULE = """\
import functools
import jax
import jax.numpy as jnp
from elsewhere import u
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def kernel(x_ref, o_ref):
    {statement}


def run(x):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32))(x)


jax.jit(run).lower(jax.ShapeDtypeStruct((8, 128), jnp.float32))
"""


@pytest.mark.parametrize("value", VALUES)
def test_a_value_made_of_the_unknown_may_be_stored(value: str) -> None:
    assert errors_of(_MODULE.format(statement=f"o_ref[...] = {value}")) == ()


@pytest.mark.parametrize("place", PLACES)
def test_what_may_fit_may_be_stored_to_an_unknown_place(place: str) -> None:
    for value in PLACES[place]:
        assert errors_of(_MODULE.format(statement=f"{place} = {value}")) == (), value


@pytest.mark.parametrize(
    "arguments",
    [
        "out_shape=u", "out_shape=[u]", "out_shape=jax.ShapeDtypeStruct(u, jnp.float32)", "out_shape=jax.ShapeDtypeStruct((), u)", "**u", "*u",
        "out_shape=ROW, out_specs=u", "out_shape=ROW, out_specs=pl.BlockSpec(**u)", "out_shape=ROW, out_specs=pl.BlockSpec(*u)", "out_shape=ROW, grid_spec=u",
        "out_shape=ROW, out_specs=pl.BlockSpec(u, lambda: (0, 0), memory_space=u)", "out_shape=ROW, out_specs=pl.BlockSpec((u, u), lambda: (0, 0), memory_space=u)",
        "out_shape=ROW, grid_spec=pl.GridSpec(out_specs=u)", "out_shape=ROW, grid_spec=pl.GridSpec(**u)", "out_shape=ROW, **u", "out_shape=ROW, grid=u, out_specs=[u][0]",
    ],
)  # fmt: skip
def test_a_scalar_may_be_stored_where_the_call_is_not_known(arguments: str) -> None:
    text = _MODULE.format(statement="o_ref[...] = jnp.sum(x_ref[...])")
    text = text.replace("out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32))(x)", f"{arguments})(x)")
    text = text.replace("def kernel", "ROW = jax.ShapeDtypeStruct((1, 1), jnp.float32)\n\n\ndef kernel")
    assert errors_of(text) == ()


@pytest.mark.parametrize("space", ["memory_space=u", "memory_space=getattr(pltpu, u)", "memory_space=u.SMEM", "**u"])
def test_anything_may_be_done_in_an_unknown_memory_space(space: str) -> None:
    for statement in ("o_ref[0, 0] = 1.0", "o_ref[...] = x_ref[...]", "o_ref[0, 0] = x_ref[0, 0]"):
        text = _MODULE.format(statement=statement).replace(
            "(kernel, ", f"(kernel, in_specs=[pl.BlockSpec({space})], out_specs=pl.BlockSpec({space}), "
        )
        assert errors_of(text) == (), statement

"""Kernel calls inside transformations and over meshes, right or wrong: (what, the rule that speaks or None, a module)."""

from __future__ import annotations

from textwrap import dedent, indent

_HEAD = """\
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from jax.sharding import PartitionSpec as P

ROWS = pl.BlockSpec((8, 128), lambda i: (i, 0))


def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2


def copy_kernel(x_ref, o_ref):
    pltpu.sync_copy(x_ref, o_ref)


def double(x):
    return pl.pallas_call(kernel, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


def blocked(x, spec=ROWS):
    return pl.pallas_call(kernel, jax.ShapeDtypeStruct(x.shape, x.dtype), grid=(2,), in_specs=[spec], out_specs=spec)(x)


def copied(x):
    spec = pl.BlockSpec(memory_space=pl.ANY)
    return pl.pallas_call(copy_kernel, jax.ShapeDtypeStruct(x.shape, x.dtype), in_specs=[spec], out_specs=spec)(x)
"""

_MAIN = """
if __name__ == "__main__":
    jax.jit(run).lower(*ARGS)
"""


def around(result: str, x: str = "(16, 128), jnp.float32", top: str = "") -> str:
    """A module whose ``run(x)`` returns ``result``."""
    head = f"{_HEAD}\n\n{dedent(top).strip()}\n" if top else _HEAD
    return f"{head}\n\ndef run(x):\n{indent('return ' + result, '    ')}\n\n\nARGS = [jax.ShapeDtypeStruct({x})]\n{_MAIN}"


def over_mesh(call: str, top: str = "", body: str = "pass") -> str:
    """A module with a mesh of one TensorCore and a ``body`` for it."""
    mesh = f"MESH = pltpu.create_tensorcore_mesh('core', num_cores=1)\nOUT = jax.ShapeDtypeStruct((16, 128), jnp.float32)\n{top}"
    definition = f"def over(x_ref, o_ref, *scratch):\n{indent(body, '    ')}\n"
    return f"{_HEAD}\n\n{mesh}\n\n{definition}\n\ndef run(x):\n    return {call}\n\n\nARGS = [jax.ShapeDtypeStruct((16, 128), jnp.float32)]\n{_MAIN}"


BATCH = "(4, 16, 128), jnp.float32"
ROW = "(16, 128), jnp.float32"
VMEM = "pltpu.VMEM((16, 128), jnp.float32)"
MESH = "mesh = jax.make_mesh((1,), ('d',), axis_types=(jax.sharding.AxisType.Auto,))"
OWN = """
@jax.custom_vjp
def own(x):
    return double(x)

def forward(x):
    return double(x), None

def backward(_, g):
    return (g * 2,)

own.defvjp(forward, backward)
"""

_VMAPS: list[tuple[str, str | None, str]] = [
    ("vmap of a call of two dims", None, around("jax.vmap(double)(x)", BATCH)),
    ("vmap of a blocked call", None, around("jax.vmap(blocked)(x)", BATCH)),
    ("vmap of a call of one dim", "vmap-squeezed-block", around("jax.vmap(double)(x)", ROW)),
    ("vmap of one row", None, around("jax.vmap(double)(x)", "(1, 128), jnp.float32")),
    ("vmap over the last axis", "vmap-squeezed-block", around("jax.vmap(double, in_axes=1)(x)", "(16, 4, 128), jnp.float32")),
    ("vmap of a copy in ANY", "vmap-any-operand", around("jax.vmap(copied)(x)", BATCH)),
    ("vmap of one copy in ANY", None, around("jax.vmap(copied)(x)", "(1, 16, 128), jnp.float32")),
    (
        "vmap of a block without a grid",
        None,
        around(
            "jax.vmap(first)(x)", BATCH,
            "BLOCK = pl.BlockSpec((8, 128), lambda: (0, 0))\n\ndef first(x):\n"
            "    return pl.pallas_call(kernel, jax.ShapeDtypeStruct(x.shape, x.dtype), in_specs=[BLOCK], out_specs=BLOCK)(x)",
        ),
    ),
    ("two vmaps", None, around("jax.vmap(jax.vmap(double))(x)", "(2, 4, 16, 128), jnp.float32")),
    ("vmap of a lambda", "vmap-squeezed-block", around("jax.vmap(lambda row: double(row))(x)", ROW)),
    ("vmap as a decorator", "vmap-squeezed-block", around("each(x)", ROW, "@jax.vmap\ndef each(row):\n    return double(row)")),
    ("vmap of a row made two dims", None, around("jax.vmap(lambda row: double(row[None])[0])(x)", ROW)),
]

_DERIVATIVES: list[tuple[str, str | None, str]] = [
    ("a gradient", "pallas-call-not-differentiable", around("jax.grad(lambda v: double(v).sum())(x)")),
    ("a value and gradient", "pallas-call-not-differentiable", around("jax.value_and_grad(lambda v: double(v).sum())(x)")),
    ("a vjp", "pallas-call-not-differentiable", around("jax.vjp(double, x)[0]")),
    ("an own derivative", None, around("jax.grad(lambda v: own(v).sum())(x)", top=OWN)),
    ("a gradient stopped", None, around("jax.grad(lambda v: (double(jax.lax.stop_gradient(v)) * v).sum())(x)")),
    ("a gradient by something else", None, around("jax.grad(lambda v: (double(x) * v).sum())(x)")),
    ("a gradient of arithmetic around", "pallas-call-not-differentiable", around("jax.grad(lambda v: double(v * 2 + 1).sum())(x)")),
    ("no gradient", None, around("double(x)")),
]

_SHARDED: list[tuple[str, str | None, str]] = [
    (
        "shard_map that checks",
        "shard-map-vma",
        around("jax.shard_map(double, mesh=mesh, in_specs=P('d'), out_specs=P('d'))(x)", top=MESH),
    ),
    (
        "shard_map that does not check",
        None,
        around("jax.shard_map(double, mesh=mesh, in_specs=P('d'), out_specs=P('d'), check_vma=False)(x)", top=MESH),
    ),
]

_EXPORTED: list[tuple[str, str | None, str]] = [
    (
        "a call of symbolic dims",
        "export-dynamic-block",
        around("x", top="(n,) = jax.export.symbolic_shape('n')\nEXPORTED = jax.jit(double).trace(jax.ShapeDtypeStruct((n, 128), jnp.float32))"),
    ),
]

_MESHES: list[tuple[str, str | None, str]] = [
    ("a kernel over a mesh", None, over_mesh("pl.kernel(over, OUT, mesh=MESH)(x)", body="pltpu.sync_copy(x_ref, o_ref)")),
    ("a kernel over a mesh, as a decorator", None, over_mesh("pl.kernel(out_type=OUT, mesh=MESH)(over)(x)", body="pltpu.sync_copy(x_ref, o_ref)")),
    ("a grid for a kernel over a mesh", "plkernel-signature", over_mesh("pl.kernel(over, OUT, mesh=MESH, grid=(2,))(x)")),
    ("specs for a kernel over a mesh", "plkernel-signature", over_mesh("pl.kernel(over, OUT, mesh=MESH, in_specs=[ROWS])(x)")),
    ("no mesh", "plkernel-signature", over_mesh("pl.kernel(over, OUT)(x)")),
    ("a list of meshes", "plkernel-mesh-sequence", over_mesh("pl.kernel(over, OUT, mesh=[MESH])(x)")),
    ("a list of meshes for a decorator", "plkernel-mesh-sequence", over_mesh("pl.kernel(out_type=OUT, mesh=[MESH])(over)(x)")),
    ("an array from outside", "kernel-captures-array", over_mesh(f"pl.kernel(over, OUT, mesh=MESH, scratch_types=[{VMEM}])(x)", "TABLE = jnp.ones((16, 128))", "s = TABLE + 1\nscratch[0][...] = s")),
    ("a program of a mesh", "program-id-without-grid", over_mesh("pl.kernel(over, OUT, mesh=MESH)(x)", body="core = pl.program_id(0)")),
    ("the programs of a mesh", "program-id-without-grid", over_mesh("pl.kernel(over, OUT, mesh=MESH)(x)", body="cores = pl.num_programs(0)")),
    ("a core of a mesh", None, over_mesh(
        "pl.kernel(over, OUT, mesh=MESH)(x)", body="pltpu.sync_copy(x_ref.at[pl.ds(jax.lax.axis_index('core') * 16, 16)], o_ref)",
    )),
    ("a program of a pipeline over a mesh", None, over_mesh("pl.kernel(over, OUT, mesh=MESH)(x)", "def add(a, b):\n    b[...] = a[...] + pl.program_id(0)",
        "pltpu.emit_pipeline(add, grid=(2,), in_specs=[ROWS], out_specs=[ROWS])(x_ref, o_ref)",
    )),
    ("a parameter too many", "kernel-arity", over_mesh("pl.kernel(lambda a, b, c: None, OUT, mesh=MESH)(x)")),
    ("HBM of a mesh", "mesh-memory-space", over_mesh("pl.kernel(over, OUT, mesh=MESH, scratch_types=[(pltpu.HBM @ MESH)((8, 128), jnp.float32)])(x)")),
    ("VMEM of a mesh", None, over_mesh("pl.kernel(over, OUT, mesh=MESH, scratch_types=[(pltpu.VMEM @ MESH)((8, 128), jnp.float32)])(x)")),
]

SURROUNDINGS = [*_VMAPS, *_DERIVATIVES, *_SHARDED, *_EXPORTED, *_MESHES]

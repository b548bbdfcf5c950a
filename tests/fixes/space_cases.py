"""Scalars, vectors and the memory spaces they do not fit: (what, program, the lines that the first fix adds)."""

from __future__ import annotations

from fixes.kernels import program

ONE = {"out": "f32[1,1]"}
COPY = "o_ref[...] = x_ref[...]"
LOOP = "for i in range(8):\n    {}".format
TRACED = "@pl.loop(0, 8)\ndef _(i):\n    {}".format
SMEM_OUT = {"out_specs": "pl.BlockSpec(memory_space=pltpu.SMEM)"}
SMEM_Y = {"in_specs": "[pl.BlockSpec(), pl.BlockSpec(memory_space=pltpu.SMEM)]"}
VMEM_SPECS = "        in_specs=[pl.BlockSpec(), pl.BlockSpec()],"

SCALARS_TO_VMEM = [
    ("a reduction", program("o_ref[0, 0] = jnp.sum(x_ref[...])", **ONE), ["o_ref[...] = jnp.sum(x_ref[...], keepdims=True)"]),
    ("a method", program("o_ref[0, 0] = x_ref[...].max()", **ONE), ["o_ref[...] = x_ref[...].max(keepdims=True)"]),
    ("added", program("o_ref[...] = jnp.zeros((1, 1))\no_ref[0, 0] += jnp.sum(x_ref[...])", **ONE), ["o_ref[...] += jnp.sum(x_ref[...])"]),
    (
        "a quotient",
        program("o_ref[0, 0] = jnp.sum(x_ref[...]) / 8", **ONE),
        ["o_ref[...] = jnp.full(o_ref.shape, jnp.sum(x_ref[...]) / 8)"],
    ),
    ("a number", program("o_ref[0, 0] = 1.5", **ONE), ["o_ref[...] = jnp.full(o_ref.shape, 1.5)"]),
    ("a row of one", program("o_ref[0] = jnp.sum(x_ref[...])", out="f32[1]"), ["o_ref[...] = jnp.full(o_ref.shape, jnp.sum(x_ref[...]))"]),
    ("one of many", program(f"{COPY}\no_ref[3, 5] = 1.5"), ["o_ref[3, 5:6] = jnp.full((1,), 1.5)"]),
    ("added to one of many", program(f"{COPY}\no_ref[3, 5] += x_ref[0, 0]"), ["o_ref[3, 5:6] += x_ref[0, 0]"]),
    ("in an unrolled loop", program(f"{COPY}\n{LOOP('o_ref[i, 0] = 1.5')}"), ["o_ref[i, 0:1] = jnp.full((1,), 1.5)"]),
    ("at a traced row", program(f"{COPY}\n{TRACED('o_ref[i, 0] = 1.5')}"), ["o_ref[i, 0:1] = jnp.full((1,), 1.5)"]),
    (
        "at a traced lane",
        program(f"{COPY}\n{TRACED('o_ref[3, i] = 1.5')}"),
        ["o_ref[3, :] = jnp.where(jnp.arange(o_ref.shape[-1]) == i, 1.5, o_ref[3, :])"],
    ),
    (
        "added at a traced lane",
        program(f"{COPY}\n{TRACED('o_ref[3, i] += 1.5')}"),
        ["o_ref[3, :] += jnp.where(jnp.arange(o_ref.shape[-1]) == i, 1.5, 0)"],
    ),
    ("at an array that is a number", program(f"{COPY}\no_ref[3, jnp.int32(5)] = 1.5"), ["o_ref[3, 5:6] = jnp.full((1,), 1.5)"]),
    ("ref.at[...].set", program(f"{COPY}\no_ref.at[3, 5].set(1.5)"), ["o_ref.at[3, 5:6].set(jnp.full((1,), 1.5))"]),
    ("ref.set", program(f"{COPY}\no_ref.set(1.5, (3, 5))"), ["o_ref.set(jnp.full((1,), 1.5), (3, slice(5, 6)))"]),
    ("jax.ref.set", program(f"{COPY}\njax.ref.set(o_ref, (3, 5), 1.5)"), ["jax.ref.set(o_ref, (3, slice(5, 6)), jnp.full((1,), 1.5))"]),
    (
        "pltpu.store",
        program(f"{COPY}\npltpu.store(o_ref.at[3, 5], x_ref[0, 0])"),
        ["pltpu.store(o_ref.at[3, 5:6], jnp.full((1,), x_ref[0, 0]))"],
    ),
    ("through a view", program(f"{COPY}\nrow = o_ref.at[3]\nrow[5] = 1.5"), ["row[5:6] = jnp.full((1,), 1.5)"]),
    (
        "scratch",
        program("s_ref[0] = jnp.sum(x_ref[...])\no_ref[...] = x_ref[...] * s_ref[0]", scratch_shapes="[pltpu.VMEM((1,), jnp.float32)]"),
        ["scratch_shapes=[pltpu.SMEM((1,), jnp.float32)],"],
    ),
    (
        "a squeezed block",
        program("o_ref[...] = jnp.sum(x_ref[...])", out_specs="pl.BlockSpec((None, None), lambda: (0, 0))", **ONE),
        ["out_specs=pl.BlockSpec((None, None), lambda: (0, 0), memory_space=pltpu.SMEM),"],
    ),
    (
        "a space in the wrong place",
        program("o_ref[...] = jnp.sum(x_ref[...])", out_specs="pl.BlockSpec((None, None), lambda: (0, 0), pltpu.SMEM)", **ONE),
        ["out_specs=pl.BlockSpec((None, None), lambda: (0, 0), memory_space=pltpu.SMEM),"],
    ),
]

SWAPS = [
    (
        "a swap",
        program(f"{COPY}\nold = o_ref.swap(1.5, (3, 5))\no_ref[...] += old"),
        ["old = o_ref.swap(jnp.full((1,), 1.5), (3, slice(5, 6)))[0]"],
    ),
    (
        "a swap by jax.ref",
        program(f"{COPY}\nold = jax.ref.swap(o_ref, (3, 5), 1.5)\no_ref[...] += old"),
        ["old = jax.ref.swap(o_ref, (3, slice(5, 6)), jnp.full((1,), 1.5))[0]"],
    ),
    (
        "a swap of a view",
        program(f"{COPY}\no_ref[...] += o_ref.at[3, 5].swap(1.5)"),
        ["o_ref[...] += o_ref.at[3, 5:6].swap(jnp.full((1,), 1.5))[0]"],
    ),
    ("an unused swap", program(f"{COPY}\no_ref.swap(1.5, (3, 5))"), ["o_ref.swap(jnp.full((1,), 1.5), (3, slice(5, 6)))"]),
]

VECTORS_FROM_SMEM = [
    ("all of one", program("o_ref[...] = x_ref[...] * y_ref[...]", y="f32[1,1]", **SMEM_Y), ["o_ref[...] = x_ref[...] * y_ref[0, 0]"]),
    ("a row of one", program("o_ref[...] = x_ref[...] * y_ref[0]", y="f32[1,1]", **SMEM_Y), ["o_ref[...] = x_ref[...] * y_ref[0, 0]"]),
    ("a slice of one", program("o_ref[...] = x_ref[...] * y_ref[2:3]", y="f32[4]", **SMEM_Y), ["o_ref[...] = x_ref[...] * y_ref[2]"]),
    ("pl.ds of one", program(TRACED("o_ref[i] = x_ref[i] * y_ref[pl.ds(i, 1)]"), y="f32[8]", **SMEM_Y), ["o_ref[i] = x_ref[i] * y_ref[i]"]),
    ("indexed twice", program("o_ref[...] = x_ref[...] * y_ref[...][1]", y="f32[4]", **SMEM_Y), ["o_ref[...] = x_ref[...] * y_ref[1]"]),
    (
        "a row, then an item",
        program("o_ref[...] = x_ref[...] * y_ref[0][1]", y="f32[2,2]", **SMEM_Y),
        ["o_ref[...] = x_ref[...] * y_ref[0, 1]"],
    ),
    ("a name for all", program(f"y = y_ref[...]\n{TRACED('o_ref[i] = x_ref[i] * y[0]')}", y="f32[4]", **SMEM_Y), ["y = y_ref"]),
    ("ref.get", program("o_ref[...] = x_ref[...] * y_ref.get()", y="f32[1]", **SMEM_Y), ["o_ref[...] = x_ref[...] * y_ref[0]"]),
    ("pltpu.load", program("o_ref[...] = x_ref[...] * pltpu.load(y_ref)", y="f32[1]", **SMEM_Y), ["o_ref[...] = x_ref[...] * y_ref[0]"]),
    (
        "jax.ref.get",
        program("o_ref[...] = x_ref[...] * jax.ref.get(y_ref, ...)", y="f32[1,1]", **SMEM_Y),
        ["o_ref[...] = x_ref[...] * jax.ref.get(y_ref, (0, 0))"],
    ),
    ("a whole block", program("o_ref[...] = x_ref[...] * y_ref[...]", y="f32[8,128]", **SMEM_Y), [VMEM_SPECS]),
]

VECTORS_TO_SMEM = [
    (
        "a kept reduction",
        program("o_ref[...] = jnp.sum(x_ref[...], keepdims=True)", **ONE, **SMEM_OUT),
        ["o_ref[0, 0] = jnp.sum(x_ref[...])"],
    ),
    ("a method", program("o_ref[...] = x_ref[...].max(keepdims=True)", **ONE, **SMEM_OUT), ["o_ref[0, 0] = x_ref[...].max()"]),
    ("zeros", program("o_ref[...] = jnp.zeros((1, 1))", **ONE, **SMEM_OUT), ["o_ref[0, 0] = 0.0"]),
    ("a value of one", program("o_ref[...] = x_ref[0:1, 0:1] * 2", **ONE, **SMEM_OUT), ["o_ref[0, 0] = (x_ref[0:1, 0:1] * 2)[0, 0]"]),
    ("a row", program("o_ref[...] = x_ref[0, 0:4]", out="f32[4]", **SMEM_OUT), ["out_specs=pl.BlockSpec(),"]),
    (
        "scratch",
        program(f"s_ref[...] = x_ref[...]\n{COPY}", scratch_shapes="[pltpu.SMEM((8, 128), jnp.float32)]"),
        ["scratch_shapes=[pltpu.VMEM((8, 128), jnp.float32)],"],
    ),
    (
        "counters that are also counted",
        program(
            "o_ref[...] = jnp.zeros((4,), jnp.int32)\no_ref[1] = 5\np_ref[...] = x_ref[...]",
            out=("i32[4]", "f32[8,128]"),
            out_specs="[pl.BlockSpec(memory_space=pltpu.SMEM), pl.BlockSpec()]",
        ),
        ["for i in range(o_ref.shape[0]):", "    o_ref[i] = 0"],
    ),
    (
        "a swap",
        program(f"s_ref.swap(jnp.ones((1,)))\n{COPY}", scratch_shapes="[pltpu.SMEM((1,), jnp.float32)]"),
        ["scratch_shapes=[pltpu.VMEM((1,), jnp.float32)],"],
    ),
    (
        "a swap with an index",
        program(f"s_ref.swap(jnp.ones((1,)), ...)\n{COPY}", scratch_shapes="[pltpu.SMEM((1,), jnp.float32)]"),
        ["s_ref.swap(1.0, 0)"],
    ),
]

BUFFERS = [
    ("an operand", program(COPY, in_specs="[pl.BlockSpec(memory_space=pl.ANY)]"), ["in_specs=[pl.BlockSpec()],"]),
    (
        "an output",
        program(COPY, out_specs="pl.BlockSpec((8, 128), lambda: (0, 0), memory_space=pltpu.HBM)"),
        ["out_specs=pl.BlockSpec((8, 128), lambda: (0, 0)),"],
    ),
    (
        "scratch",
        program("s_ref[...] = x_ref[...]\no_ref[...] = s_ref[...]", scratch_shapes="[pltpu.HBM((8, 128), jnp.float32)]"),
        ["scratch_shapes=[pltpu.VMEM((8, 128), jnp.float32)],"],
    ),
]

ZERO_RANK = [
    (
        "scratch",
        program("s_ref[...] = jnp.sum(x_ref[...])\no_ref[...] = x_ref[...] * s_ref[...]", scratch_shapes="[pltpu.VMEM((), jnp.float32)]"),
        ["scratch_shapes=[pltpu.SMEM((), jnp.float32)],"],
    ),
    (
        "a view of a view",
        program("o_ref[...] = x_ref[...] * x_ref.at[0, 0].at[...][...]"),
        ["o_ref[...] = x_ref[...] * x_ref.at[0, 0][...]"],
    ),
    ("a named view", program("view = x_ref.at[0, 0].at[...]\no_ref[...] = x_ref[...] * view[...]"), ["view = x_ref.at[0, 0]"]),
]

ZERO_RANK_BLOCKS = [
    ("an output", program("o_ref[...] = jnp.sum(x_ref[...])", out="f32[]"), ["out_specs=pl.BlockSpec(memory_space=pltpu.SMEM),"]),
    (
        "an operand of two",
        program("o_ref[...] = x_ref[...] * y_ref[...]", y="f32[]"),
        ["in_specs=[pl.BlockSpec(), pl.BlockSpec(memory_space=pltpu.SMEM)],"],
    ),
    (
        "an output of two",
        program("o_ref[...] = x_ref[...]\np_ref[...] = jnp.sum(x_ref[...])", out=("f32[8,128]", "f32[]")),
        ["out_specs=[pl.BlockSpec(), pl.BlockSpec(memory_space=pltpu.SMEM)],"],
    ),
]

SAFE = [
    *(("store-scalar-to-vmem", *case) for case in SCALARS_TO_VMEM),
    *(("swap-scalar-to-vmem", *case) for case in SWAPS),
    *(("load-vector-from-smem", *case) for case in VECTORS_FROM_SMEM),
    *(("store-vector-to-smem", *case) for case in VECTORS_TO_SMEM),
    *(("zero-rank-ref-not-in-smem", *case) for case in ZERO_RANK),
    *(("block-rank-zero", *case) for case in ZERO_RANK_BLOCKS),
]
UNSAFE = [
    *(("access-any-or-hbm", *case) for case in BUFFERS),
]

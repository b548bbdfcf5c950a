"""Stored values of the wrong shape or dtype: (what, program, the lines that the first fix adds)."""

from __future__ import annotations

from fixes.kernels import program

ONE = {"out": "f32[1,1]"}
COPY = "o_ref[...] = x_ref[...]"
SMEM_OUT = {"out_specs": "pl.BlockSpec(memory_space=pltpu.SMEM)"}

SHAPES = [
    ("zero", program("o_ref[...] = 0.0"), ["o_ref[...] = jnp.zeros_like(o_ref)"]),
    ("an int zero", program("o_ref[...] = 0"), ["o_ref[...] = jnp.zeros_like(o_ref)"]),
    ("a number", program("o_ref[...] = 1.5"), ["o_ref[...] = jnp.full(o_ref.shape, 1.5)"]),
    ("an int in a float", program("o_ref[...] = 1"), ["o_ref[...] = jnp.full_like(o_ref, 1)"]),
    ("a number for a row", program(f"{COPY}\no_ref[2] = 1.5"), ["o_ref[2] = jnp.full(o_ref.shape[1:], 1.5)"]),
    ("a number for some rows", program(f"{COPY}\no_ref[2:4] = 1.5"), ["o_ref[2:4] = jnp.full((2, 128), 1.5)"]),
    ("a sum for all", program("o_ref[...] = jnp.sum(x_ref[...])"), ["o_ref[...] = jnp.full(o_ref.shape, jnp.sum(x_ref[...]))"]),
    ("a sum for one", program("o_ref[...] = jnp.sum(x_ref[...])", **ONE), ["o_ref[...] = jnp.sum(x_ref[...], keepdims=True)"]),
    (
        "a sum of rows",
        program("o_ref[...] = jnp.sum(x_ref[...], axis=1)", out="f32[8,1]"),
        ["o_ref[...] = jnp.sum(x_ref[...], axis=1, keepdims=True)"],
    ),
    (
        "a scaled sum of rows",
        program("o_ref[...] = jnp.sum(x_ref[...], axis=1) * 2", out="f32[8,1]"),
        ["o_ref[...] = (jnp.sum(x_ref[...], axis=1) * 2)[:, None]"],
    ),
    ("a row", program("o_ref[...] = x_ref[0] + 1", out="f32[1,128]"), ["o_ref[...] = (x_ref[0] + 1)[None]"]),
    ("a row less", program("o_ref[0] = x_ref[0:1]", out="f32[1,128]"), ["o_ref[0] = x_ref[0:1][0]"]),
    ("an unsqueezed block", program("o_ref[...] = x_ref[...]", x="f32[1,8,128]"), ["o_ref[...] = x_ref[0]"]),
    ("a sum in SMEM", program("o_ref[...] = jnp.sum(x_ref[...])", **ONE, **SMEM_OUT), ["o_ref[0, 0] = jnp.sum(x_ref[...])"]),
    ("a number in SMEM", program("o_ref[...] = 1.5", out="f32[4]", **SMEM_OUT), ["for i in range(o_ref.shape[0]):", "    o_ref[i] = 1.5"]),
    ("pltpu.store", program("pltpu.store(o_ref, 1.5)"), ["pltpu.store(o_ref, jnp.full(o_ref.shape, 1.5))"]),
    ("a named index", program(f"{COPY}\no_ref.set(1.5, idx=(3, slice(8, 16)))"), ["o_ref.set(jnp.full((8,), 1.5), idx=(3, slice(8, 16)))"]),
    ("ref.set", program("o_ref.set(1.5)"), ["o_ref.set(jnp.full(o_ref.shape, 1.5))"]),
    (
        "of another dtype too",
        program("o_ref[...] = jnp.sum(x_ref[...], axis=1)", out="bf16[8,1]"),
        ["o_ref[...] = jnp.sum(x_ref[...], axis=1, keepdims=True).astype(o_ref.dtype)"],
    ),
]

GUESSED_SHAPES = [
    ("a row for all", program("o_ref[...] = x_ref[0]"), ["o_ref[...] = x_ref[...]"]),
    ("a row of another", program("o_ref[...] = x_ref[0]", x="f32[4,128]"), ["o_ref[...] = jnp.broadcast_to(x_ref[0], o_ref.shape)"]),
    ("a long row", program("o_ref[...] = x_ref[...]", x="f32[1024]"), ["o_ref[...] = x_ref[...].reshape(o_ref.shape)"]),
    ("all for a row", program("o_ref[0] = x_ref[...]"), ["o_ref[...] = x_ref[...]"]),
]

DTYPES = [
    ("a wider float", program("o_ref[...] = x_ref[...] * 2", out="bf16[8,128]"), ["o_ref[...] = (x_ref[...] * 2).astype(o_ref.dtype)"]),
    ("a truth", program("o_ref[...] = x_ref[...] > 0"), ["o_ref[...] = (x_ref[...] > 0).astype(o_ref.dtype)"]),
    ("zeros", program("o_ref[...] = jnp.zeros((8, 128))", out="bf16[8,128]"), ["o_ref[...] = jnp.zeros((8, 128), dtype=o_ref.dtype)"]),
    (
        "zeros of a dtype",
        program("o_ref[...] = jnp.zeros((8, 128), jnp.float32)", out="bf16[8,128]"),
        ["o_ref[...] = jnp.zeros((8, 128), o_ref.dtype)"],
    ),
    ("full of an int", program("o_ref[...] = jnp.full(o_ref.shape, 1)"), ["o_ref[...] = jnp.full(o_ref.shape, 1, dtype=o_ref.dtype)"]),
    ("an int in SMEM", program("o_ref[0, 0] = 1", **ONE, **SMEM_OUT), ["o_ref[0, 0] = 1.0"]),
    (
        "added",
        program("o_ref[...] = jnp.zeros_like(o_ref)\no_ref[...] += x_ref[...]", out="bf16[8,128]"),
        ["o_ref[...] += x_ref[...].astype(o_ref.dtype)"],
    ),
    (
        "pltpu.store",
        program("pltpu.store(o_ref, x_ref[...])", x="i32[32,128]", out="i8[32,128]"),
        ["pltpu.store(o_ref, x_ref[...].astype(o_ref.dtype))"],
    ),
    ("an int scalar in VMEM", program("o_ref[0, 0] = 1", **ONE), ["o_ref[...] = jnp.full(o_ref.shape, 1.0)"]),
    (
        "an int scalar in scratch",
        program("s_ref[0] = 1\no_ref[...] = x_ref[...] * s_ref[0]", scratch_shapes="[pltpu.VMEM((1,), jnp.float32)]"),
        ["s_ref[0] = 1.0", "scratch_shapes=[pltpu.SMEM((1,), jnp.float32)],"],
    ),
]

LOSSY_DTYPES = [
    ("a float in ints", program("o_ref[...] = x_ref[...]", out="i32[8,128]"), ["o_ref[...] = x_ref[...].astype(o_ref.dtype)"]),
    ("a float in truths", program("o_ref[...] = x_ref[...]", out="bool[8,128]"), ["o_ref[...] = x_ref[...].astype(o_ref.dtype)"]),
]

SAFE = [
    *(("store-shape-mismatch", *case) for case in SHAPES),
    *(("store-dtype-mismatch", *case) for case in DTYPES),
]
UNSAFE = [
    *(("store-shape-mismatch", *case) for case in GUESSED_SHAPES),
    *(("store-dtype-mismatch", *case) for case in LOSSY_DTYPES),
]

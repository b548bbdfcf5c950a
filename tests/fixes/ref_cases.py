"""Refs, views and values taken for one another, indices, narrow scalars, old names: (what, program, the lines that the first fix adds)."""

from __future__ import annotations

from fixes.kernels import program

COPY = "o_ref[...] = x_ref[...]"
ROWS = {
    "in_specs": "[pl.BlockSpec((8, 128), lambda i: (i, 0), pltpu.VMEM)]",
    "out_specs": "pl.BlockSpec((8, 128), lambda i: (i, 0))",
}
TRACED = "@pl.loop(0, 8)\ndef _(i):\n    {}".format

REFS_AS_ARRAYS = [
    ("stored", program("o_ref[...] = x_ref[...] * 2\no_ref[...] = x_ref"), ["o_ref[...] = x_ref[...]"]),
    ("an operand", program("o_ref[...] = x_ref[...] + x_ref"), ["o_ref[...] = x_ref[...] + x_ref[...]"]),
    ("both operands", program("o_ref[...] = x_ref * y_ref", y="f32[8,128]"), ["o_ref[...] = x_ref[...] * y_ref[...]"]),
    ("negated", program("o_ref[...] = -x_ref"), ["o_ref[...] = -x_ref[...]"]),
    ("a method", program("o_ref[...] = x_ref.astype(jnp.float32)"), ["o_ref[...] = x_ref[...].astype(jnp.float32)"]),
    ("given to a function", program("o_ref[...] = jnp.exp(x_ref)"), ["o_ref[...] = jnp.exp(x_ref[...])"]),
    (
        "given twice",
        program("o_ref[...] = jnp.where(x_ref[...] > 0, x_ref, y_ref)", y="f32[8,128]"),
        ["o_ref[...] = jnp.where(x_ref[...] > 0, x_ref[...], y_ref[...])"],
    ),
    ("a view", program(f"{COPY}\no_ref[0] = x_ref.at[0]"), ["o_ref[0] = x_ref[0]"]),
    ("augmented", program(f"{COPY}\no_ref += x_ref[...]"), ["o_ref[...] += x_ref[...]"]),
]

OTHERS = [
    (
        "removed-api",
        program("o_ref[...] = pltpu.repeat(x_ref[...], 2, axis=1)", out="f32[8,256]"),
        ["o_ref[...] = jnp.concatenate([x_ref[...]] * 2, axis=1)"],
    ),
    ("ref-used-as-array", program("x = x_ref\no_ref[...] = x * 2"), ["x = x_ref[...]"]),
    (
        "memory-space-positional",
        program(COPY, x="f32[16,128]", out="f32[16,128]", grid="(2,)", **ROWS),
        ["in_specs=[pl.BlockSpec((8, 128), lambda i: (i, 0), memory_space=pltpu.VMEM)],"],
    ),
    ("ref-at-item-assignment", program(f"{COPY}\no_ref.at[0] = x_ref[1]"), ["o_ref[0] = x_ref[1]"]),
    ("copy-operand-not-ref", program("pltpu.sync_copy(x_ref[0:8], o_ref)", x="f32[16,128]"), ["pltpu.sync_copy(x_ref.at[0:8], o_ref)"]),
    ("copy-operand-not-ref", program("pltpu.sync_copy(x_ref[...], o_ref)"), ["pltpu.sync_copy(x_ref, o_ref)"]),
    (
        "copy-operand-not-ref",
        program(
            "copy = pltpu.make_async_copy(x_ref, o_ref, s_ref[0])\ncopy.start()\ncopy.wait()",
            scratch_shapes="[pltpu.SemaphoreType.DMA((1,))]",
        ),
        ["copy = pltpu.make_async_copy(x_ref, o_ref, s_ref.at[0])"],
    ),
    ("ref-transpose", program("o_ref[...] = x_ref.T[...]", out="f32[128,8]"), ["o_ref[...] = x_ref[...].T"]),
    (
        "ref-transpose",
        program("o_ref[...] = x_ref.transpose((1, 0))[...]", out="f32[128,8]"),
        ["o_ref[...] = x_ref[...].transpose((1, 0))"],
    ),
    ("value-dynamic-slice", program(TRACED("o_ref[i] = x_ref[...][i]")), ["o_ref[i] = x_ref[i]"]),
    ("value-dynamic-slice", program(f"x = x_ref[...]\n{TRACED('o_ref[i] = x[i] * 2')}"), ["o_ref[i] = x_ref[i] * 2"]),
    (
        "dynamic-python-slice",
        program(TRACED("o_ref[i] = jnp.sum(x_ref[i * 8 : (i + 1) * 8], axis=0)"), x="f32[64,128]"),
        ["o_ref[i] = jnp.sum(x_ref[pl.ds(i * 8, 8)], axis=0)"],
    ),
    (
        "dynamic-python-slice",
        program(TRACED("start = i * 8\n    o_ref[i] = jnp.sum(x_ref[start : start + 8, :], axis=0)"), x="f32[64,128]"),
        ["o_ref[i] = jnp.sum(x_ref[pl.ds(start, 8), :], axis=0)"],
    ),
    ("float-index", program(f"{COPY}\no_ref[0] = x_ref[x_ref.shape[0] / 2]"), ["o_ref[0] = x_ref[x_ref.shape[0] // 2]"]),
    ("float-index", program(f"{COPY}\nhalf = x_ref.shape[0] / 2\no_ref[0] = x_ref[half]"), ["half = x_ref.shape[0] // 2"]),
    ("float-index", program(f"{COPY}\no_ref[0] = x_ref[2.0]"), ["o_ref[0] = x_ref[2]"]),
    (
        "mask-shape-mismatch",
        program("pltpu.store(o_ref, x_ref[...], mask=x_ref[0:1] > 0)"),
        ["pltpu.store(o_ref, x_ref[...], mask=jnp.broadcast_to(x_ref[0:1] > 0, o_ref.shape))"],
    ),
    (
        "mask-shape-mismatch",
        program("pltpu.store(o_ref, x_ref[...], mask=True)"),
        ["pltpu.store(o_ref, x_ref[...], mask=jnp.full(o_ref.shape, True))"],
    ),
    ("addupdate-not-lowered", program(f"{COPY}\njax.ref.addupdate(o_ref, ..., x_ref[...])"), ["o_ref[...] += x_ref[...]"]),
    ("addupdate-not-lowered", program(f"{COPY}\no_ref.addupdate(x_ref[0], 0)"), ["o_ref[0] += x_ref[0]"]),
    (
        "narrow-vector-to-scalar",
        program("o_ref[...] = jnp.max(x_ref[...]) + jnp.zeros_like(o_ref)", x="bf16[16,128]"),
        ["o_ref[...] = jnp.max(x_ref[...].astype(jnp.float32)) + jnp.zeros_like(o_ref)"],
    ),
    (
        "narrow-vector-to-scalar",
        program("x = x_ref[...]\no_ref[...] = x * x[0, 0]", x="bf16[16,128]", out="bf16[16,128]"),
        ["o_ref[...] = x * x[0:1, 0:1]"],
    ),
    (
        "narrow-vector-to-scalar",
        program("x = x_ref[...]\no_ref[...] = x / jnp.max(x)", x="bf16[16,128]", out="bf16[16,128]"),
        ["o_ref[...] = x / jnp.max(x.astype(jnp.float32)).astype(x.dtype)"],
    ),
    (
        "narrow-vmem-scalar-load",
        program("o_ref[...] = x_ref[...] * y_ref[0, 0]", x="bf16[16,128]", y="bf16[1,1]", out="bf16[16,128]"),
        ["o_ref[...] = x_ref[...] * y_ref[0:1, 0:1]"],
    ),
    ("removed-api", program("o_ref[...] = pl.load(x_ref, (pl.ds(0, 8), slice(None)))"), ["o_ref[...] = x_ref[pl.ds(0, 8), :]"]),
    ("removed-api", program("pl.store(o_ref, (slice(None), slice(0, 128)), x_ref[...] * 2)"), ["o_ref[:, 0:128] = x_ref[...] * 2"]),
    (
        "removed-api",
        program("pl.store(o_ref, (...,), x_ref[...], mask=x_ref[...] > 0)"),
        ["pltpu.store(o_ref, x_ref[...], mask=x_ref[...] > 0)"],
    ),
    (
        "removed-api",
        program(f"{COPY}\nold = pl.swap(o_ref, (0, slice(None)), x_ref[1])\no_ref[2] = old"),
        ["old = o_ref.swap(x_ref[1], (0, slice(None)))"],
    ),
    (
        "removed-api",
        program("pltpu.sync_copy(x_ref, o_ref)", in_specs="[pl.BlockSpec(memory_space=pltpu.ANY)]"),
        ["in_specs=[pl.BlockSpec(memory_space=pl.ANY)],"],
    ),
    (
        "removed-api",
        program(COPY, in_specs="[pl.BlockSpec(memory_space=pltpu.TPUMemorySpace.VMEM)]"),
        ["in_specs=[pl.BlockSpec(memory_space=pltpu.MemorySpace.VMEM)],"],
    ),
    (
        "removed-api",
        program(COPY, compiler_params="pltpu.TPUCompilerParams(dimension_semantics=())"),
        ["compiler_params=pltpu.CompilerParams(dimension_semantics=()),"],
    ),
]

OVERWRITTEN = [
    (
        "copy-operand-not-ref",
        program("rows = x_ref[0:8]\npltpu.sync_copy(rows, o_ref)", x="f32[16,128]"),
        ["pltpu.sync_copy(x_ref.at[0:8], o_ref)"],
    ),
    (
        "value-dynamic-slice",
        program(f"x = x_ref[...]\nx_ref[0] = x_ref[1]\n{TRACED('o_ref[i] = x[i] * 2')}"),
        ["o_ref[i] = x_ref[i] * 2"],
    ),
]

SAFE = [
    *(("ref-used-as-array", *case) for case in REFS_AS_ARRAYS),
    *((rule, lines[0], source, lines) for rule, source, lines in OTHERS),
]
UNSAFE = [
    *((rule, lines[0], source, lines) for rule, source, lines in OVERWRITTEN),
]

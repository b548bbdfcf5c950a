"""Operations in the wrong form or dtype: (rule, the body of a kernel, what `program` is told, the lines that the first fix adds)."""

from __future__ import annotations

import jax
from fixes.kernels import program

NEW = jax.__version_info__ >= (0, 12)
HALF = {"x": "bf16[128,128]", "y": "bf16[128,128]", "out": "bf16[128,128]"}
BYTES = {"x": "i8[128,128]", "y": "i8[128,128]", "out": "i8[128,128]"}
WHOLE = {"x": "i32[128,128]", "y": "i32[128,128]", "out": "i32[128,128]"}
FULL = {"x": "f32[128,128]", "y": "f32[128,128]", "out": "f32[128,128]"}
ROUND = ", preferred_element_type=jnp.float32)"
COPY = "o_ref[...] = x_ref[...]"
CHIPS = {"matmul-acc-kind": "v5e", "matmul-i8-old": "v4", "trailing-unit-dim-packed": "v5e"}
"""The chip that refuses what a rule is about, where not all do."""

NUMBERS = "(((1,), (0,)), ((), ()))"

PRODUCTS = [
    ("matmul-acc-32bit", "o_ref[...] = x_ref[...] @ y_ref[...]", HALF, [f"o_ref[...] = jnp.dot(x_ref[...], y_ref[...]{ROUND}.astype(o_ref.dtype)"]),
    ("matmul-acc-32bit", "x = x_ref[...]\no_ref[...] = 2 * (x @ x)", HALF, [f"o_ref[...] = 2 * jnp.dot(x, x{ROUND}.astype(x.dtype)"]),
    ("matmul-acc-32bit", "x = x_ref[...]\no_ref[...] = (x + 1) @ (x.T)", HALF, [f"o_ref[...] = jnp.dot((x + 1), (x.T){ROUND}.astype(o_ref.dtype)"]),
    ("matmul-acc-32bit", "o_ref[...] = (\n    x_ref[...]\n    @ y_ref[...]\n)", HALF, [
        "o_ref[...] = jnp.dot(", "x_ref[...],", f"y_ref[...]{ROUND[:-1]}", ").astype(o_ref.dtype)",
    ]),
    ("matmul-acc-32bit", "x = x_ref[...]\no_ref[...] = x.dot(y_ref[...])", HALF, [f"o_ref[...] = x.dot(y_ref[...]{ROUND}.astype(o_ref.dtype)"]),
    ("matmul-acc-32bit", "o_ref[...] = jnp.einsum('ij,kj->ik', x_ref[...], y_ref[...])", HALF, [
        f"o_ref[...] = jnp.einsum('ij,kj->ik', x_ref[...], y_ref[...]{ROUND}.astype(o_ref.dtype)",
    ]),
    ("matmul-acc-32bit", "o_ref[...] = jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.bfloat16)", HALF, [
        f"o_ref[...] = jnp.dot(x_ref[...], y_ref[...]{ROUND}.astype(o_ref.dtype)",
    ]),
    ("matmul-acc-32bit", f"o_ref[...] = jax.lax.dot_general(\n    x_ref[...],\n    y_ref[...],  # the weights\n    {NUMBERS},\n)", HALF, [
        "preferred_element_type=jnp.float32,", ").astype(o_ref.dtype)",
    ]),
    ("matmul-all-contracted", "o_ref[...] = jnp.full(o_ref.shape, jnp.vdot(x_ref[...], y_ref[...]))", FULL, [
        "o_ref[...] = jnp.full(o_ref.shape, jnp.sum(x_ref[...] * y_ref[...]))",
    ]),
    ("matmul-all-contracted", "o_ref[...] = jnp.full(o_ref.shape, jnp.einsum('ij,ij->', x_ref[...] + 1, y_ref[...]))", FULL, [
        "o_ref[...] = jnp.full(o_ref.shape, jnp.sum((x_ref[...] + 1) * y_ref[...]))",
    ]),
    ("matmul-all-contracted", "o_ref[...] = jnp.full(o_ref.shape, x_ref[0] @ y_ref[1])", HALF, [
        "o_ref[...] = jnp.full(o_ref.shape, jnp.sum(x_ref[0].astype(jnp.float32) * y_ref[1]).astype(x_ref.dtype))",
    ]),
    ("matmul-bf16-highest", f"o_ref[...] = jnp.dot(x_ref[...], y_ref[...], precision='highest'{ROUND}.astype(o_ref.dtype)", HALF, [
        f"o_ref[...] = jnp.dot(x_ref[...], y_ref[...]{ROUND}.astype(o_ref.dtype)",
    ]),
    ("matmul-acc-kind", f"o_ref[...] = jnp.dot(x_ref[...], y_ref[...]{ROUND}", BYTES | {"out": "f32[128,128]"}, [
        "o_ref[...] = jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.int32).astype(o_ref.dtype)",
    ]),
    ("matmul-bf16-single-row-rhs", "o_ref[:, 0:1] = jax.lax.dot_general(x_ref[...], y_ref[...], (((1,), (1,)), ((), ())))", HALF | {"x": "f32[128,128]", "y": "bf16[1,128]"}, []),
]  # fmt: skip

DTYPES = [
    ("bf16-math", "x = x_ref[...]\no_ref[...] = x * x % 3", HALF, ["o_ref[...] = ((x * x).astype(jnp.float32) % 3).astype(o_ref.dtype)"]),
    ("bf16-math", "o_ref[...] = 1 - jnp.log2(x_ref[...])", HALF, ["o_ref[...] = 1 - jnp.log2(x_ref[...].astype(jnp.float32)).astype(x_ref.dtype)"]),
    ("bf16-math", "o_ref[...] = jnp.arctan2(x_ref[...], y_ref[...])", HALF, [
        "o_ref[...] = jnp.arctan2(x_ref[...].astype(jnp.float32), y_ref[...]).astype(o_ref.dtype)",
    ]),
    ("bf16-math", "x = x_ref[...]\no_ref[...] = x / jnp.std(x)", HALF, ["o_ref[...] = x / jnp.std(x.astype(jnp.float32)).astype(x.dtype)"]),
    ("isfinite-bf16", "x = x_ref[...]\no_ref[...] = jnp.where(jnp.isfinite(x), x, 0)", HALF, ["o_ref[...] = jnp.where(jnp.isfinite(x.astype(jnp.float32)), x, 0)"]),
    ("isfinite-bf16", "x = x_ref[...]\no_ref[...] = x - jax.nn.logsumexp(x, axis=1, keepdims=True)", HALF, [
        "o_ref[...] = x - jax.nn.logsumexp(x.astype(jnp.float32), axis=1, keepdims=True).astype(x.dtype)",
    ]),
    ("argmax-dtype", "o_ref[...] = x_ref[...] + jnp.argmax(y_ref[...], axis=1, keepdims=True)", WHOLE | {"y": "i8[128,128]"}, [
        "o_ref[...] = x_ref[...] + jnp.argmax(y_ref[...].astype(jnp.float32), axis=1, keepdims=True)",
    ]),
    ("argmax-dtype", "x = x_ref[...]\no_ref[...] = jnp.select([x > 1, x > 0], [x, -x], 0.5)", FULL, [
        "o_ref[...] = jnp.where(x > 1, x, jnp.where(x > 0, -x, 0.5))",
    ]),
    ("reduction-dtype", "x = x_ref[...]\no_ref[...] = x & x.max(axis=1, keepdims=True)", BYTES, [
        "o_ref[...] = x & x.astype(jnp.int32).max(axis=1, keepdims=True)",
    ]),
    ("reduction-dtype", "o_ref[...] = x_ref[...] + jnp.max(y_ref[...], axis=0, keepdims=True)", WHOLE | {"y": "bool[128,128]"}, [
        "o_ref[...] = x_ref[...] + jnp.max(y_ref[...].astype(jnp.int32), axis=0, keepdims=True)",
    ]),
    ("reduction-dtype", "o_ref[...] = jnp.full(o_ref.shape, jnp.sum(x_ref[...].astype(jnp.uint32)).astype(jnp.int32))", WHOLE, [
        "o_ref[...] = jnp.full(o_ref.shape, jnp.sum(x_ref[...].astype(jnp.uint32).astype(jnp.int32)).astype(jnp.int32))",
    ]),
    ("i8-arithmetic", "o_ref[...] = x_ref[...] + y_ref[...]", BYTES, ["o_ref[...] = (x_ref[...].astype(jnp.int32) + y_ref[...]).astype(o_ref.dtype)"]),
    ("i8-arithmetic", "o_ref[...] = -x_ref[...]", BYTES, ["o_ref[...] = (-x_ref[...].astype(jnp.int32)).astype(o_ref.dtype)"]),
    ("i8-arithmetic", f"{COPY}\no_ref[...] += y_ref[...] & 3", BYTES, ["o_ref[...] = (o_ref[...].astype(jnp.int32) + (y_ref[...] & 3)).astype(o_ref.dtype)"]),
    ("i8-arithmetic", "x = x_ref[...]\no_ref[...] = jnp.where(jnp.maximum(x, 2) == x, x, 0)", BYTES, [
        "o_ref[...] = jnp.where(jnp.maximum(x.astype(jnp.int32), 2).astype(x.dtype) == x, x, 0)",
    ]),
    ("power-integer-exponent", "o_ref[...] = x_ref[...] ** jnp.arange(128)", FULL, ["o_ref[...] = x_ref[...] ** jnp.arange(128).astype(jnp.float32)"]),
    ("reciprocal-dtype", "o_ref[...] = x_ref[...] * pl.reciprocal(jnp.sum(x_ref[...]))", {}, [
        "o_ref[...] = x_ref[...] * (1.0 / jnp.sum(x_ref[...]))",
    ]),
    ("reciprocal-dtype", "o_ref[...] = x_ref[...] * pl.reciprocal(y_ref[...])", FULL | {"y": "i8[128,128]"}, [
        "o_ref[...] = x_ref[...] * pl.reciprocal(y_ref[...].astype(jnp.float32))",
    ]),
    ("bool-reshape", "m = x_ref[...] > 0\no_ref[...] = jnp.where(m.reshape(1024), 1.0, 0.0)", {"out": "f32[1024]"}, [
        "o_ref[...] = jnp.where(m.astype(jnp.int32).reshape(1024) != 0, 1.0, 0.0)",
    ]),
    ("trailing-unit-dim-packed", "x = x_ref[...]\no_ref[...] = x[..., None]", {"x": "bf16[16,256]", "out": "bf16[16,256,1]"}, [
        "o_ref[...] = x.astype(jnp.float32)[..., None].astype(jnp.bfloat16)",
    ]),
    ("bool-reshape", "m = x_ref[...] > 0\no_ref[...] = m[..., None] + y_ref[...]", {"y": "f32[8,128,1]", "out": "f32[8,128,1]"}, [
        "o_ref[...] = (m.astype(jnp.int32)[..., None] != 0) + y_ref[...]",
    ]),
]  # fmt: skip

FORMS = [
    ("unimplemented-primitive", "o_ref[...] = jnp.arctan(x_ref[...])", {}, ["o_ref[...] = jnp.arctan2(x_ref[...], 1.0)"]),
    ("unimplemented-primitive", "o_ref[...] = 2 * jnp.array(x_ref[...])", {}, ["o_ref[...] = 2 * x_ref[...]"]),
    ("unimplemented-primitive", "o_ref[...] = jax.lax.optimization_barrier(x_ref[...] + 1) * 2", {}, ["o_ref[...] = (x_ref[...] + 1) * 2"]),
    ("unimplemented-primitive", "x = x_ref[...]\no_ref[...] = x.at[0].set(x[1])", {}, [
        "o_ref[...] = jnp.where(jax.lax.broadcasted_iota(jnp.int32, x.shape, 0) == 0, x[1], x)",
    ]),
    ("unimplemented-primitive", "o_ref[...] = 2 * x_ref[...].at[-1, 2:4].add(5.0)", {}, [
        "o_ref[...] = 2 * (x_ref[...] + jnp.where((jax.lax.broadcasted_iota(jnp.int32, x_ref.shape, 0) == x_ref.shape[0] - 1) & (jax.lax.broadcasted_iota(jnp.int32, "
        "x_ref.shape, 1) >= 2) & (jax.lax.broadcasted_iota(jnp.int32, x_ref.shape, 1) < 4), 5.0, 0))",
    ]),
    ("iota-float", "o_ref[...] = x_ref[...] + jnp.arange(128, dtype=jnp.float32)", {}, ["o_ref[...] = x_ref[...] + jnp.arange(128).astype(jnp.float32)"]),
    ("iota-float", "o_ref[...] = x_ref[...] + jnp.arange(2.0, 130.0)", {}, ["o_ref[...] = x_ref[...] + jnp.arange(2, 130).astype(jnp.float32)"]),
    ("iota-float", "o_ref[...] = x_ref[...] * jax.lax.broadcasted_iota(jnp.float32, (8, 128), 1)", {}, [
        "o_ref[...] = x_ref[...] * jax.lax.broadcasted_iota(jnp.int32, (8, 128), 1).astype(jnp.float32)",
    ]),
    ("iota-float", "o_ref[...] = x_ref[...] * jax.lax.broadcasted_iota(dtype=jnp.float32, shape=(8, 128), dimension=1)", {}, [
        "o_ref[...] = x_ref[...] * jax.lax.broadcasted_iota(dtype=jnp.int32, shape=(8, 128), dimension=1).astype(jnp.float32)",
    ]),
    ("checkpoint", "o_ref[...] = jax.checkpoint(jnp.sin)(x_ref[...])", {}, ["o_ref[...] = jnp.sin(x_ref[...])"]),
    ("select-n-cases", "x = x_ref[...]\ni = y_ref[...]\no_ref[...] = jax.lax.select_n(i, x, x * 2, -x)", {"y": "i32[8,128]"}, [
        "o_ref[...] = jnp.where(i == 0, x, jnp.where(i == 1, x * 2, -x))",
    ]),
    ("roll-args", "o_ref[...] = pltpu.roll(x_ref[...], -1, 1)", {}, ["o_ref[...] = jnp.roll(x_ref[...], -1, 1)"]),
    ("roll-args", "o_ref[...] = pltpu.roll(x_ref[...], shift=1, axis=-1)", {}, ["o_ref[...] = jnp.roll(x_ref[...], shift=1, axis=-1)"]),
    ("strided-value-slice", "x = x_ref[...]\no_ref[0:4] = x[::2]\no_ref[4:8] = x[0:4]", {}, ["o_ref[0:4] = x_ref[::2]"]),
    ("value-dynamic-slice", "i = y_ref[0]\nx = x_ref[...]\no_ref[...] = jax.lax.dynamic_slice_in_dim(x, i, 8)", {
        "x": "f32[32,128]", "y": "i32[4]", "in_specs": "[pl.BlockSpec(), pl.BlockSpec(memory_space=pltpu.SMEM)]",
    }, ["o_ref[...] = x_ref[pl.ds(i, 8)]"]),
    ("value-dynamic-slice", "i = y_ref[0]\no_ref[0] = jax.lax.dynamic_index_in_dim(x_ref[...], i, 0, False)\no_ref[1:8] = x_ref[1:8]", {
        "y": "i32[4]", "in_specs": "[pl.BlockSpec(), pl.BlockSpec(memory_space=pltpu.SMEM)]",
    }, ["o_ref[0] = x_ref[i]"]),
    ("value-dynamic-slice", "i = y_ref[0]\no_ref[...] = jax.lax.dynamic_slice(x_ref[...], (i, 0), (8, 128))", {
        "x": "f32[32,128]", "y": "i32[4]", "in_specs": "[pl.BlockSpec(), pl.BlockSpec(memory_space=pltpu.SMEM)]",
    }, ["o_ref[...] = x_ref[pl.ds(i, 8), pl.ds(0, 128)]"]),
    ("masked-load", "o_ref[...] = pltpu.load(x_ref, mask=x_ref[...] > 0)", {}, ["o_ref[...] = jnp.where(x_ref[...] > 0, pltpu.load(x_ref), 0)"]),
    ("masked-store-not-32-bit", "x = x_ref[...]\no_ref[...] = x\npltpu.store(o_ref.at[0:16], -x, mask=x > 0)", {"x": "bf16[16,128]", "out": "bf16[16,128]"}, [
        "o_ref[0:16] = jnp.where(x > 0, -x, o_ref[0:16])",
    ]),
    ("ref-index-bounds", f"{COPY}\no_ref[0] = x_ref[-1]", {}, ["o_ref[0] = x_ref[7]"]),
    ("kernel-returns-value", "x = x_ref[...]\nreturn x + 1", {}, ["o_ref[...] = x + 1"]),
    ("debug-print-form", f"{COPY}\nn = x_ref.shape[0]\npl.debug_print('n={{n}} k={{k}}', k=1, n=jnp.int32(n))", {}, ["pl.debug_print('n={} k={}', jnp.int32(n), 1)"]),
]  # fmt: skip

FOR_ONE_VERSION = [
    ("jnp-empty", "x = jnp.empty((8, 128), jnp.float32)\no_ref[...] = x * 0 + x_ref[...]", {}, ["x = jnp.zeros((8, 128), jnp.float32)"]),
] if NEW else [
    ("argmax-dtype", "o_ref[...] = x_ref[...] * jnp.argmax(x_ref[...], axis=1, keepdims=True)", HALF, [
        "o_ref[...] = x_ref[...] * jnp.argmax(x_ref[...].astype(jnp.float32), axis=1, keepdims=True)",
    ]),
    ("reciprocal-dtype", "o_ref[...] = pl.reciprocal(x_ref[...])", HALF, ["o_ref[...] = pl.reciprocal(x_ref[...].astype(jnp.float32)).astype(o_ref.dtype)"]),
    ("matmul-precision", "o_ref[...] = jnp.dot(x_ref[...], y_ref[...], precision='high')", FULL, ["o_ref[...] = jnp.dot(x_ref[...], y_ref[...], precision=\"highest\")"]),
]  # fmt: skip

ROUNDED = [
    ("unimplemented-primitive", "o_ref[...] = 2 * jnp.expm1(x_ref[...] + 1)", {}, ["o_ref[...] = 2 * (jnp.exp(x_ref[...] + 1) - 1)"]),
    ("unimplemented-primitive", "x = x_ref[...]\no_ref[...] = jnp.sinh(x)", {}, ["o_ref[...] = (jnp.exp(x) - jnp.exp(-x)) / 2"]),
    ("unimplemented-primitive", "o_ref[...] = x_ref[...] * jax.lax.erfc(x_ref[...])", {}, ["o_ref[...] = x_ref[...] * (1 - jax.lax.erf(x_ref[...]))"]),
    ("unimplemented-primitive", "x = x_ref[...]\no_ref[...] = jax.nn.gelu(x, approximate=False)", {}, ["o_ref[...] = 0.5 * x * (1 + jax.lax.erf(0.7071067811865476 * x))"]),
    ("unimplemented-primitive", "x = x_ref[...]\no_ref[...] = jax.nn.elu(x)", {}, ["o_ref[...] = jnp.where(x > 0, x, jnp.exp(x) - 1)"]),
    ("unimplemented-primitive", "o_ref[...] = jnp.cumsum(x_ref[...], axis=0)", {}, ["o_ref[...] = jnp.dot(jnp.tri(x_ref.shape[0]), x_ref[...], precision=\"highest\")"]),
    ("unimplemented-primitive", "o_ref[...] = jnp.cumsum(x_ref[...], axis=-1)", {}, ["o_ref[...] = jnp.dot(x_ref[...], jnp.tri(x_ref.shape[1]).T, precision=\"highest\")"]),
    ("matmul-precision", "o_ref[...] = jnp.dot(x_ref[...], y_ref[...], precision=('highest', 'default'))", FULL, ["o_ref[...] = jnp.dot(x_ref[...], y_ref[...])"]),
    ("matmul-acc-32bit", "o_ref[...] = x_ref[...] @ y_ref[...]", BYTES, ["o_ref[...] = jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.int32)"]),
    ("matmul-acc-32bit", "o_ref[...] = x_ref[...] @ y_ref[...]", BYTES | {"out": "i32[128,128]"}, ["o_ref[...] = jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.int32)"]),
    ("matmul-i32", "o_ref[...] = x_ref[...] @ y_ref[...]", WHOLE, [
        f"o_ref[...] = jnp.dot(x_ref[...].astype(jnp.float32), y_ref[...].astype(jnp.float32){ROUND}.astype(o_ref.dtype)",
    ]),
    ("matmul-i8-old", "o_ref[...] = jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.int32)", BYTES | {"out": "i32[128,128]"}, [
        f"o_ref[...] = jnp.dot(x_ref[...].astype(jnp.bfloat16), y_ref[...].astype(jnp.bfloat16){ROUND}.astype(o_ref.dtype)",
    ]),
    ("matmul-unsigned", "x = x_ref[...].astype(jnp.uint8)\no_ref[...] = jnp.dot(x, x, preferred_element_type=jnp.int32)", WHOLE, [
        f"o_ref[...] = jnp.dot(x.astype(jnp.bfloat16), x.astype(jnp.bfloat16){ROUND}.astype(o_ref.dtype)",
    ]),
    ("value-item-assignment", "x = x_ref[...]\nx[0] = 1.0\no_ref[...] = x", {}, ["x = jnp.where(jax.lax.broadcasted_iota(jnp.int32, x.shape, 0) == 0, 1.0, x)"]),
    ("value-item-assignment", "x = x_ref[...]\nx[:, 0] += 1.0\no_ref[...] = x", {}, ["x = x + jnp.where(jax.lax.broadcasted_iota(jnp.int32, x.shape, 1) == 0, 1.0, 0)"]),
    ("kernel-returns-value", f"{COPY}\nreturn o_ref[...]", {}, []),
    ("unaligned-dynamic-lane", "i = y_ref[0] * 3\no_ref[...] = x_ref[:, pl.ds(i, 128)]", {
        "x": "f32[8,512]", "y": "i32[4]", "in_specs": "[pl.BlockSpec(), pl.BlockSpec(memory_space=pltpu.SMEM)]",
    }, ["o_ref[...] = x_ref[:, pl.ds(pl.multiple_of(i, 128), 128)]"]),
]  # fmt: skip

SAFE = [
    (rule, body.partition("\n")[0], program(body, **told), lines)
    for rule, body, told, lines in [*PRODUCTS, *DTYPES, *FORMS, *FOR_ONE_VERSION]
    if lines
]
UNSAFE = [(rule, body.partition("\n")[0], program(body, **told), lines) for rule, body, told, lines in ROUNDED]

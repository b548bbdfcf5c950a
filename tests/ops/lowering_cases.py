"""What JAX's lowering has, and what it has not."""

from __future__ import annotations

from call.modules import module
from ops.modules import NEW, Case, binary, steps, unary

I32, BF16, F16, I8, I16, U8, U32, BOOL = (f"{dtype}[8,128]" for dtype in ("i32", "bf16", "f16", "i8", "i16", "u8", "u32", "bool"))
ONE = "f32[8,1]"


def before(rule: str) -> str | None:
    """The rule for what JAX refuses before 0.12."""
    return None if NEW else rule


_PRIMITIVES: list[Case] = [
    (call, "unimplemented-primitive", unary(call))
    for call in (
        "jnp.sort(x)",
        "jnp.cumsum(x, axis=1)",
        "jax.lax.cumsum(x, axis=0)",
        "jnp.argsort(x).astype(jnp.float32)",
        "jnp.median(x) + x",
        "jax.scipy.special.digamma(x)",
        "x + jnp.linalg.cholesky(jnp.zeros((8, 8)))[0, 0]",
        "jnp.cbrt(x)",
        "x.at[0].set(1.0)",
        "x.at[0, 0].add(1.0)",
        "jnp.roll(x, 1, axis=1).cumprod(1)",
        "jax.lax.sort(x)",
        "x.sort()",
        "jnp.arccosh(x)",
        "jnp.broadcast_to(jnp.polymul(x[0], x[1])[None, :128], x.shape)",
    )
]
_PRIMITIVES += [
    (call, None, unary(call))
    for call in (
        "jnp.exp(x)",
        "jnp.roll(x, 1, axis=1)",
        "jax.nn.softmax(x)",
        "jnp.tanh(x)",
        "jax.nn.gelu(x)",
        "jnp.clip(x, 0.0, 1.0)",
        "jnp.where(x > 0, x, -x)",
        "jnp.mean(x, axis=1, keepdims=True) + x",
        "jnp.var(x) + x",
        "jnp.pad(x, ((0, 8), (0, 0)))[:8]",
        "jnp.tile(x, (2, 1))[8:]",
        "jnp.concatenate([x[4:], x[:4]], axis=0)",
        "jnp.broadcast_to(jnp.max(x, axis=0), x.shape)",
        "jnp.floor(x) % 2",
        "jnp.isfinite(x).astype(jnp.float32)",
        "jnp.take_along_axis(x, jnp.zeros(x.shape, jnp.int32), axis=1)",
    )
]
_PRIMITIVES += [
    ("nothing uses the result", None, unary("x\njnp.sort(x)")),
    ("only its shape is used", None, unary("x + jnp.sort(x).shape[0]")),
    ("used in a branch", "unimplemented-primitive", module("@pl.when(x_ref[0, 0] > 0)\ndef _():\n    o_ref[...] = jnp.sort(x_ref[...])")),
    (
        "used by a function called",
        "unimplemented-primitive",
        unary("helper(x)", top="def helper(x):\n    return jnp.sort(x)", result="{} + 0"),
    ),
    ("used by a loop's carry", "unimplemented-primitive", unary("jax.lax.fori_loop(0, 2, lambda i, acc: jnp.sort(acc), x)")),
    ("a partial", "unimplemented-primitive", unary("functools.partial(jnp.sort, axis=0)(x)")),
    ("another name for it", "unimplemented-primitive", unary("order(x)", top="order = jnp.sort")),
    ("outside of a kernel", None, unary("x", result="jnp.sort({})")),
    ("a slice at a traced place", "value-dynamic-slice", steps("x = x_ref[...]\no_ref[...] = x + jax.lax.dynamic_slice_in_dim(x, i, 1)")),
    ("a value at a traced place", "value-dynamic-slice", steps("x = x_ref[...]\no_ref[...] = x + x[i]")),
    ("a value at a place behind its last", "value-dynamic-slice", unary("x + x[8]")),
    ("a value at a place before its first", "value-dynamic-slice", unary("x + x[None, -9]")),
    ("a value at a column behind its last", "value-dynamic-slice", unary("x + x[..., 128, None]")),
    ("the first and the last places of a value", None, unary("x + x[-8] + x[7] + x[..., 127, None]")),
    ("whether an integer is finite, which needs no look at it", None, unary("x + jnp.isfinite(jnp.sort(x).astype(jnp.int32))")),
    ("a boolean index that nobody uses", None, steps("unused = jnp.take(x_ref[...], x_ref[...] > 0)\no_ref[...] = x_ref[...]")),
    ("the minimum of a comparison and a float", None, unary("x + jnp.minimum(x == x, 0.5)")),
    ("a slice of a ref at a traced place", None, steps("o_ref[...] = x_ref[...] + x_ref[pl.ds(i, 1), :]")),
    ("a rounding to fewer bits", before("unimplemented-primitive"), unary("jax.lax.reduce_precision(x, 5, 10)")),
    (
        "a convolution",
        before("conv"),
        unary("x + jax.lax.conv_general_dilated(x[None, None], x[None, None, :3, :3], (1, 1), 'SAME')[0, 0]"),
    ),
    ("a checkpoint", "checkpoint", unary("jax.checkpoint(lambda v: jnp.sin(jnp.sin(v)))(x)")),
    ("empty", "jnp-empty" if NEW else None, unary("x + jnp.empty((8, 128))")),
    ("top_k", before("top-k"), unary("x + jax.lax.top_k(x, 1, is_stable=False)[0]" if NEW else "x + jax.lax.top_k(x, 1)[0]")),
    ("top_k of integers", "top-k", unary("x + jax.lax.top_k(x, 1, is_stable=False)[0]" if NEW else "x + jax.lax.top_k(x, 1)[0]", x=I32)),
    ("top_k that is stable", "top-k", unary("x + jax.lax.top_k(x, 1)[0]")),
    ("argmax of float32", None, unary("jnp.argmax(x, axis=1, keepdims=True) + x")),
    ("argmax of integers", "argmax-dtype", unary("jnp.argmax(x, axis=1, keepdims=True) + x", x=I32)),
    ("argmax of bfloat16", before("argmax-dtype"), unary("jnp.argmax(x, axis=1, keepdims=True).astype(jnp.bfloat16) + x", x=BF16)),
    ("a sum of unsigned integers", "reduction-dtype", unary("jnp.sum(x, axis=1, keepdims=True, dtype=x.dtype) + x", x=U32)),
    ("a sum of integers", None, unary("jnp.sum(x, axis=1, keepdims=True, dtype=x.dtype) + x", x=I32)),
    ("a maximum of int8", "reduction-dtype", unary("jnp.max(x, axis=1, keepdims=True) + x", x=I8)),
    ("isfinite of bfloat16", "isfinite-bf16", unary("jnp.isfinite(x).astype(jnp.bfloat16)", x=BF16)),
    ("isnan of bfloat16", None, unary("jnp.isnan(x).astype(jnp.bfloat16)", x=BF16)),
    ("nextafter of bfloat16", "operation-dtype", unary("jnp.nextafter(x, x)", x=BF16)),
    ("a complex number", "unimplemented-primitive", unary("jnp.real(jax.lax.complex(x, x))")),
    ("a Fourier transform", "complex-dtype", unary("jnp.abs(jnp.fft.fft(x))")),
    (
        "a print in order",
        "debug-print-form",
        module("pl.debug_print('{}', x_ref[0, 0].astype(jnp.int32))\njax.debug.print('{}', 1, ordered=True)\no_ref[...] = x_ref[...]"),
    ),
]

_FORMS: list[Case] = [
    ("rows by an array of numbers", "gather-form", unary("x + x[jnp.zeros(8, jnp.int32)]")),
    ("take of rows", "gather-form", unary("jnp.take(x, jnp.zeros((8,), jnp.int32), axis=0)")),
    ("one row by a number", None, unary("x + x[3]")),
    ("take_along_axis of one row", "gather-form", unary("jnp.take_along_axis(x, jnp.zeros(x.shape, jnp.int32), axis=1)", x="f32[1,128]")),
    ("take_along_axis along the only row", None, unary("jnp.take_along_axis(x, jnp.zeros(x.shape, jnp.int32), axis=0)", x="f32[1,128]")),
    ("take_along_axis of many rows by one", "gather-form", unary("jnp.take_along_axis(x, jnp.zeros((1, 128), jnp.int32), axis=-1)")),
    ("take_along_axis of one lane", None, unary("x + jnp.take_along_axis(x, jnp.zeros((8, 1), jnp.int32), axis=1)")),
    ("take_along_axis of one block", "gather-form", unary("jnp.take_along_axis(x, jnp.zeros(x.shape, jnp.int32), axis=2)", x="f32[1,8,128]")),
    ("reversed lanes", "unimplemented-primitive", unary("x[:, ::-1]")),
    ("every other row of a value", "strided-value-slice", unary("jnp.concatenate([x[::2], x[::2]], axis=0)")),
    ("every other row of a ref", None, module("o_ref[...] = jnp.concatenate([x_ref[::2, :], x_ref[::2, :]], axis=0)")),
    ("padding between", "interior-padding", unary("jax.lax.pad(x, 0.0, ((0, 0, 1), (0, 0, 0)))[:8]")),
    ("padding around", None, unary("jax.lax.pad(x, 0.0, ((0, 8, 0), (0, 0, 0)))[:8]")),
    ("an iota of floats", "iota-float", unary("x + jax.lax.broadcasted_iota(jnp.float32, (8, 128), 1)")),
    ("an iota of integers", None, unary("x + jax.lax.broadcasted_iota(jnp.int32, (8, 128), 1)")),
    ("arange", None, unary("x + jnp.arange(128)[None, :]")),
    ("a slice of no rows", "zero-size-intermediate", unary("x + jnp.sum(x[8:])")),
    ("an associative scan", "zero-size-intermediate", unary("jax.lax.associative_scan(jnp.add, x)")),
    ("a key made in the kernel", None, unary("x + jax.random.uniform(jax.random.key(0), (8, 128))")),
    ("a split of a key", "prng-form", unary("x + jax.random.uniform(jax.random.split(jax.random.key(0))[0], (8, 128))")),
    ("a cast to int32", None, unary("x.astype(jnp.int32)", out=I32)),
    ("a cast of booleans to bfloat16", None, unary("(x > 0).astype(jnp.bfloat16)", x=BF16)),
    ("a cast of int8 to uint32", None, unary("x.astype(jnp.uint32)", x=I8, out=U32)),
    ("a bitcast to other widths", "bitcast-width", unary("jax.lax.bitcast_convert_type(x, jnp.int16)[..., 0]", out=I16)),
    ("a bitcast to equal widths", None, unary("jax.lax.bitcast_convert_type(x, jnp.int32)", out=I32)),
    ("pltpu.bitcast to other widths", None, unary("pltpu.bitcast(x, jnp.int16)", out="i16[16,128]")),
]

_REDUCTIONS: list[Case] = [
    (f"{call} of {dtype}", rule, unary(f"jnp.broadcast_to({call}.astype(jnp.float32), (8, 128))", x=f"{dtype}[128]", out="f32[8,128]"))
    for dtype, rule, calls in (
        ("bf16", "narrow-vector-to-scalar", ("jax.nn.softmax(x)", "jax.nn.log_softmax(x, axis=0)", "jax.lax.reduce_sum(x, (0,))", "jnp.nanmean(x)")),
        ("bf16", None, ("jnp.sum(x)", "jnp.std(x)", "jax.nn.standardize(x)", "jnp.linalg.norm(x)", "jnp.max(x.astype(jnp.float32))")),
        ("f8", "narrow-vector-to-scalar", ("jnp.sum(x)", "jnp.mean(x)", "x.std()", "jax.nn.standardize(x)", "jnp.linalg.norm(x)", "jnp.max(x)")),
        ("f8", "argmax-dtype", ("jnp.argmax(x)",)),
        ("f8", "isfinite-bf16", ("jnp.isfinite(x)",)),
        ("i8", None, ("jax.lax.reduce_sum(x, (0,))", "jnp.sum(x)")),
        ("u8", "reduction-dtype", ("jax.lax.reduce_sum(x, (0,))",)),
    )
    for call in calls
]
_REDUCTIONS += [
    ("softmax of rows of bfloat16", None, unary("jax.nn.softmax(x)", x=BF16)),
    ("sums of rows of eight bits", None, unary("jnp.sum(x, axis=0)[None]", x="f8[8,128]", out="f8[1,128]")),
    ("reduce_sum of rows of int8", "reduction-dtype", unary("jax.lax.reduce_sum(x, (0,))[None]", x=I8, out="i8[1,128]")),
]

_PRODUCTS: list[Case] = [
    ("a product of float32", None, binary("jnp.dot(x, y)", x="f32[128,128]")),
    (
        "a product of bfloat16 in float32",
        None,
        binary("jnp.dot(x, y, preferred_element_type=jnp.float32)", x="bf16[128,128]", out="f32[128,128]"),
    ),
    ("a product of bfloat16", "matmul-acc-32bit", binary("x @ y", x="bf16[128,128]")),
    ("a product of float16", "matmul-f16", binary("jnp.dot(x, y)", x="f16[128,128]")),
    (
        "a product of unsigned integers",
        "matmul-unsigned",
        binary("jnp.dot(x, y, preferred_element_type=jnp.int32)", x="u8[128,128]", out="i32[128,128]"),
    ),
    ("a product of int8 in int32", None, binary("jnp.dot(x, y, preferred_element_type=jnp.int32)", x="i8[128,128]", out="i32[128,128]")),
    ("a product of int8", "matmul-acc-32bit", binary("jnp.dot(x, y)", x="i8[128,128]")),
    ("a product of two vectors", "matmul-all-contracted", binary("x + jnp.dot(x[0], y[0])")),
    ("a product of a matrix and a vector", None, binary("jnp.broadcast_to(jnp.dot(x, y[0])[:, None], x.shape)", x="f32[128,128]")),
    ("a product of everything", "matmul-all-contracted", binary("x + jnp.einsum('ij,ij->', x, y)")),
    (
        "a product of nothing",
        "matmul-nothing-contracted",
        binary("jnp.einsum('i,j->ij', x, y)", x="f32[8]", y="f32[128]", out="f32[8,128]"),
    ),
    ("a matrix and a scalar", "matmul-nothing-contracted", binary("jnp.dot(x, y[0, 0])")),
    ("a number and a matrix", "matmul-nothing-contracted", binary("jnp.dot(2, x)")),
    ("two scalars", "matmul-all-contracted", binary("x + jnp.dot(x[0, 0], y[0, 0])")),
    ("int8 rows and a single row", "matmul-bf16-single-row-rhs", binary(
        "jnp.inner(x, y, preferred_element_type=jnp.int32)", x="i8[8,128]", y="i8[1,128]", out="i32[8,1]",
    )),
    ("int32 rows and a single row", "matmul-bf16-single-row-rhs", binary("jnp.inner(x, y)", x="i32[8,128]", y="i32[1,128]", out="i32[8,1]")),
    ("rows of bfloat16 and any precision", None, binary(
        "jnp.einsum('ij,kj->ik', x, y, precision='high', preferred_element_type=jnp.float32)", x="bf16[1,128]", out="f32[1,1]",
    )),
    ("rows of bfloat16 and an algorithm", None, binary(
        "jax.lax.dot_general(x, y, (((1,), (1,)), ((), ())), precision=(jax.lax.Precision.HIGH, jax.lax.Precision.HIGHEST), "
        "preferred_element_type=jnp.float32)", x="bf16[1,128]", out="f32[1,1]",
    )),
    ("float32 rows and a single row", None, binary("jnp.inner(x, y)", y="f32[1,128]", out="f32[8,1]", x="f32[8,128]")),
    ("a batched product of bfloat16", "matmul-acc-32bit", binary("jax.lax.batch_matmul(x, y)", x="bf16[2,128,128]")),
    ("standardized and reversed", "unimplemented-primitive", unary("jax.nn.standardize(jnp.flip(x))")),
    ("two precisions", "matmul-precision", binary("jnp.dot(x, y, precision=('highest', 'default'))", x="f32[128,128]")),
    ("the highest precision", None, binary("jnp.dot(x, y, precision='highest')", x="f32[128,128]")),
    ("a high precision", before("matmul-precision"), binary("jnp.dot(x, y, precision=jax.lax.Precision.HIGH)", x="f32[128,128]")),
    ("one batch dim", None, binary("jnp.einsum('bij,bjk->bik', x, y)", x="f32[2,128,128]")),
    ("two batch dims", before("matmul-batch-rank"), binary("jnp.einsum('abij,abjk->abik', x, y)", x="f32[2,2,128,128]")),
    (
        "two dims to sum over",
        before("matmul-batch-rank"),
        binary("jnp.einsum('bij,bjk->ik', x, y)", x="f32[2,128,128]", out="f32[128,128]"),
    ),
    (
        "a product whose accumulator is narrow",
        "matmul-acc-32bit",
        binary(
            "jax.lax.dot_general(x, y, (((1,), (1,)), ((), ())), preferred_element_type=jnp.bfloat16)",
            x="f32[128,128]",
            out="bf16[128,128]",
        ),
    ),
]

_FUNCTIONS: list[Case] = [
    ("a roll", None, unary("pltpu.roll(x, 1, 1)")),
    ("a roll to the left", "roll-args", unary("pltpu.roll(x, -1, 1)")),
    ("a roll over a dim too many", "roll-args", unary("pltpu.roll(x, 1, 2)")),
    ("a roll over the last dim, counted from the end", "roll-args", unary("pltpu.roll(x, 1, -1)")),
    ("packing", None, unary("pltpu.pack_elementwise([x, x], packed_dtype=jnp.bfloat16)", out=U32)),
    ("packing of too few", "pltpu-op-precondition", unary("pltpu.pack_elementwise([x], packed_dtype=jnp.bfloat16)", out=U32)),
    (
        "unpacking",
        None,
        unary("pltpu.unpack_elementwise(x, index=0, packed_dtype=jnp.bfloat16, unpacked_dtype=jnp.float32)", x=U32, out="f32[8,128]"),
    ),
    (
        "unpacking of a third",
        "pltpu-op-precondition",
        unary("pltpu.unpack_elementwise(x, index=2, packed_dtype=jnp.bfloat16, unpacked_dtype=jnp.float32)", x=U32, out="f32[8,128]"),
    ),
    ("a reciprocal", None, unary("pl.reciprocal(x, approx=True)")),
    ("a reciprocal of integers", "reciprocal-dtype", unary("pl.reciprocal(x, approx=True)", x=I32)),
    ("a reciprocal of bfloat16", before("reciprocal-dtype"), unary("pl.reciprocal(x, approx=True)", x=BF16)),
    ("a print of a number", None, module("pl.debug_print('at {}', x_ref[0, 0].astype(jnp.int32))\no_ref[...] = x_ref[...]")),
    (
        "a print of a formatted number",
        "debug-print-form",
        module("pl.debug_print('at {:d}', x_ref[0, 0].astype(jnp.int32))\no_ref[...] = x_ref[...]"),
    ),
    (
        "a print of too few",
        "debug-print-form",
        module("pl.debug_print('at {} {}', x_ref[0, 0].astype(jnp.int32))\no_ref[...] = x_ref[...]"),
    ),
    ("a print of a float", before("debug-print-form"), module("pl.debug_print('at {}', x_ref[0, 0])\no_ref[...] = x_ref[...]")),
    ("a print of a vector", None, module("pl.debug_print('x: {}', x_ref[...])\no_ref[...] = x_ref[...]")),
    ("a print of a vector in the middle", "debug-print-form", module("pl.debug_print('{} is x', x_ref[...])\no_ref[...] = x_ref[...]")),
]


def with_64_bits(cast: str, on: str = "True") -> str:
    """A kernel with a cast, called inside of ``jax.enable_x64``."""
    head, call = unary(f"{cast}.astype(jnp.float32)").split("    return ")
    return f"{head}    with jax.enable_x64({on}):\n        return {call.replace(chr(10) + '    ', chr(10) + '        ')}"


_WIDE = [
    *((f"{cast} with 64 bits", "cast-unsupported", with_64_bits(cast)) for cast in (
        "x.astype(jnp.float64)", "x.astype('int64')", "x.astype(float)", "jnp.float64(x)", "jnp.asarray(x, np.float64)",
    )),
    ("a cast to float64 without 64 bits", None, with_64_bits("x.astype(jnp.float64)", "False")),
    ("a cast to float32 with 64 bits", None, with_64_bits("x.astype(jnp.bfloat16)")),
    ("numbers with 64 bits", None, with_64_bits("(x * 2 + 0.5)")),
    *((f"{made} with 64 bits", "cast-unsupported", with_64_bits(f"(x + {made})")) for made in (
        "jnp.eye(128)[:8]", "jnp.sum(x.astype(jnp.int32), axis=0)", "jnp.sum(x > 0)",
        "x.astype(jnp.int8).sum(0)", "jnp.argmax(x, axis=0)", "x.astype(jnp.int32) * 2.5", "(1.5 + x[0, 0].astype(jnp.int32))",
    )),
    *((f"{made} with 64 bits", None, with_64_bits(f"(x + {made})")) for made in (
        "jnp.zeros((8, 128)).astype(jnp.float32)",
        "jnp.zeros((8, 128), jnp.float32)", "jnp.full((8, 128), 1.0)", "jnp.zeros_like(x)", "jnp.arange(128)", "jnp.sum(x, axis=0)",
        "jnp.max(x.astype(jnp.int32), axis=0)", "jax.lax.argmax(x, 0, jnp.int32)", "x.astype(jnp.int32) * 2", "x * 2.5",
        "jax.lax.broadcasted_iota(jnp.int32, (8, 128), 0)", "jnp.sum(x.astype(jnp.int32), axis=0, dtype=jnp.float32)",
    )),
]  # fmt: skip

_POWERS = [
    *((f"x ** {exponent}", "power-integer-exponent", binary(f"x ** {exponent}")) for exponent in (
        "y[0, 0].astype(jnp.int32)", "y[:, :1].astype(jnp.int32)", "jnp.arange(128)", "jnp.full((), 2)",
    )),
    *((f"{power} of floats", None, binary(power)) for power in (
        "x ** 2", "x ** -1", "x ** np.int32(2)", "x ** y", "x ** y.astype(jnp.int32)", "x ** y[0, 0]", "x[0, 0] ** y.astype(jnp.int32)",
        "x ** x.ndim", "x + jnp.float32(2) ** y[0, 0].astype(jnp.int32)",
    )),
]  # fmt: skip

LOWERING = [*_PRIMITIVES, *_FORMS, *_REDUCTIONS, *_PRODUCTS, *_FUNCTIONS, *_WIDE, *_POWERS]

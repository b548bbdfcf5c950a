"""What lowers and is or is not refused by the TPU compiler for v5e, whatever of the measured versions it has."""

from __future__ import annotations

from call.modules import module
from ops.copy_cases import copy
from ops.modules import Case, binary, unary

WIDE = "f32[64,256]"
ROWS = "i = pl.program_id(0)\n"


def stepped(body: str, **changes: str) -> str:
    """A kernel of four programs, each with all of the operand and the output."""
    spec = "pl.BlockSpec(memory_space=pltpu.VMEM)"
    keywords = {"x": WIDE, "out": WIDE, "grid": "(4,)", "in_specs": f"[{spec}]", "out_specs": spec} | changes
    return module(ROWS + body, **keywords)  # type: ignore[arg-type]


def moved(source: str, x: str = WIDE, out: str = "f32[8,256]", start: str = "") -> str:
    """A kernel of four programs that copies a part of the operand to the output."""
    body = f"{ROWS}{start}copy = pltpu.make_async_copy({source}, o_ref, sem)\ncopy.start()\ncopy.wait()"
    return copy(body, x=x, out=out).replace("scratch_shapes=", "grid=(4,), scratch_shapes=")


_ARITHMETIC: list[Case] = [
    ("a sum of int8", "i8-arithmetic", binary("x + y", x="i8[64,256]")),
    ("a product of int16", None, binary("x * y", x="i16[64,256]")),
    ("a division of int32", None, binary("x // y", x="i32[64,256]")),
    ("a remainder of bfloat16", "bf16-math", binary("x % y", x="bf16[64,256]")),
    ("a sum of bfloat16", None, binary("x + y", x="bf16[64,256]")),
    ("an exponential of bfloat16", None, unary("jnp.exp(x)", x="bf16[64,256]")),
    ("a cast to float16", "float16-vector", unary("x.astype(jnp.float16).astype(jnp.float32)", x="f32[64,256]")),
    ("zeros of float16", None, unary("x + jnp.zeros(x.shape).astype(jnp.float16).astype(jnp.float32)", x="f32[64,256]")),
    ("a buffer of float16", "float16-vector", module(
        "pltpu.sync_copy(x_ref, half)\nhalf[...] = half[...]\no_ref[...] = half[...].astype(jnp.float32)", refs="x_ref, o_ref, half",
        x="f16[64,256]", out="f32[64,256]", in_specs="[ANY]", scratch_shapes="[pltpu.VMEM((64, 256), jnp.float16)]",
    )),
    ("uint8 and a number", "i8-arithmetic", unary("x + 1", x="u8[64,256]")),
    ("uint8 times a number", "i8-arithmetic", unary("3 * x", x="u8[64,256]")),
    ("the maximum of uint8 and nothing", None, unary("jnp.maximum(x, 0)", x="u8[64,256]")),
    ("the maximum of int8 and the least number", None, unary("jnp.maximum(x, -128)", x="i8[64,256]")),
    ("the maximum of int8 and a number", "i8-arithmetic", unary("jnp.maximum(x, 3)", x="i8[64,256]")),
    ("a clipped int8", "i8-arithmetic", unary("jnp.clip(x, 0, 1)", x="i8[64,256]")),
    ("uint8 clipped at nothing", None, unary("jnp.clip(x, 0, None)", x="u8[64,256]")),
    ("uint8 clipped above", "i8-arithmetic", unary("jnp.clip(x, 0, 9)", x="u8[64,256]")),
    ("a clamped int16", "i8-arithmetic", binary("jax.lax.clamp(jnp.zeros_like(x), x, y)", x="i16[64,256]")),
    ("the remainder of a divmod", "i8-arithmetic", binary("jnp.divmod(x, y)[1]", x="i8[64,256]")),
    ("a divmod of bfloat16", "bf16-math", binary("jnp.divmod(x, y)[0]", x="bf16[64,256]")),
    ("a quotient of int16 by a number", "i8-arithmetic", unary("x // 3", x="i16[64,256]")),
    ("a power of int8", "i8-arithmetic", unary("jax.lax.integer_pow(x, 2)", x="i8[64,256]")),
    ("an outer product of int8", "i8-arithmetic", binary("jnp.outer(x[0], y[0])", x="i8[64,256]", out="i8[256,256]")),
    ("a Kronecker product of uint8", "i8-arithmetic", binary("jnp.kron(x[:8, :8], y[:8, :8])", x="u8[64,256]", out="u8[64,64]")),
    ("the greatest common divisors of int8", "i8-arithmetic", binary("jnp.gcd(x, y)", x="i8[64,256]")),
    ("the norm of a vector of bfloat16", "bf16-math", unary("jnp.linalg.norm(x) * x", x="bf16[64,256]")),
    ("norms of rows of bfloat16", None, unary("jnp.linalg.norm(x, axis=1, keepdims=True) * x", x="bf16[64,256]")),
    ("the highest precision of a single row", None, binary(
        "jnp.inner(x, y, precision='highest', preferred_element_type=jnp.float32)", x="bf16[1,128]", out="f32[1,1]",
    )),
    ("a batched product of int32", "matmul-i32", binary("jax.lax.batch_matmul(x, y)", x="i32[4,128,128]")),
    ("a product of int32", "matmul-i32", binary("jnp.dot(x, y)", x="i32[128,128]")),
    (
        "the highest precision of bfloat16",
        "matmul-bf16-highest",
        binary("jnp.dot(x, y, precision='highest', preferred_element_type=jnp.float32)", x="bf16[128,128]", out="f32[128,128]"),
    ),
]

_STARTS: list[Case] = [
    ("eight rows at a multiple of eight", None, stepped("o_ref[pl.ds(pl.multiple_of(i * 8, 8), 8), :] = x_ref[pl.ds(i * 8, 8), :]")),
    ("eight rows anywhere", "unaligned-dynamic-sublane", stepped("o_ref[0:8, :] = x_ref[pl.ds(i, 8), :]")),
    ("one row anywhere", None, stepped("o_ref[0, :] = x_ref[i, :]")),
    ("eight rows of 128 lanes anywhere", None, stepped("o_ref[0:8, :] = x_ref[pl.ds(i, 8), :]", x="f32[64,128]", out="f32[64,128]")),
    (
        "eight rows of bfloat16 anywhere",
        "unaligned-dynamic-sublane",
        stepped("o_ref[0:8, :] = x_ref[pl.ds(i, 8), :]", x="bf16[64,256]", out="bf16[64,256]"),
    ),
    ("lanes anywhere", "unaligned-dynamic-lane", stepped("o_ref[:, 0:128] = x_ref[:, pl.ds(i, 128)]")),
    ("lanes at multiples of 64", "unaligned-dynamic-lane", stepped("o_ref[:, 0:128] = x_ref[:, pl.ds(i * 64, 128)]", x="f32[64,512]")),
    ("lanes at multiples of 128", None, stepped("o_ref[:, 0:128] = x_ref[:, pl.ds(i * 128, 128)]", x="f32[64,512]")),
    ("lanes at a number", None, stepped("o_ref[:, 0:128] = x_ref[:, 3:131]")),
]

_LAYOUTS: list[Case] = [
    ("rows of 128 lanes made one", None, unary("x.reshape(-1)", x="f32[8,128]", out="f32[1024]")),
    ("rows of 64 lanes made one", "flatten-narrow", unary("x.reshape(-1)", x="f32[8,64]", out="f32[512]")),
    ("lanes cut in two", "flatten-narrow", unary("x.reshape(16, 192)", x="f32[8,384]", out="f32[16,192]")),
    ("leading dims made one", None, unary("x.reshape(16, 128)", x="f32[2,8,128]", out="f32[16,128]")),
    ("a mask with a new last dim", "bool-reshape", unary("jnp.where((x > 0)[..., None], 1.0, 2.0)", x="f32[8,128]", out="f32[8,128,1]")),
    ("masks joined at whole tiles", None, binary("jnp.where(jnp.concatenate([x > 0, y > 0], axis=0), 1.0, 0.0)", x=WIDE, out="f32[128,256]")),
    ("masks joined within a tile", "bool-reshape", binary(
        "jnp.where(jnp.concatenate([x[:3] > 0, y[:5] > 0], axis=0), 1.0, 0.0)", x=WIDE, out="f32[8,256]",
    )),
    ("lanes of masks joined within a tile", "bool-reshape", binary(
        "jnp.where(jnp.concatenate([(x > 0)[:, :64], (y > 0)[:, :64]], axis=1), 1.0, 0.0)", x=WIDE, out="f32[64,128]",
    )),
    ("masks of bfloat16 joined within a tile", "bool-reshape", binary(
        "jnp.where(jnp.concatenate([x[:3] > 0, y[:5] > 0], axis=0), 1.0, 0.0)", x="bf16[64,256]", out="f32[8,256]",
    )),
    ("a mask padded in front", "bool-reshape", unary("jnp.where(jnp.pad(x > 0, ((1, 7), (0, 0))), 1.0, 0.0)", x=WIDE, out="f32[72,256]")),
    ("a mask padded behind", None, unary("jnp.where(jnp.pad(x > 0, ((0, 8), (0, 0))), 1.0, 0.0)", x=WIDE, out="f32[72,256]")),
    ("a mask whose rows move", "bool-reshape", unary("jnp.where(jnp.swapaxes(x > 0, 0, 1), 1.0, 0.0)", x="f32[8,8,256]")),
    ("a mask whose rows are named to move", "bool-reshape", unary("jnp.where((x > 0).transpose(1, 0, 2), 1.0, 0.0)", x="f32[8,8,256]")),
    ("narrow lanes with a new last dim", "trailing-unit-dim-packed", unary("x[..., None]", x="bf16[64,256]", out="bf16[64,256,1]")),
    ("lanes of float32 with a new last dim", None, unary("x[..., None]", x=WIDE, out="f32[64,256,1]")),
    ("take_along_axis of one register", None, unary("jnp.take_along_axis(x, jnp.zeros(x.shape, jnp.int32), axis=1)", x="f32[8,128]")),
    ("take_along_axis of two", "gather-wide", unary("jnp.take_along_axis(x, jnp.zeros(x.shape, jnp.int32), axis=1)", x="f32[8,256]")),
]

_COPIES: list[Case] = [
    ("a copy of rows at a multiple of eight", None, moved("x_ref.at[pl.ds(i * 8, 8)]")),
    ("a copy of rows anywhere", "dma-tile-offset", moved("x_ref.at[pl.ds(i, 8)]")),
    ("a copy of rows at a number within a tile", "dma-tile-offset", moved("x_ref.at[pl.ds(3, 8)]")),
    ("a copy of rows of 128 lanes anywhere", None, moved("x_ref.at[pl.ds(i, 8)]", x="f32[64,128]", out="f32[8,128]")),
    ("a copy of rows of a leading dim anywhere", None, moved("x_ref.at[i]", x="f32[4,8,256]")),
    ("a copy of ten rows", "dma-tile-size", moved("x_ref.at[pl.ds(8, 10)]", out="f32[10,256]")),
    ("a copy of lanes anywhere", "dma-tile-offset", moved("x_ref.at[:, pl.ds(i, 128)]", out="f32[64,128]")),
    ("a copy of 100 lanes", "dma-tile-size", moved("x_ref.at[:, pl.ds(0, 100)]", out="f32[64,100]")),
    ("a copy that starts at lane 64", "dma-lane-offset", moved("x_ref.at[:, pl.ds(64, 128)]", x="f32[8,256]", out="f32[8,128]")),
    ("a copy of 64 lanes of few rows", "dma-narrow-minor", moved("x_ref.at[:, pl.ds(0, 64)]", x="f32[8,256]", out="f32[8,64]")),
]

# For v4: what it lacks.
V4: list[Case] = [
    ("a sum of lanes", "v4-lane-reduce-to-1d", unary("jnp.sum(x, axis=-1)", x=WIDE, out="f32[64]")),
    ("a sum that keeps its dim", None, unary("jnp.sum(x, axis=-1, keepdims=True)", x=WIDE, out="f32[64,1]")),
    ("a sum that gets its dim back", None, unary("x - jnp.sum(x, axis=-1)[:, None]", x=WIDE)),
    ("what is computed of a sum", "v4-lane-reduce-to-1d", unary("jnp.sqrt(jnp.mean(x * x, axis=-1)) > 1", x=WIDE, out="bool[64]")),
    ("a sum of lanes into a row", "v4-lane-reduce-to-1d", module("o_ref[1] = jnp.sum(x_ref[...], axis=-1)", x=WIDE, out="f32[8,64]")),
    ("a sum of lanes into a column", None, module("o_ref[:, 0] = jnp.sum(x_ref[...], axis=-1)", x=WIDE, out="f32[64,8]")),
    ("a column", "v4-lane-reduce-to-1d", module("o_ref[...] = x_ref[:, 3]", x=WIDE, out="f32[64]")),
    ("a matrix times a vector", "v4-lane-reduce-to-1d", binary("jnp.dot(x, y)", x="f32[64,128]", y="f32[128]", out="f32[64]")),
    ("a sum of rows", None, unary("jnp.sum(x, axis=0)", x=WIDE, out="f32[256]")),
    ("a sum of rows of a square", None, unary("jnp.sum(x, axis=0)", x="f32[128,128]", out="f32[128]")),
    ("a sum of the only row", None, unary("jnp.sum(x, axis=1)", x="f32[1,256]", out="f32[1]")),
    ("a sum of the middle", None, unary("jnp.sum(x, axis=1)", x="f32[2,8,128]", out="f32[2,128]")),
    ("sums of leading rows", "v4-lane-reduce-to-1d", unary("jnp.sum(x, axis=2)", x="f32[2,8,128]", out="f32[2,8]")),
    ("256 bytes", "i8-mask-v4", unary("x", x="i8[256]")),
    ("512 bytes", None, unary("x", x="i8[512]")),
    ("a part of 512 bytes", "i8-mask-v4", module("o_ref[pl.ds(128, 128)] = x_ref[0:128]", x="i8[512]", out="i8[512]")),
    ("640 bytes", "i8-mask-v4", unary("x", x="u8[640]")),
    ("256 numbers of two bytes", None, unary("x", x="i16[256]")),
    ("256 booleans", None, unary("x", x="bool[256]")),
    ("a row of bytes", None, module("o_ref[1] = x_ref[0]", x="i8[4,256]", out="i8[4,256]")),
    ("bytes that are loaded only", None, unary("x.astype(jnp.int32)", x="i8[256]", out="i32[256]")),
]
COMPILED = [*_ARITHMETIC, *_STARTS, *_LAYOUTS, *_COPIES]

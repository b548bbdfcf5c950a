"""Matrix products that the TensorCore lowering does not take.

Mirrors ``_dot_general_lowering_rule`` of ``jax/_src/pallas/mosaic/lowering.py`` in the order of its checks, and the verifier of
``tpu.matmul``.
"""

from __future__ import annotations

from ..interpreter.operation_events import Operation
from ..shapes import dtypes
from ..shapes.dims import Truth, equal
from . import lowered, words
from .compiler import ALL, refused_on, who
from .contraction import PRODUCTS, Contraction, contraction_of
from .registry import Context, Finding, rule

_VERIFIER = "Pallas encountered an internal verification error. ... {}"


def _product(event: Operation, context: Context) -> Contraction | None:
    """The product that an operation lowers to, None where it is none, is not used or is not known well enough."""
    product = contraction_of(event)
    return product if product is not None and lowered.is_used(event.result, event.where, context) else None


def _matrix_product(event: Operation, context: Context) -> Contraction | None:
    """As `_product`, without what may be a product of rows with a single row: these are lowered before anything else is looked at."""
    product = _product(event, context)
    return product if product is not None and _is_row_product(product) is Truth.NO else None


def _sides(product: Contraction) -> str:
    return " and ".join(f"{dtypes.short(side.dtype)}{words.shape(side.shape)}" for side in (product.left, product.right))


@rule("matmul-unsigned", on=Operation, order=50, stage="lower", functions=PRODUCTS)
def matmul_unsigned(event: Operation, context: Context) -> Finding | None:
    """A matrix product of unsigned integers."""
    product = _product(event, context)
    sides = (product.left, product.right) if product is not None else ()
    dtype = next((side.dtype for side in sides if side.dtype is not None and dtypes.kind(side.dtype) == "unsigned"), None)
    if dtype is None:
        return None
    return Finding(
        event.where.location,
        f"{lowered.name(event)} of {dtype}: a TPU kernel multiplies matrices of floats and signed integers, cast first",
        jax_message=f"Unsigned integer dtype {dtype} is not supported for dot_general (matmul) on the Pallas Mosaic TPU backend because ...",
    )


@rule("matmul-all-contracted", on=Operation, order=51, stage="lower", functions=PRODUCTS)
def matmul_all_contracted(event: Operation, context: Context) -> Finding | None:
    """A product whose result is a scalar."""
    product = _product(event, context)
    if product is None or product.rank:
        return None
    return Finding(
        event.where.location,
        f"{lowered.name(event)} sums over every dim: in a TPU kernel a product keeps a dim at least, `jnp.sum(a * b)` gives the scalar",
        jax_message="",
    )


@rule("matmul-f16", on=Operation, order=52, stage="lower", functions=PRODUCTS)
def matmul_f16(event: Operation, context: Context) -> Finding | None:
    """A matrix product whose result is float16."""
    product = _product(event, context)
    if product is None or product.result != "float16":
        return None
    return Finding(
        event.where.location,
        f"{lowered.name(event)} gives float16, which a TPU kernel cannot multiply: use bfloat16 with `preferred_element_type=jnp.float32`",
        jax_message="float16",
    )


@rule("matmul-bf16-single-row-rhs", on=Operation, order=53, stage="lower", functions=PRODUCTS)
def matmul_bf16_single_row_rhs(event: Operation, context: Context) -> Finding | None:
    """Rows times one row, contracted over the last dims, in mixed or narrow dtypes."""
    product = _product(event, context)
    if product is None or _is_row_product(product) is not Truth.YES or None in (product.left.dtype, product.right.dtype, product.result):
        return None
    integers = not any(dtypes.is_floating(dtype) for dtype in (product.left.dtype, product.right.dtype))
    if integers:
        refused = True  # they are multiplied as floats are
    elif product.left.shape != product.right.shape:
        refused = {product.left.dtype, product.right.dtype} != {product.result}
    else:
        wanted = product.preferred or product.left.dtype
        refused = wanted != "float32" and {product.left.dtype, product.right.dtype} != {wanted}
    if not refused:
        return None
    how = "as floats are" if integers else "in one dtype"
    return Finding(
        event.where.location,
        f"{lowered.name(event)} of {_sides(product)}: a single row on the right is multiplied {how}, `jnp.sum(a.astype(jnp.float32) * b, axis=-1)` does it",
        jax_message=_VERIFIER.format("'vector.broadcast' op failed to verify that source operand and result have same element type"),
    )


def _is_row_product(product: Contraction) -> Truth:
    left, right = product.left, product.right
    plain = len(left.shape) == len(right.shape) == 2 and left.contracted == right.contracted == (1,)
    if not plain or left.batch or {left.dtype, right.dtype} == {"float32"}:
        return Truth.NO
    return equal(right.shape[0], 1)


@rule("matmul-nothing-contracted", on=Operation, order=54, stage="lower", functions=PRODUCTS)
def matmul_nothing_contracted(event: Operation, context: Context) -> Finding | None:
    """A product that sums over no dim."""
    product = _product(event, context)
    if product is None or product.left.contracted:
        return None
    return Finding(
        event.where.location,
        f"{lowered.name(event)} sums over no dim, which is no matrix product: multiply with `*` and broadcast",
        jax_message='Unable to parse attribute: error: "#tpu.dot_dimension_numbers<...>"',
    )


@rule("matmul-precision", on=Operation, order=55, stage="lower", functions=PRODUCTS)
def matmul_precision(event: Operation, context: Context) -> Finding | None:
    """A matrix product with a precision that is not lowered."""
    product = _matrix_product(event, context)
    precision = product.precision if product is not None else None
    if precision == "pair":
        what, jax = "two precisions that differ", "Per-operand dot precision unsupported"
    elif precision == "algorithm":
        what, jax = "an algorithm for its precision", "'DotAlgorithmPreset' object is not subscriptable"
    elif precision == "HIGH" and context.jax(until="0.12"):
        what, jax = "the precision HIGH, which is lowered since JAX 0.12", "Unsupported dot precision: HIGH"
    else:
        return None
    return Finding(
        event.where.location,
        f"{lowered.name(event)} is given {what}: a TPU kernel has `DEFAULT`, and `HIGHEST` for float32 operands",
        jax_message=jax,
    )


@rule("matmul-acc-32bit", on=Operation, order=56, stage="lower", functions=PRODUCTS)
def matmul_acc_32bit(event: Operation, context: Context) -> Finding | None:
    """A matrix product whose result has narrow elements."""
    product = _matrix_product(event, context)
    result = product.result if product is not None else None
    if product is None or result is None or result == "float16" or _bits(result) == 32:
        return None
    wide = "int32" if dtypes.kind(result) == "signed" else "float32"
    return Finding(
        event.where.location,
        f"{lowered.name(event)} gives {result}, a TPU multiplies into 32 bits: pass `preferred_element_type=jnp.{wide}` and cast afterwards",
        jax_message=_VERIFIER.format("'tpu.matmul' op Expected matmul acc to be 32-bit"),
    )


def _bits(dtype: str) -> int | None:
    return 1 if dtype == "bool" else dtypes.bits(dtype)


@rule("matmul-batch-rank", on=Operation, order=57, stage="lower", until="0.12", functions=PRODUCTS)
def matmul_batch_rank(event: Operation, context: Context) -> Finding | None:
    """A product over more than one batch dim or more than one contracted dim."""
    product = _matrix_product(event, context)
    if product is None:
        return None
    batches, contracted = len(product.left.batch), len(product.left.contracted)
    if batches > 1:
        what, jax = f"{batches} batch dims", "'tpu.matmul' op Not implemented: Up to 1 batch dim supported"
    elif contracted > 1:
        what, jax = f"{contracted} dims to sum over", "'tpu.matmul' op Not implemented: lhs contracting dims must be of size 1"
    else:
        return None
    return Finding(
        event.where.location,
        f"{lowered.name(event)} of {_sides(product)} has {what}: before JAX 0.12 a TPU kernel takes one, reshape or loop",
        jax_message=_VERIFIER.format(jax),
    )


_BEFORE_7 = ALL - {"tpu7x"}


@rule("matmul-i32", on=Operation, order=120, stage="compile", functions=PRODUCTS)
def matmul_i32(event: Operation, context: Context) -> Finding | None:
    """A matrix product of 32-bit integers."""
    product = _matrix_product(event, context)
    if product is None or "int32" not in (product.left.dtype, product.right.dtype):
        return None
    return Finding(
        event.where.location,
        f"{lowered.name(event)} of {_sides(product)}: TPUs multiply matrices of floats and int8, cast to float32",
        jax_message="Bad lhs/rhs type: ...",
    )


@rule("matmul-acc-kind", on=Operation, order=121, stage="compile", functions=PRODUCTS)
def matmul_acc_kind(event: Operation, context: Context) -> Finding | None:
    """Integers are multiplied into floats, or floats into integers."""
    product = _matrix_product(event, context)
    if product is None or None in (product.left.dtype, product.right.dtype, product.result) or not refused_on(context, _BEFORE_7):
        return None
    floats = [dtypes.is_floating(dtype) for dtype in (product.left.dtype, product.right.dtype, product.result) if dtype is not None]
    if floats[0] != floats[1] or floats[0] == floats[2]:
        return None
    jax = "float acc with int lhs. Expected float lhs." if floats[2] else "int acc with float lhs. Expected int lhs."
    return Finding(
        event.where.location,
        f"{lowered.name(event)} of {_sides(product)} into {product.result}: {who(context, _BEFORE_7)} multiplies integers into int32 and floats into float32, cast afterwards",
        jax_message=jax,
    )


@rule("matmul-bf16-highest", on=Operation, order=122, stage="compile", functions=PRODUCTS)
def matmul_bf16_highest(event: Operation, context: Context) -> Finding | None:
    """The highest precision is asked of bfloat16 operands."""
    product = _matrix_product(event, context)
    if product is None or product.precision != "HIGHEST" or "bfloat16" not in (product.left.dtype, product.right.dtype):
        return None
    return Finding(
        event.where.location,
        f"{lowered.name(event)} of {_sides(product)} with the highest precision, which is for float32 operands: leave it out, or cast first",
        jax_message="Bad lhs type",
    )


@rule("matmul-i8-old", on=Operation, order=123, stage="compile", functions=PRODUCTS)
def matmul_i8_old(event: Operation, context: Context) -> Finding | None:
    """A matrix product of int8 on a chip that has none."""
    chips = frozenset({"v4"})
    product = _matrix_product(event, context)
    if product is None or "int8" not in (product.left.dtype, product.right.dtype) or not refused_on(context, chips):
        return None
    return Finding(
        event.where.location,
        f"{lowered.name(event)} of {_sides(product)}: {who(context, chips)} has no int8 products, cast to bfloat16",
        jax_message="E2001: CompileTimeMosaicUnsupportedRhsType: Unsupported matmul RHS type on target: ...",
    )

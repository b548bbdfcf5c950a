"""Products that sum over dimensions: dot, matmul, einsum, dot_general.

Mirrors ``jax/_src/numpy/tensor_contractions.py``, ``jax/_src/numpy/einsum.py``, and ``_dot_general_shape_rule`` and
``_dot_general_dtype_rule`` of ``jax/_src/lax/lax.py``.
"""

from __future__ import annotations

from typing import Any

from pallas_lsp.shapes.arguments import Undecided, array, axes_of, dtype_or, flag, integer, items, known_shape
from pallas_lsp.shapes.avals import Aval, ShapeError, Unknown, shape_text
from pallas_lsp.shapes.broadcasting import broadcast
from pallas_lsp.shapes.dims import MaybeDim, Shape, Truth, equal, product, render
from pallas_lsp.shapes.dtypes import Operand, bits, kind, promote, short
from pallas_lsp.shapes.elementwise import all_weak, multiply
from pallas_lsp.shapes.table import method_function, operator_function, shape_function


def _check_contracted(name: str, a: MaybeDim, b: MaybeDim) -> None:
    if equal(a, b) is Truth.NO:
        raise ShapeError(f"{name} contracts dimensions of one size, not {render(a)} and {render(b)}")


def _promoted(preferred_element_type: Any, *avals: Aval) -> Operand:
    """The dtype of a ``jnp`` product: the preferred one, else that of the promoted operands, which need not go together where one is."""
    if preferred_element_type is None:
        return promote(*((aval.dtype, aval.weak) for aval in avals))
    return dtype_or(preferred_element_type, (None, None))


def _product_dtype(a: Aval, b: Aval, preferred_element_type: Any) -> Operand:
    result = _promoted(preferred_element_type, a, b)
    _accumulated(a.dtype, b.dtype, result[0])
    return result


# --- jax.numpy -------------------------------------------------------------------------------------------------------


@shape_function("jax.numpy.dot")
@method_function("dot")
def dot(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None, out_sharding: Any = None) -> Aval:
    """The last axis of ``a`` with the second to last of ``b``; no batches."""
    lhs, rhs = array(a), array(b)
    dtype, weak = _product_dtype(lhs, rhs, preferred_element_type)
    if lhs.shape is None or rhs.shape is None:
        return Aval(None, dtype, weak)
    if not lhs.shape or not rhs.shape:
        return Aval(lhs.shape + rhs.shape, dtype, weak)
    contracted = -1 if len(rhs.shape) == 1 else -2
    _check_contracted("jnp.dot", lhs.shape[-1], rhs.shape[contracted])
    rest = rhs.shape[:-2] + rhs.shape[-1:] if contracted == -2 else ()
    return Aval(lhs.shape[:-1] + rest, dtype, weak)


@shape_function("jax.numpy.matmul")
def matmul(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None, out_sharding: Any = None) -> Aval:
    """Matrices in the last two axes, batches before them, broadcast together; a vector is a row or a column that vanishes."""
    lhs, rhs = array(a), array(b)
    dtype, weak = _product_dtype(lhs, rhs, preferred_element_type)
    if () in (lhs.shape, rhs.shape):
        raise ShapeError("a matrix product takes no scalars")
    if lhs.shape is None or rhs.shape is None:
        return Aval(None, dtype, weak)
    _check_contracted("a matrix product", lhs.shape[-1], rhs.shape[-2 if len(rhs.shape) > 1 else -1])
    batch = broadcast(lhs.shape[:-2], rhs.shape[:-2])
    assert batch is not None
    rows = lhs.shape[-2:-1]
    columns = rhs.shape[-1:] if len(rhs.shape) > 1 else ()
    return Aval(batch + rows + columns, dtype, weak)


@operator_function("@")
def matmul_operator(a: Any, b: Any, /) -> Aval:
    return matmul(a, b)


@shape_function("jax.numpy.tensordot")
def tensordot(
    a: Any, b: Any, axes: Any = 2, *, precision: Any = None, preferred_element_type: Any = None, out_sharding: Any = None
) -> Aval:
    lhs, rhs = array(a), array(b)
    dtype, weak = _product_dtype(lhs, rhs, preferred_element_type)
    left, right = known_shape(lhs), known_shape(rhs)
    if isinstance(axes, tuple | list):
        first, second = axes
        left_axes, right_axes = axes_of(first, len(left)), axes_of(second, len(right))
    else:
        count = integer(axes)
        if not 0 <= count <= min(len(left), len(right)):
            raise ShapeError(f"tensordot over {count} axes of {shape_text(left)} and {shape_text(right)}")
        left_axes, right_axes = tuple(range(len(left) - count, len(left))), tuple(range(count))
    return Aval(_contract("tensordot", left, right, (left_axes, right_axes), ((), ())), dtype, weak)


@shape_function("jax.numpy.inner")
def inner(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Aval:
    lhs, rhs = array(a), array(b)
    if lhs.shape is None or rhs.shape is None:
        raise Undecided
    if not lhs.shape or not rhs.shape:
        if preferred_element_type is not None:
            raise Undecided
        return multiply(lhs, rhs)
    return tensordot(lhs, rhs, (-1, -1), preferred_element_type=preferred_element_type)


@shape_function("jax.numpy.outer")
def outer(a: Any, b: Any, out: Any = None) -> Aval:
    if out is not None:
        raise Undecided
    lhs, rhs = array(a), array(b)
    dtype, weak = promote((lhs.dtype, lhs.weak), (rhs.dtype, rhs.weak))
    return Aval(tuple(None if aval.shape is None else product(aval.shape) for aval in (lhs, rhs)), dtype, weak)


@shape_function("jax.numpy.kron")
def kron(a: Any, b: Any) -> Aval:
    """Every axis as long as both operands' together; the shorter shape gets axes of size 1 in front."""
    lhs, rhs = array(a), array(b)
    dtype, weak = promote((lhs.dtype, lhs.weak), (rhs.dtype, rhs.weak))
    if lhs.shape is None or rhs.shape is None:
        return Aval(None, dtype, weak)
    rank = max(len(lhs.shape), len(rhs.shape))
    pairs = zip(*((1,) * (rank - len(shape)) + shape for shape in (lhs.shape, rhs.shape)), strict=True)
    return Aval(tuple(product(pair) for pair in pairs), dtype, weak)


@shape_function("jax.numpy.vdot")
def vdot(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Aval:
    lhs, rhs = array(a), array(b)
    if lhs.shape is not None and rhs.shape is not None:
        _check_contracted("vdot", product(lhs.shape), product(rhs.shape))
    return Aval((), *_promoted(preferred_element_type, lhs, rhs))


@shape_function("jax.numpy.einsum")
def einsum(
    subscripts: Any,
    /,
    *operands: Any,
    out: Any = None,
    optimize: Any = "auto",
    precision: Any = None,
    preferred_element_type: Any = None,
    _dot_general: Any = None,
    out_sharding: Any = None,
) -> Aval:
    if not isinstance(subscripts, str) or out is not None:
        raise Undecided
    avals = [array(operand) for operand in operands]
    dtype, weak = _promoted(preferred_element_type, *avals)
    return Aval(_einsum_shape(subscripts.replace(" ", ""), [aval.shape for aval in avals]), dtype, weak)


def _einsum_shape(subscripts: str, shapes: list[Shape]) -> Shape:
    """The dimensions that the output names, each the broadcast of all operands' dimensions of that name."""
    inputs, arrow, output = subscripts.partition("->")
    terms = inputs.split(",")
    if len(terms) != len(shapes):
        raise ShapeError(f"einsum names {len(terms)} operands, not {len(shapes)}")
    sizes: dict[str, Shape] = {}
    batch: Shape = ()
    for term, shape in zip(terms, shapes, strict=True):
        before, dots, after = term.partition("...")
        if shape is None:
            # Whatever its rank, it may stretch the dimensions that it names.
            sizes |= {name: broadcast(sizes.get(name, ()), (None,)) for name in before + after}
            batch = None if dots else batch
            continue
        named = len(before) + len(after)
        if len(shape) < named or (len(shape) > named and not dots):
            raise ShapeError(f"einsum names {named} dimensions of {shape_text(shape)}")
        split = len(shape) - len(after)
        for name, d in (*zip(before, shape, strict=False), *zip(after, shape[split:], strict=True)):
            if term.count(name) > 1 and name in sizes and sizes[name] != (d,):
                raise Undecided  # a diagonal of an operand that is not square
            sizes[name] = broadcast(sizes.get(name, ()), (d,))
        batch = broadcast(batch, shape[len(before) : split])
    if not arrow:
        names = inputs.replace(",", "").replace(".", "")
        output = ("..." if "..." in inputs else "") + "".join(sorted(name for name in set(names) if names.count(name) == 1))
    return _named(output, sizes, batch)


def _named(output: str, sizes: dict[str, Shape], batch: Shape) -> Shape:
    before, dots, after = output.partition("...")
    for i, name in enumerate(before + after):
        if name not in sizes or name in (before + after)[:i]:
            raise ShapeError(f"einsum's output names {name!r}, which is in no operand or there twice")
    if batch is None and dots:
        return None
    front, back = (tuple((sizes[name] or (None,))[0] for name in names) for names in (before, after))
    return front + (batch if dots and batch else ()) + back


# --- jax.lax ---------------------------------------------------------------------------------------------------------


@shape_function("jax.lax.dot_general")
def dot_general(
    lhs: Any,
    rhs: Any,
    dimension_numbers: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    *,
    out_sharding: Any = None,
) -> Aval:
    """Batch dims first, then what is left of each operand. Raises ShapeError where dims or dtypes do not go together."""
    left, right = array(lhs), array(rhs)
    preferred = dtype_or(preferred_element_type, (None, None))[0]
    dtype = _accumulated(left.dtype, right.dtype, preferred)
    if isinstance(preferred_element_type, Unknown):
        dtype = None
    return Aval(_dot_general_shape(left.shape, right.shape, dimension_numbers), dtype, all_weak([left, right]))


@shape_function("jax.lax.batch_matmul")
def batch_matmul(lhs: Any, rhs: Any, precision: Any = None) -> Aval:
    """Matrices in the last two axes, batches of the same sizes before them. Raises ShapeError as ``dot_general`` does."""
    left, right = array(lhs), array(rhs)
    if left.shape is None or right.shape is None:
        return Aval(None, _accumulated(left.dtype, right.dtype, None), all_weak([left, right]))
    rank = len(left.shape)
    if rank < 2 or rank != len(right.shape):
        raise ShapeError(f"batch_matmul of {shape_text(left.shape)} and {shape_text(right.shape)}")
    batch = tuple(range(rank - 2))
    return dot_general(left, right, (((rank - 1,), (rank - 2,)), (batch, batch)))


def _dot_general_shape(left: Shape, right: Shape, dimension_numbers: Any) -> Shape:
    if left is None or right is None or isinstance(dimension_numbers, Unknown):
        return None
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = dimension_numbers
    if any(isinstance(axes, Unknown) for axes in (lhs_contract, rhs_contract, lhs_batch, rhs_batch)):
        return None
    contracted = _lax_axes(lhs_contract, left), _lax_axes(rhs_contract, right)
    return _contract("dot_general", left, right, contracted, (_lax_axes(lhs_batch, left), _lax_axes(rhs_batch, right)))


def _lax_axes(value: Any, shape: tuple[MaybeDim, ...]) -> tuple[int, ...]:
    axes = items(value) if isinstance(value, tuple | list) else (value,)
    if any(integer(i) < 0 for i in axes):
        raise ShapeError("dot_general takes no negative axes")
    return axes_of(axes, len(shape))


def _contract(
    name: str,
    left: tuple[MaybeDim, ...],
    right: tuple[MaybeDim, ...],
    contracted: tuple[tuple[int, ...], tuple[int, ...]],
    batch: tuple[tuple[int, ...], tuple[int, ...]],
) -> Shape:
    for of_left, of_right in (contracted, batch):
        if len(of_left) != len(of_right):
            raise ShapeError(f"{name} needs as many axes of the left as of the right: {of_left} and {of_right}")
        for i, j in zip(of_left, of_right, strict=True):
            _check_contracted(name, left[i], right[j])
    if set(contracted[0]) & set(batch[0]) or set(contracted[1]) & set(batch[1]):
        raise ShapeError(f"{name} can not contract a batch dimension")
    shared = tuple(right[j] if left[i] is None else left[i] for i, j in zip(*batch, strict=True))
    rest_left = tuple(d for i, d in enumerate(left) if i not in contracted[0] + batch[0])
    rest_right = tuple(d for i, d in enumerate(right) if i not in contracted[1] + batch[1])
    return shared + rest_left + rest_right


# Exponent and mantissa of the floating types, by which dot_general ranks operands of two types.
_PRECISION = {
    "float8_e4m3fn": (9, 3),
    "float8_e4m3b11fnuz": (5, 3),
    "float8_e5m2": (16, 2),
    "float16": (16, 10),
    "bfloat16": (128, 7),
    "float32": (128, 23),
}


def _accumulated(left: str | None, right: str | None, preferred: str | None) -> str | None:
    """The dtype of ``dot_general``: the preferred one, else that of the wider operand."""
    wider = _wider(left, right)
    if wider is None or preferred is None or wider == preferred:
        return wider if preferred is None else preferred
    if kind(wider) != "float" and (bits(preferred) or 0) < (bits(wider) or 0):
        raise ShapeError(f"preferred_element_type {short(preferred)} is narrower than {short(wider)}")
    return preferred


def _wider(left: str | None, right: str | None) -> str | None:
    if left == right or left is None or right is None:
        return left if left == right else None
    ranks = [_rank(dtype) for dtype in (left, right)]
    if ranks[0] == ranks[1]:
        raise ShapeError(f"dot_general takes no {short(left)} with {short(right)}")
    return left if ranks[0] > ranks[1] else right


def _rank(dtype: str) -> tuple[int, int, int, bool]:
    of_kind, width = kind(dtype), bits(dtype)
    if of_kind == "complex" or width is None or (of_kind == "float" and dtype not in _PRECISION):
        raise Undecided
    return (*_PRECISION.get(dtype, (-1, -1)), 1 if dtype == "bool" else width, of_kind != "unsigned")


@shape_function("jax.lax.dot")
def lax_dot(
    lhs: Any,
    rhs: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    *,
    dimension_numbers: Any = None,
    out_sharding: Any = None,
) -> Aval:
    """Vectors and matrices without dimension numbers. Older JAX takes the precision by position, so this does."""
    left, right = array(lhs), array(rhs)
    if dimension_numbers is None:
        ranks = [len(known_shape(aval)) for aval in (left, right)]
        if not all(rank in (1, 2) for rank in ranks):
            raise ShapeError("lax.dot of other than vectors and matrices needs dimension_numbers")
        dimension_numbers = (((ranks[0] - 1,), (0,)), ((), ()))
    return dot_general(left, right, dimension_numbers, precision, preferred_element_type)


@shape_function("jax.experimental.pallas.dot")
def pl_dot(a: Any, b: Any, trans_a: Any = False, trans_b: Any = False, allow_tf32: Any = None, precision: Any = None) -> Aval:
    """A product of two matrices, in int32 or float32."""
    lhs, rhs = array(a), array(b)
    left, right = known_shape(lhs), known_shape(rhs)
    if len(left) != 2 or len(right) != 2:
        raise ShapeError("pl.dot needs two matrices")
    axes = ((0 if flag(trans_a) else 1,), (1 if flag(trans_b) else 0,))
    dtype = _accumulated(lhs.dtype, rhs.dtype, None)
    made = None if dtype is None else "float32" if kind(dtype) == "float" else "int32"
    return Aval(_contract("pl.dot", left, right, axes, ((), ())), made, all_weak([lhs, rhs]))

"""Broadcasting of shapes with symbolic, unknown, and missing dimensions.

Mirrors ``broadcast_shapes`` and ``_try_broadcast_shapes`` of ``jax/_src/lax/lax.py``.
"""

from __future__ import annotations

from pallas_lsp.shapes.avals import ShapeError, shape_text
from pallas_lsp.shapes.dims import MaybeDim, Shape, Truth, equal


def broadcast(*shapes: Shape) -> Shape:
    """The shape of NumPy's broadcasting of all; None where a rank is unknown.

    Raises ShapeError where two dimensions differ for certain and neither is 1.
    """
    if shapes and all(shape == shapes[0] for shape in shapes):
        return shapes[0]
    known = [shape for shape in shapes if shape is not None]
    rank = max((len(shape) for shape in known), default=0)
    padded = [(1,) * (rank - len(shape)) + shape for shape in known]
    result = tuple(_broadcast_dim(dims, known) for dims in zip(*padded, strict=True))
    return None if len(known) < len(shapes) else result


def broadcast_lax(*shapes: Shape) -> Shape:
    """The shape of an n-ary operation of ``jax.lax``: scalars go with everything, other ranks must be equal."""
    known = [shape for shape in shapes if shape is not None]
    ranked = [shape for shape in known if shape]
    if len({len(shape) for shape in ranked}) > 1:
        raise ShapeError(f"jax.lax needs operands of one rank, not {_texts(ranked)}")
    result = broadcast(*ranked)
    if len(known) == len(shapes):
        return result
    # An operand of unknown rank is a scalar or has the rank of the others, whose dimensions of 1 it may stretch.
    if result is None or not result:
        return None
    return tuple(None if d is None or equal(d, 1) is not Truth.NO else d for d in result)


def same_shape(what: str, shapes: list[Shape], free: int | None = None) -> Shape:
    """The one shape of all, each dimension as it is best known; the dimension ``free`` may differ and is that of the first.

    Raises ShapeError where two certainly differ; ``what`` names the function in its message.
    """
    known = [shape for shape in shapes if shape is not None]
    if not known:
        return None
    columns = list(zip(*known, strict=False))
    if len({len(shape) for shape in known}) > 1 or any(_certainly_differ(dims) for i, dims in enumerate(columns) if i != free):
        where = "" if free is None else f" besides axis {free}"
        raise ShapeError(f"{what} needs arrays of one shape{where}, not {' and '.join(shape_text(shape) for shape in known)}")
    return tuple(dims[0] if i == free else best_known(dims) for i, dims in enumerate(columns))


def best_known(dims: tuple[MaybeDim, ...]) -> MaybeDim:
    """Of dims that must be equal, the one that says most: a number before a symbol before None."""
    return next((d for d in dims if isinstance(d, int)), next((d for d in dims if d is not None), None))


def _certainly_differ(dims: tuple[MaybeDim, ...]) -> bool:
    return any(equal(a, b) is Truth.NO for i, a in enumerate(dims) for b in dims[:i])


def broadcast_to(shape: Shape, target: Shape) -> Shape:
    """``target``, checked: ``shape`` must broadcast to it without changing it.

    Raises ShapeError where it certainly does not.
    """
    if shape is None or target is None:
        return target
    if len(shape) > len(target):
        raise ShapeError(f"{shape_text(shape)} has more dimensions than {shape_text(target)}")
    for d, wanted in zip(reversed(shape), reversed(target), strict=False):
        if equal(d, 1) is Truth.NO and equal(d, wanted) is Truth.NO:
            raise ShapeError(f"cannot broadcast {shape_text(shape)} to {shape_text(target)}")
    return target


def _broadcast_dim(dims: tuple[MaybeDim, ...], shapes: list[tuple[MaybeDim, ...]]) -> MaybeDim:
    stretched = list(dict.fromkeys(d for d in dims if d != 1))
    if not stretched:
        return 1
    certain = [d for d in stretched if equal(d, 1) is Truth.NO]
    for i, d in enumerate(certain):
        if any(equal(d, other) is Truth.NO for other in certain[:i]):
            raise ShapeError(f"cannot broadcast {_texts(shapes)}")
    if certain:
        # Whatever the others are, 1 or the same, this one stays: a plain number says it best.
        return next((d for d in certain if isinstance(d, int)), certain[0])
    return stretched[0] if len(stretched) == 1 else None


def _texts(shapes: list[tuple[MaybeDim, ...]]) -> str:
    return " with ".join(shape_text(shape) for shape in shapes)

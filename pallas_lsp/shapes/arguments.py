"""Reading the arguments of a shape function: what is not there to be known raises Undecided, what JAX refuses a ShapeError."""

from __future__ import annotations

from typing import Any

from pallas_lsp.shapes.avals import UNKNOWN, Aval, ShapeError, Unknown, as_aval, shape_text
from pallas_lsp.shapes.dims import Dim, MaybeDim, Poly, Shape, Truth, less
from pallas_lsp.shapes.dtypes import Operand, canonical


class Undecided(Exception):
    """The arguments do not say enough; :func:`pallas_lsp.shapes.table.evaluate` answers UNKNOWN."""


def array(value: Any) -> Aval:
    """``value`` where JAX wants an array: an Aval, a number, or something unknown.

    Raises Undecided for other values: JAX may refuse them or convert them.
    """
    if isinstance(value, Aval | Poly | Unknown | int | float | complex):
        return as_aval(value)
    raise Undecided


def arrays(value: Any) -> list[Aval]:
    """The arrays of a sequence. Raises Undecided for what is no sequence.

    A symbolic number among them is taken for unknown: what is not told apart from a size where it comes from may be an array.
    """
    return [as_aval(UNKNOWN) if isinstance(one, Poly) else array(one) for one in items(value)]


def known_shape(aval: Aval) -> tuple[MaybeDim, ...]:
    """The shape of an array of known rank. Raises Undecided for an unknown rank."""
    if aval.shape is None:
        raise Undecided
    return aval.shape


def integer(value: Any) -> int:
    """A known Python int. Raises Undecided for anything else."""
    if isinstance(value, int):
        return int(value)
    raise Undecided


def dim(value: Any) -> Dim:
    """An int or a symbolic one. Raises Undecided for anything else."""
    if isinstance(value, int | Poly):
        return value
    raise Undecided


def flag(value: Any) -> bool:
    """A known bool. Raises Undecided for anything else."""
    if isinstance(value, bool | int):
        return bool(value)
    raise Undecided


def items(value: Any) -> tuple[Any, ...]:
    """A tuple or list. Raises Undecided for anything else."""
    if isinstance(value, tuple | list):
        return tuple(value)
    raise Undecided


def axis_of(value: Any, rank: int) -> int:
    """An axis of an array of ``rank`` dimensions, counted from the front. Raises ShapeError for one out of range."""
    number = integer(value)
    if not -rank <= number < rank:
        raise ShapeError(f"axis {number} is out of bounds for an array of {rank} dimensions")
    return number % rank


def axes_of(value: Any, rank: int) -> tuple[int, ...]:
    """One axis or several, all of them for None. Raises ShapeError for one out of range or given twice."""
    if value is None:
        return tuple(range(rank))
    numbers = tuple(axis_of(a, rank) for a in (value if isinstance(value, tuple | list) else (value,)))
    if len(set(numbers)) < len(numbers):
        raise ShapeError(f"axes {tuple(numbers)} name one axis twice")
    return numbers


def shape_of(value: Any) -> Shape:
    """A shape given as a dim or a sequence of dims; an unknown dim is None, an unknown sequence a shape of unknown rank.

    Raises ShapeError for a certainly negative dim, Undecided for what is no dim.
    """
    if isinstance(value, Unknown):
        return None
    dims = tuple(maybe_dim(d) for d in (value if isinstance(value, tuple | list) else (value,)))
    if any(less(d, 0) is Truth.YES for d in dims):
        raise ShapeError(f"a shape has no negative dimension: {shape_text(dims)}")
    return dims


def maybe_dim(value: Any) -> MaybeDim:
    """A dim, None where it is unknown or traced. Raises Undecided for what is no dim."""
    if value is None or isinstance(value, Unknown | Aval):
        return None
    return dim(value)


def dtype_of(value: Any) -> str | None:
    """The canonical dtype that an argument names; None for an unknown one. Raises Undecided for what names none."""
    if isinstance(value, Unknown):
        return None
    name = canonical(value) if isinstance(value, str) else None
    if name is None:
        raise Undecided
    return name


def dtype_or(value: Any, default: Operand) -> Operand:
    """``(dtype, weak)`` of a result whose dtype may be given: the default for None, else the strong dtype named."""
    if value is None:
        return default
    # An unknown argument may be None, so the default may hold.
    return (None, None if default[1] is not False else False) if isinstance(value, Unknown) else (dtype_of(value), False)

"""What is known of an array value: its shape, its dtype, and whether its dtype is weak."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pallas_lsp.shapes.dims import Poly, Shape, render
from pallas_lsp.shapes.doubles import Double
from pallas_lsp.shapes.dtypes import short
from pallas_lsp.shapes.errors import ShapeError

__all__ = ["UNKNOWN", "Aval", "DtypeName", "Named", "ShapeError", "Unknown", "as_aval", "aval_text", "shape_text"]


@dataclass(frozen=True, slots=True)
class Aval:
    """An array of this shape and dtype. A None, whole or as a dimension, is what is not known.

    ``weak`` says that JAX would let another operand's dtype win, as for Python scalars. ``named``: what the program calls a dtype that is
    not known, such as ``q.dtype``: two arrays of one name have one dtype, of two names they may.
    """

    shape: Shape
    dtype: str | None
    weak: bool | None = False
    named: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether something of its shape or dtype is not known."""
        return self.dtype is None or self.shape is None or None in self.shape


class Unknown:
    """A value of which nothing is known: it could be an int, an array, a tuple."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNKNOWN"


class Named(Unknown):
    """Something of which only the program's name is known: where an array is wanted, its dtype is called ``name.dtype``; where a dtype is
    wanted, it is that dtype.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Named({self.name})"


class DtypeName(Unknown):
    """A dtype of which only the program's name is known."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"DtypeName({self.name})"


UNKNOWN: Final = Unknown()

_SCALARS = {
    bool: Aval((), "bool"), int: Aval((), "int32", True), float: Aval((), "float32", True), complex: Aval((), "complex64", True),
    Double: Aval((), "float32"),
}  # fmt: skip
_NOTHING_KNOWN = Aval(None, None, None)


def as_aval(value: object) -> Aval:
    """``value`` as an array: a Python number is a rank-0 weak one (a bool is not weak); what is no array is wholly unknown."""
    if isinstance(value, Aval):
        return value
    if isinstance(value, Poly):
        return _SCALARS[int]
    return _SCALARS.get(type(value), _NOTHING_KNOWN)


def shape_text(shape: Shape) -> str:
    """``(8, 4·bq)`` in words, ``?`` for what is unknown."""
    if shape is None:
        return "?"
    return f"({', '.join(render(d) for d in shape)}{',' if len(shape) == 1 else ''})"


def aval_text(aval: Aval) -> str:
    """``f32[8,128]``, with ``?`` for unknown parts and ``f32[?...]`` for an unknown rank."""
    dims = "?..." if aval.shape is None else ",".join(render(d) for d in aval.shape)
    return f"{short(aval.dtype) if aval.dtype is not None else aval.named or '?'}[{dims}]"

"""What a parameter's annotation says of an array: ``Float[Array, "b s 128"]`` of the package jaxtyping.

Mirrors the small language of ``jaxtyping``: sizes, names that are one size wherever they stand, ``_`` for any, and what may be several dims
(``...``, ``*batch``), of which nothing follows here.
"""

from __future__ import annotations

import ast

from ..resolve.imports import LibraryName
from ..shapes import dims, dtypes
from ..shapes.avals import Aval
from ..shapes.dims import Dim, MaybeDim
from .frames import Frame
from .machine import dim_at
from .values import Array, Imported, Library

_PACKAGE = "jaxtyping"
_SEVERAL = ("...", "*")


class Annotations:
    """Reads the annotations of one function's parameters, for which a name is the same size everywhere."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.sizes: dict[str, Dim] = {}

    def array(self, parameter: ast.arg) -> Array | None:
        """The array that a parameter's annotation describes; None where it describes none, or not how many dims it has."""
        node = parameter.annotation
        if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Tuple) or len(node.slice.elts) != 2:
            return None
        kind, text = self._kind(node.value), node.slice.elts[1]
        if kind is None or not isinstance(text, ast.Constant) or not isinstance(text.value, str):
            return None
        words = text.value.split()
        if any(word.lstrip("#?").startswith(_SEVERAL) for word in words):
            return None
        shape = tuple(self._size(word, parameter.arg, axis) for axis, word in enumerate(words))
        exact = kind == "Bool" or kind[-1].isdecimal()
        dtype = dtypes.canonical(kind.lower()) if exact else None
        return Array(Aval(shape, dtype, False, None if dtype is not None else f"{parameter.arg}.dtype"), assumed=True)

    def _kind(self, node: ast.expr) -> str | None:
        """The name of jaxtyping's that an expression is: ``Float``, ``Int32`` …"""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            holder = self._value(node.value.id)
            return node.attr if holder == _PACKAGE else None
        name = self._value(node.id) if isinstance(node, ast.Name) else ""
        return name.removeprefix(f"{_PACKAGE}.") if name.startswith(f"{_PACKAGE}.") else None

    def _value(self, name: str) -> str:
        value = self.frame.lookup(name)
        if isinstance(value, Imported):
            return value.target.dotted if isinstance(value.target, LibraryName) else ""
        return value.name if isinstance(value, Library) else ""

    def _size(self, word: str, parameter: str, axis: int) -> MaybeDim:
        if word.isdecimal():
            return int(word)
        if word.startswith("_"):
            return dim_at(parameter, axis)
        if not word.isidentifier():
            return None
        return self.sizes.setdefault(word, dims.symbol(f"{parameter}.shape[{axis}]", 1))

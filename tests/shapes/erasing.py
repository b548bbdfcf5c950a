"""Taking knowledge away from a call at random: dims become symbols or unknown, dtypes names or unknown, whole arguments unknown."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from shapes.against_jax import Call

from pallas_lsp.shapes.avals import UNKNOWN, Aval, DtypeName, Named
from pallas_lsp.shapes.dims import Symbol, symbol
from pallas_lsp.shapes.dtypes import canonical
from pallas_lsp.shapes.indexing import DsIndex, SliceIndex


class Eraser:
    """Erases with a given seed; ``env`` collects the symbols that it made and what they stand for."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.env: dict[Symbol, int] = {}

    def call(self, made: Call) -> Call:
        return Call(tuple(self.value(arg) for arg in made.args), {name: self.value(arg) for name, arg in made.kwargs.items()})

    def value(self, value: Any) -> Any:
        if self._random.random() < 0.08:
            return UNKNOWN
        if isinstance(value, tuple | list):
            return type(value)(self.value(item) for item in value)
        if isinstance(value, SliceIndex | DsIndex):
            return type(value)(*(self.value(getattr(value, name)) for name in value.__slots__))
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return self.dim(value)
        if isinstance(value, Aval):
            return Named(self.name(value.dtype)) if value.dtype is not None and self._random.random() < 0.1 else self.aval(value)
        if isinstance(value, str) and canonical(value) == value and self._random.random() < 0.3:
            return self._random.choice((DtypeName, Named))(self.name(value))
        return value

    def aval(self, aval: Aval) -> Aval:
        roll = self._random.random()
        if roll < 0.1:
            return replace(aval, shape=None)
        if roll < 0.2:
            return replace(aval, dtype=None, weak=None)
        if roll < 0.3:
            return replace(aval, weak=None)
        if roll < 0.6 and aval.dtype is not None:
            aval = replace(aval, dtype=None, named=self.name(aval.dtype))
        assert aval.shape is not None
        return replace(aval, shape=tuple(None if self._random.random() < 0.1 else self.dim(d) for d in aval.shape))

    def name(self, dtype: str) -> str:
        """One of two names that this dtype has; ``against_jax.dtype_called`` reads it."""
        return f"{self._random.choice('xy')}.{dtype}"

    def dim(self, value: Any) -> Any:
        """A number as it is, or as one of three symbols that have this value."""
        if self._random.random() < 0.5:
            return value
        made = Symbol(f"{self._random.choice('abc')}{value}", self._random.choice((None, 0, 1)) if value else None)
        self.env[made] = value
        return symbol(made.name, made.least)

"""Python's built-in names as library values, so that one table of models serves all functions."""

from __future__ import annotations

import builtins

from .values import Library, Value

_CONSTANTS: dict[str, Value] = {"NotImplemented": Library("NotImplemented"), "Ellipsis": Ellipsis, "__debug__": True}
_CACHE: dict[str, Library] = {}


def lookup(name: str) -> Value | None:
    """The value of a built-in name, None when there is none of that name."""
    if name in _CONSTANTS:
        return _CONSTANTS[name]
    if not hasattr(builtins, name):
        return None
    return _CACHE.setdefault(name, Library(name))

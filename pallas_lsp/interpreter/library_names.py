"""Names of libraries that are plain constants; every other name stands for itself."""

from __future__ import annotations

from .values import Library, Value

_NUMBERS = {"pi": 3.141592653589793, "e": 2.718281828459045, "inf": float("inf"), "nan": float("nan")}
_CONSTANTS: dict[str, Value] = {f"{root}.{name}": value for root in ("math", "numpy", "jax.numpy") for name, value in _NUMBERS.items()}
_CONSTANTS |= {"typing.TYPE_CHECKING": False, "numpy.newaxis": None, "jax.numpy.newaxis": None}
_CACHE: dict[str, Library] = {}


def library(name: str) -> Value:
    """The value of a library's canonical public name: a constant where it is one, else the name itself."""
    if name in _CONSTANTS:
        return _CONSTANTS[name]
    known = _CACHE.get(name)
    if known is None:
        known = _CACHE[name] = Library(name)
    return known

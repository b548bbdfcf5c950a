"""NumPy's float64 scalars: Python takes them for floats, JAX takes them for float32 arrays, which are not weak."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Double(float):
    """A ``numpy.float64``: what is computed with one and Python's numbers is one again."""

    __slots__ = ()


def _operator(name: str) -> Callable[..., Any]:
    python: Callable[..., Any] = getattr(float, name)

    def computed(*operands: Any) -> Any:
        result = python(*operands)
        return Double(result) if type(result) is float else result

    return computed


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    for _method in (f"__{_name}__", f"__r{_name}__"):
        setattr(Double, _method, _operator(_method))
for _name in ("neg", "pos", "abs"):
    setattr(Double, f"__{_name}__", _operator(f"__{_name}__"))

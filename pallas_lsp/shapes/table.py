"""The registry of shape functions: by the public dotted name of a JAX function, what it returns for given arguments.

A shape function is a plain Python function with the parameters of the public JAX function, so that Python itself binds the call.
Its arguments are :class:`Aval` for arrays, Python constants, dims (int or Poly), dtype names, tuples and lists of these, or UNKNOWN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from importlib import import_module
from typing import Any, TypeVar

from pallas_lsp.shapes.avals import UNKNOWN, Aval, ShapeError, Unknown
from pallas_lsp.shapes.named_dtypes import with_names
from pallas_lsp.shapes.poly import MEMO, Poly

ShapeFunction = Callable[..., Any]
_Function = TypeVar("_Function", bound=ShapeFunction)

_FAMILIES = (
    "creation",
    "elementwise",
    "lax_elementwise",
    "selection",
    "casting",
    "activations",
    "reductions",
    "shaping",
    "joining",
    "slicing",
    "contractions",
    "sorting",
    "randomness",
    "queries",
    "collectives",
    "pallas",
)
_FUNCTIONS: dict[str, ShapeFunction] = {}
_OPERATORS: dict[str, ShapeFunction] = {}
_METHODS: dict[str, ShapeFunction] = {}


def shape_function(*names: str) -> Callable[[_Function], _Function]:
    """Register the decorated function under these qualified names (``"jax.numpy.sum"``)."""
    return _register(_FUNCTIONS, names)


def operator_function(*names: str) -> Callable[[_Function], _Function]:
    """Register the decorated function as the operators of arrays of these names (``"+"``, ``"unary -"``)."""
    return _register(_OPERATORS, names)


def method_function(*names: str) -> Callable[[_Function], _Function]:
    """Register the decorated function, whose first parameter is the array, as methods or properties of arrays."""
    return _register(_METHODS, names)


def _register(registry: dict[str, ShapeFunction], names: Iterable[str]) -> Callable[[_Function], _Function]:
    def decorate(function: _Function) -> _Function:
        for name in names:
            if name in registry:
                raise ValueError(f"two shape functions are registered as {name}")
            registry[name] = function
        return function

    return decorate


@cache
def _load() -> None:
    for family in _FAMILIES:
        import_module(f"pallas_lsp.shapes.{family}")


def lookup(name: str) -> ShapeFunction | None:
    """The shape function of a public JAX function, by its qualified name."""
    _load()
    return _FUNCTIONS.get(name)


def registered() -> tuple[Mapping[str, ShapeFunction], Mapping[str, ShapeFunction], Mapping[str, ShapeFunction]]:
    """All functions, operators and methods by name."""
    _load()
    return _FUNCTIONS, _OPERATORS, _METHODS


def evaluate(name: str, args: Iterable[Any], kwargs: Mapping[str, Any]) -> Any:
    """What the JAX function returns for these arguments: an Aval, a tuple or list of them, an int or Poly, or UNKNOWN.

    UNKNOWN also where the name is not in the table, the arguments do not bind, or something needed is unknown.
    Raises ShapeError, and nothing else, where JAX certainly raises.
    """
    _load()
    return _call(_FUNCTIONS.get(name), tuple(args), dict(kwargs))


def operator(name: str, a: Any, b: Any = None) -> Any:
    """The value of the operator ``name`` on arrays: binary (``"+"``, ``"@"``, ``"<="`` …) or, with ``a`` alone, ``"unary -"``,
    ``"unary +"``, ``"~"``, ``"abs"``. Errors as :func:`evaluate`."""
    _load()
    unary = name in ("unary -", "unary +", "~", "abs")
    return _call(_OPERATORS.get(name), (a,) if unary else (a, b), {})


def method(name: str, aval: Any, args: Iterable[Any] = (), kwargs: Mapping[str, Any] | None = None) -> Any:
    """The value of ``aval.name(*args, **kwargs)``, or of the property ``aval.name``. Errors as :func:`evaluate`."""
    _load()
    return _call(_METHODS.get(name), (aval, *args), dict(kwargs or {}))


# Values that are equal only if they are the same to a shape function, once they are of one type.
_PLAIN = frozenset({Aval, Poly, Unknown, bool, int, float, complex, str, type(None), type(...)})


def _are_plain(values: Iterable[Any]) -> bool:
    """Whether an answer for the values is one for all that are equal and of their types."""
    for value in values:
        if type(value) not in _PLAIN and not (type(value) is tuple and all(type(part) is int or type(part) is Poly for part in value)):
            return False
    return True


def _call(function: ShapeFunction | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if function is None:
        return UNKNOWN
    try:
        answer = _known_answer if _are_plain(args) and _are_plain(kwargs.values()) else _answer
        return answer(function, *args, **kwargs)
    except ShapeError:
        raise
    except Exception:
        # A call that does not bind, or an argument of a kind that the function does not expect: JAX may accept it, so nothing is said.
        return UNKNOWN


def _answer(function: ShapeFunction, /, *args: Any, **kwargs: Any) -> Any:
    return with_names(function, args, kwargs, function(*args, **kwargs))


# Every path of a kernel asks the same again.
_known_answer = lru_cache(MEMO, typed=True)(_answer)

"""The divisor of a traced index that the TPU compiler can prove.

It looks through products, sums, remainders, ``minimum``, selects and ``pl.multiple_of``, and through nothing else. What is not listed here
gives None: not known.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .values import Array, Value

_SAME = frozenset({"astype", "convert_element_type", "int32", "uint32", "negative", "asarray", "neg"})
_OPAQUE = frozenset({"left_shift", "right_shift", "shift_left", "abs", "program_id", "axis_index"})


def divisor(function: str, args: tuple[Value, ...]) -> int | None:
    """The greatest number by which the compiler knows the function's result to be divisible (0: it is 0); None where that is not known
    here.
    """
    short = function.rpartition(".")[2]
    if short in _OPAQUE:
        return 1
    if short in _SAME:
        return of(args[0]) if args else None
    rule = _RULES.get(short)
    return rule(args) if rule is not None else None


def of(value: Value) -> int | None:
    """The divisor of a value: a number's own, else what was found when the array was made."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return abs(value)
    if isinstance(value, Array):
        return abs(value.constant) if isinstance(value.constant, int) else value.multiple
    return None


def _product(args: tuple[Value, ...]) -> int | None:
    a, b = of(args[0]), of(args[1])
    return None if a is None or b is None else a * b


def _common(args: tuple[Value, ...]) -> int | None:
    parts = [of(arg) for arg in args]
    return None if None in parts else math.gcd(*(part for part in parts if part is not None))


def _quotient(args: tuple[Value, ...]) -> int | None:
    return of(args[0]) if args[1] == 1 else None if of(args[0]) is None else 1


def _declared(args: tuple[Value, ...]) -> int | None:
    known, declared = of(args[0]), args[1]
    return math.lcm(declared, known or 1) if isinstance(declared, int) and declared > 0 else None


_RULES: dict[str, Callable[[tuple[Value, ...]], int | None]] = {
    **dict.fromkeys(("multiply", "mul"), _product),
    **dict.fromkeys(("add", "subtract", "sub", "remainder", "rem", "mod", "minimum", "min"), _common),
    **dict.fromkeys(("where", "select"), lambda args: _common(args[1:])),
    **dict.fromkeys(("floor_divide", "div"), _quotient),
    "multiple_of": _declared,
}

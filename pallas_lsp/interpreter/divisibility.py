"""The divisor of a traced index that the TPU compiler can prove.

It looks through products, sums, remainders, ``minimum``, selects and ``pl.multiple_of``, and through nothing else. What is not listed here
gives None: not known.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable

from ..shapes import dtypes
from .values import Array, Value

_SAME = frozenset({"astype", "convert_element_type", "int32", "uint32", "negative", "asarray", "neg"})
_OPAQUE = frozenset({"abs", "absolute", "program_id", "axis_index"})


def divisor(function: str, args: tuple[Value, ...]) -> int | None:
    """The greatest number by which the compiler knows the function's result to be divisible (0: it is 0); None where that is not known
    here.
    """
    short = function.rpartition(".")[2]
    if short in _OPAQUE:
        return 1
    if short in _SAME:
        return _cast(args)
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


def _is_number(value: Value) -> bool:
    return isinstance(value, int) or (isinstance(value, Array) and value.constant is not None)


def _mixed(args: tuple[Value, ...]) -> int | None:
    """What the compiler does not look through, unless it folds it away: of a number alone, of 0 and -1, of twice the same."""
    traced = [arg for arg in args if not _is_number(arg)]
    folds = any(arg in (0, -1) for arg in args if isinstance(arg, int)) or len({_text(arg) for arg in traced}) < len(traced)
    return None if folds or not traced or not all(map(of, traced)) else 1


def _text(value: Value) -> object:
    made = value.made_by if isinstance(value, Array) else None
    return ast.dump(made) if made is not None else id(value)


def _greater(args: tuple[Value, ...]) -> int | None:
    """``maximum``: as `_mixed`, but 0 is a bound like others."""
    return _mixed(tuple(arg for arg in args if not _is_number(arg) or arg not in (0, -1)))


def _bounded(args: tuple[Value, ...]) -> int | None:
    """``jnp.clip`` of a traced value by bounds that are there."""
    bounds = [bound for bound in args[1:] if bound is not None]
    return 1 if bounds and all(map(_is_number, bounds)) and not _is_number(args[0]) and of(args[0]) else None


def _shift(args: tuple[Value, ...]) -> int | None:
    return of(args[0]) if args[1] == 0 else _mixed(args)


def _ceiling(args: tuple[Value, ...]) -> int | None:
    return None if args[1] == 1 or not of(args[0]) or _is_number(args[0]) else 1


def _common(args: tuple[Value, ...]) -> int | None:
    parts = [of(arg) for arg in args]
    return None if None in parts else math.gcd(*(part for part in parts if part is not None))


def _cast(args: tuple[Value, ...]) -> int | None:
    """A cast between integers keeps the divisor, one from a float loses it."""
    if not args:
        return None
    return 1 if isinstance(args[0], Array) and dtypes.is_floating(args[0].dtype) else of(args[0])


def _floor(args: tuple[Value, ...]) -> int | None:
    return of(args[0]) if args[1] == 1 else None if of(args[0]) is None else 1


def _quotient(args: tuple[Value, ...]) -> int | None:
    """``lax.div``, which the compiler looks through where it leaves no rest; ``//`` chooses between two results."""
    known, by = of(args[0]), args[1]
    if known is None or not isinstance(by, int) or by == 0:
        return None
    return known // abs(by) if known % by == 0 else 1


def _declared(args: tuple[Value, ...]) -> int | None:
    known, declared = of(args[0]), args[1]
    return math.lcm(declared, known or 1) if isinstance(declared, int) and declared > 0 else None


_RULES: dict[str, Callable[[tuple[Value, ...]], int | None]] = {
    **dict.fromkeys(("multiply", "mul"), _product),
    **dict.fromkeys(("add", "subtract", "sub", "remainder", "rem", "mod", "minimum", "min"), _common),
    **dict.fromkeys(("where", "select"), lambda args: _common(args[1:])),
    **dict.fromkeys(("maximum", "max"), _greater),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), _mixed),
    **dict.fromkeys(("left_shift", "right_shift", "shift_left", "shift_right_logical", "shift_right_arithmetic"), _shift),
    "clip": _bounded,
    "clamp": lambda args: _bounded((args[1], args[0], args[2])),
    "cdiv": _ceiling,
    "floor_divide": _floor,
    "div": _quotient,
    "multiple_of": _declared,
}

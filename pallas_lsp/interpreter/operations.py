"""Array operations as events: which function, of what, and what it gives."""

from __future__ import annotations

import ast
from typing import NoReturn

from ..shapes import dtypes
from .divisibility import divisor
from .frames import Frame
from .machine import Machine
from .operation_events import Operation, TracedAsStatic
from .paths import PathEnd
from .values import Array, DynamicSlice, Value

OPERATOR: dict[str, str] = {
    "+": "add", "-": "subtract", "*": "multiply", "/": "true_divide", "//": "floor_divide", "%": "remainder", "**": "power", "@": "matmul",
    "&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor", "<<": "left_shift", ">>": "right_shift", "==": "equal", "!=": "not_equal",
    "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal", "unary -": "negative",
    "unary +": "positive", "~": "invert", "abs": "abs",
}  # fmt: skip
"""The function of ``jax.numpy`` that an operator of arrays is."""


_CERTAIN_OF_INTEGERS = frozenset(f"jax.numpy.{name}" for name in ("isfinite", "isinf", "isneginf", "isposinf"))
"""Functions that answer without a look at what they are given, if it holds integers."""


_UNCHANGING = frozenset(
    {
        *(f"jax.numpy.{name}" for name in ("positive", "real", "conj", "conjugate", "asarray", "astype", "view")),
        *(f"jax.numpy.{name}" for name in ("reshape", "broadcast_to", "transpose", "swapaxes", "moveaxis", "squeeze", "expand_dims")),
        *(f"jax.numpy.{name}" for name in ("concatenate", "floor", "ceil", "float32", "bfloat16", "int32")),
        *(f"jax.lax.{name}" for name in ("convert_element_type", "reshape", "broadcast", "broadcast_in_dim", "transpose", "squeeze")),
        *(f"jax.lax.{name}" for name in ("expand_dims", "concatenate", "collapse")),
    }
)
"""Functions that give their operand itself back where they have nothing to do; ``tests/ops/forwarding_cases.py`` asks JAX."""


def note_operation(
    machine: Machine,
    function: str,
    args: tuple[Value, ...],
    kwargs: dict[str, Value],
    result: Value,
    node: ast.AST,
    frame: Frame,
    written: str = "",
) -> None:
    """Say that a function of arrays is applied, inside a kernel and outside transformations that change what it computes."""
    if machine.kernel is not None and not machine.transformed:
        if isinstance(result, Array) and result.shape == () and result.dtype in ("int32", "uint32"):
            known = divisor(function, args)
            result.multiple = result.multiple if known is None else known
        if function in _CERTAIN_OF_INTEGERS and isinstance(result, Array):
            seen = [value for value in args if isinstance(value, Array) and dtypes.kind(value.dtype) not in ("signed", "unsigned", "bool")]
            result.operands = result.operands if seen else ()
        if function in _UNCHANGING and isinstance(result, Array):
            result.through = _only_array(args)
        machine.emit(Operation(machine.where(node, frame), function, args, kwargs, result, written, machine.surely_wide))


def _only_array(args: tuple[Value, ...]) -> Array | None:
    """The operand of a function of one array, or of a list of one."""
    first = args[0] if args else None
    if isinstance(first, tuple | list):
        first = first[0] if len(first) == 1 else None
    return first if isinstance(first, Array) else None


def note_operator(machine: Machine, symbol: str, args: tuple[Value, ...], result: Value, node: ast.AST, frame: Frame) -> None:
    """Say that an operator is applied to arrays."""
    name = OPERATOR.get(symbol)
    if name is not None:
        note_operation(machine, f"jax.numpy.{name}", args, {}, result, node, frame, symbol.removeprefix("unary "))


def is_traced(machine: Machine, value: Value) -> bool:
    """Whether JAX knows no number for the value while it traces the kernel that runs."""
    return isinstance(value, Array) and value.traced and value.constant is None and machine.kernel is not None


def traced_in(machine: Machine, value: Value) -> Value | None:
    """The first traced value in a size, a shape or a slice, None when there is none."""
    if isinstance(value, tuple | list):
        return next((found for part in value if (found := traced_in(machine, part)) is not None), None)
    if isinstance(value, slice):
        return traced_in(machine, (value.start, value.stop, value.step))
    if isinstance(value, DynamicSlice):
        return traced_in(machine, (value.start, value.size, value.stride))
    return value if is_traced(machine, value) else None


def needs_static(machine: Machine, kind: str, value: Value, user: str, node: ast.AST, frame: Frame) -> NoReturn:
    """End the path as JAX does where a traced value would have to be known; a ``try`` of the program's may expect it."""
    if machine.guarded:
        raise PathEnd("raise")
    machine.emit(TracedAsStatic(machine.where(node, frame), kind, value, user))
    raise PathEnd("a traced value would have to be known")

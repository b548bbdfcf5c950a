"""Python's operators on interpreted values."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Iterable
from typing import Any

from ..shapes import dims, table
from ..shapes.avals import UNKNOWN, Aval, ShapeError
from ..shapes.dims import Poly, Truth
from . import host_arrays
from .events import RefAsArray, SemaphoreValue, ShapeFault
from .frames import Frame
from .machine import Arguments, Machine
from .operations import is_traced, needs_static, note_operator, traced_in
from .truth import as_dim, born_in_kernel, equals, is_none, known_truth, negate, order, truth
from .values import Array, BoundMethod, Condition, Dtype, Instance, Library, Ref, RefIndexer, Unknown, UnknownLength, UnknownShape, Value
from .written import written

SYMBOL: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**", ast.MatMult: "@",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
_NATIVE: dict[str, Any] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv, "%": operator.mod,
    "**": operator.pow, "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_DIM: dict[str, Any] = {"+": dims.add, "-": dims.sub, "*": dims.mul, "//": dims.floordiv, "%": dims.mod, "**": dims.power}
_DUNDER = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "truediv",
    "//": "floordiv",
    "%": "mod",
    "**": "pow",
    "@": "matmul",
    "&": "and",
    "|": "or",
}
_PLAIN = (bool, int, float, complex, str, bytes, tuple, list, dict, set, type(None))
_LIMIT = 1 << 16
A_TEXT = "a text"
"""Why a value is not known that is a text whatever it says."""
_NUMBER_FORMAT = re.compile(r"%[-+ #0]*[\d*]*(?:\.[\d*]+)?[diouxXeEfFgG]")
_ANY_FORMAT = re.compile(r"%(?:%|[-+ #0]*\d*(?:\.\d+)?[a-zA-Z])")
SEMAPHORE_DTYPES = ("semaphore", "dma_sem", "barrier_semaphore")


def binary(machine: Machine, op: str, a: Value, b: Value, node: ast.AST, frame: Frame) -> Value:
    """``a op b``."""
    if isinstance(a, _PLAIN) and isinstance(b, _PLAIN):
        return _native(op, a, b)
    for ref in (a, b):
        if isinstance(ref, Ref | RefIndexer):
            machine.emit(RefAsArray(machine.where(node, frame), op, ref.ref if isinstance(ref, RefIndexer) else ref))
            return Unknown("a ref is used as an array")
    if isinstance(a, Instance) or isinstance(b, Instance):
        return _user_operator(machine, op, a, b, node, frame)
    if isinstance(a, str) or isinstance(b, str):
        return _with_text(machine, op, a, b, node, frame)
    if isinstance(a, Array) or isinstance(b, Array):
        return array_operator(machine, op, a, b, node, frame)
    if (isinstance(a, tuple | list) and isinstance(b, tuple | list | Unknown | Poly)) or isinstance(b, tuple | list):
        start = a.head if isinstance(a, UnknownLength) else a
        head = list(start) if isinstance(start, tuple | list) and op == "+" else []
        return UnknownLength("a sequence of unknown length", head, host=machine.kernel is None)
    if op == "@" and isinstance(a, Library):
        from .library.mesh_kernels import at_mesh

        return at_mesh(machine, a, b, node, frame)
    if op not in ("+", "*") and made_on_host(a) and made_on_host(b):  # those two are done with sequences, too
        _learn_numbers(machine, (a, b), node)
    left, right = as_dim(a), as_dim(b)
    if left is not None and right is not None and op in _DIM:
        result = _DIM[op](left, right)
        if isinstance(a, Poly | int) and isinstance(b, Poly | int):
            return result if result is not None else machine.number("arithmetic on dims that has no closed form", node)
        return Unknown(_why(a, b), _key(result), result, host=True) if result is not None else machine.number(_why(a, b), node)
    return machine.number(_why(a, b), node) if made_on_host(a) and made_on_host(b) else Unknown(_why(a, b))


def _learn_numbers(machine: Machine, operands: tuple[Value, Value], node: ast.AST) -> None:
    """Both operands of an operator are numbers: Python would raise for anything else."""
    nodes = (node.left, node.right) if isinstance(node, ast.BinOp) else (node, node)
    for value, part in zip(operands, nodes, strict=True):
        if isinstance(value, Unknown):
            value.learn_number(lambda part=part: machine.path.name(part))  # type: ignore[misc]


def made_on_host(value: Value) -> bool:
    """Whether a value is a number of the program's, or an unknown of its host code; a name that was not read may be anything."""
    return isinstance(value, bool | int | float | Poly) or (isinstance(value, Unknown) and value.host)


def _with_text(machine: Machine, op: str, a: Value, b: Value, node: ast.AST, frame: Frame) -> Value:
    """``"text" * n`` and ``"%d" % n``: Python asks an array for its number."""
    for text, number in ((a, b), (b, a)):
        if op == "*" and isinstance(text, str) and (traced := traced_in(machine, number)) is not None:
            needs_static(machine, "index", traced, "the repetition of a text", node, frame)
    if op == "%" and isinstance(a, str) and isinstance(b, tuple):
        formats = [found[0] for found in _ANY_FORMAT.finditer(a) if found[0] != "%%"]
        numbers = [value for text, value in zip(formats, b, strict=False) if _NUMBER_FORMAT.search(text)]
    else:
        numbers = [b] if op == "%" and isinstance(a, str) and _NUMBER_FORMAT.search(a) else []
    traced = next((found for value in numbers if (found := traced_in(machine, value)) is not None), None)
    if traced is not None:
        needs_static(machine, "number", traced, "a number format", node, frame)
    return Unknown(A_TEXT, host=True)


def _why(*values: Value) -> str:
    return cause_of(values) or "arithmetic on values that are not all known"


def cause_of(values: Iterable[Value]) -> str:
    """Why something that was computed from ``values`` is not known: the root cause of the first of them; empty where none has one."""
    return next((value.why for value in values if isinstance(value, Unknown | Array) and value.why), "")


def _key(dim: Any) -> str | None:
    return dims.render(dim) if isinstance(dim, Poly) else None


def _native(op: str, a: Any, b: Any) -> Value:
    """Python's own operator on plain values; what would be monstrous, or would raise, is unknown."""
    if op == "**" and not (isinstance(b, int | float) and isinstance(a, int | float) and abs(b) <= 128 and abs(a) <= _LIMIT):
        return Unknown("a power too large to work out")
    if op == "<<" and not (isinstance(b, int) and 0 <= b <= 256):
        return Unknown("a shift too large to work out")
    if op == "*":
        for sequence, count in ((a, b), (b, a)):
            if isinstance(sequence, str | bytes | tuple | list) and isinstance(count, int) and len(sequence) * count > _LIMIT:
                return Unknown("a sequence too long to work out")
    if op == "%" and isinstance(a, str | bytes):
        return Unknown("a formatted string")
    try:
        result = _NATIVE[op](a, b)
    except Exception:
        return Unknown("an operation that Python refuses")
    return result if not isinstance(result, int) or abs(result) < 1 << 256 else Unknown("a number too large to work out")


def _user_operator(machine: Machine, op: str, a: Value, b: Value, node: ast.AST, frame: Frame) -> Value:
    from .classes import class_attribute

    for receiver, other, prefix in ((a, b, "__"), (b, a, "__r")):
        if isinstance(receiver, Instance) and op in _DUNDER:
            method = class_attribute(receiver.cls, f"{prefix}{_DUNDER[op]}__")
            if method is not None:
                return machine.call(BoundMethod(receiver, method), Arguments([other]), node, frame)
    return Unknown("an operator of a class that the source does not define")


def scalar_if_host(machine: Machine, value: Value) -> Value:
    """Inside a kernel an unknown made on the host can only be a scalar in arithmetic: an array would be a captured constant."""
    if machine.kernel is not None and isinstance(value, Unknown) and value.host and not isinstance(value, UnknownShape):
        return Array(Aval((), None, None), traced=False)
    return value


def array_operator(machine: Machine, op: str, a: Value, b: Value, node: ast.AST, frame: Frame) -> Value:
    """An operator of which at least one side is an array."""
    a, b = scalar_if_host(machine, a), scalar_if_host(machine, b)
    semaphore = next((v for v in (a, b) if isinstance(v, Array) and v.dtype in SEMAPHORE_DTYPES), None)
    if semaphore is not None:
        machine.emit(SemaphoreValue(machine.where(node, frame), op, semaphore.dtype or ""))
        return Unknown("a semaphore is used as a number")
    arguments = [to_aval(a), to_aval(b)]
    if UNKNOWN in arguments and op == "@":
        return Unknown(_why(a, b))
    try:
        result = table.operator(op, *arguments)
    except ShapeError as fault:
        machine.emit(ShapeFault(machine.where(node, frame), op, str(fault), (a, b)))
        return Unknown("an operation that JAX refuses")
    value = from_shapes(result, (a, b), node)
    note_operator(machine, op, (a, b), value, node, frame)
    return host_arrays.apply(machine, op, (a, b), {}, value)


def to_aval(value: Value) -> Any:
    """What a shape function takes for a value."""
    if isinstance(value, Array):
        return value.aval
    if isinstance(value, bool | int | float | complex | Poly) or value is None or value is Ellipsis:
        return value
    return UNKNOWN


def from_shapes(result: Any, operands: tuple[Any, ...], node: ast.AST | None = None) -> Value:
    """A shape function's answer as a value that was computed from ``operands``."""
    if isinstance(result, Aval):
        arrays = tuple(v for v in operands if isinstance(v, Array))
        numpy = bool(arrays) and all(v.numpy for v in arrays)
        why = cause_of(operands) if result.is_open else ""
        return Array(result, arrays, any(v.traced for v in arrays), made_by=node, numpy=numpy, why=why)
    if isinstance(result, tuple | list):
        return type(result)(from_shapes(part, operands, node) for part in result)
    if isinstance(result, str):
        return Dtype(result)
    if result is UNKNOWN:
        return Unknown(cause_of(operands) or "a result whose shape is not modelled")
    return result


def unary(machine: Machine, op: ast.unaryop, value: Value, node: ast.AST, frame: Frame) -> Value:
    """``-value``, ``+value``, ``~value``, ``not value``."""
    if isinstance(op, ast.Not):
        return negate(machine, value, node, frame)
    symbol = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}[type(op)]
    if isinstance(value, Ref | RefIndexer):
        machine.emit(RefAsArray(machine.where(node, frame), symbol, value.ref if isinstance(value, RefIndexer) else value))
        return Unknown("a ref is used as an array")
    if isinstance(value, Array):
        if isinstance(value.constant, int | float) and symbol == "-" and not value.traced:
            return Array(value.aval, value.operands, value.traced, -value.constant, made_by=node)
        name = "~" if symbol == "~" else f"unary {symbol}"
        try:
            result = from_shapes(table.operator(name, value.aval), (value,), node)
        except ShapeError as fault:
            machine.emit(ShapeFault(machine.where(node, frame), symbol, str(fault), (value,)))
            return Unknown("an operation that JAX refuses")
        note_operator(machine, name, (value,), result, node, frame)
        return result
    if isinstance(value, bool | int | float | complex):
        try:
            return -value if symbol == "-" else +value if symbol == "+" else ~value  # type: ignore[operator]
        except TypeError:
            return Unknown("an operation that Python refuses")
    dim = as_dim(value)
    if dim is not None and symbol == "-":
        result = dims.neg(dim)
        return result if isinstance(value, Poly) else Unknown(_why(value), _key(result), result, host=True)
    return value if symbol == "+" and dim is not None else Unknown(_why(value), host=made_on_host(value))


def compare(machine: Machine, op: ast.cmpop, a: Value, b: Value, node: ast.AST, frame: Frame) -> Value:
    """One comparison."""
    if isinstance(op, ast.Is | ast.IsNot):
        answer = _identity(machine, a, b)
        return answer if isinstance(op, ast.Is) else _opposite(answer)
    if isinstance(op, ast.In | ast.NotIn):
        answer = _membership(machine, a, b, node, frame)
        return answer if isinstance(op, ast.In) else _opposite(answer)
    symbol = SYMBOL[type(op)]
    if isinstance(a, Ref | RefIndexer) or isinstance(b, Ref | RefIndexer):
        if symbol in ("==", "!=") and not any(isinstance(side, Ref) and not side.is_view for side in (a, b)):
            return Unknown("a view is compared")
        return binary(machine, symbol, a, b, node, frame)
    if symbol in ("==", "!=") and any(isinstance(side, str) for side in (a, b)) and any(_is_jax(side) for side in (a, b)):
        return symbol == "!="
    if isinstance(a, tuple | list) and isinstance(b, tuple | list) and type(a) is type(b):
        _ask_parts(machine, symbol, a, b, node, frame)
    if (isinstance(a, Array) or isinstance(b, Array)) and a is not None and b is not None:
        return array_operator(machine, symbol, a, b, node, frame)
    if symbol in ("==", "!="):
        answer = equals(machine, a, b, node)
        return answer if symbol == "==" else _opposite(answer)
    return _order(machine, symbol, a, b, node)


def _is_jax(value: Value) -> bool:
    return isinstance(value, Array) and not value.numpy


def _ask_parts(
    machine: Machine, symbol: str, a: tuple[Value, ...] | list[Value], b: tuple[Value, ...] | list[Value], node: ast.AST, frame: Frame
) -> None:
    """What comparing two sequences asks of traced parts: Python wants to know of the first pair that differs that it does."""
    if symbol in ("==", "!=") and len(a) != len(b):
        return
    for left, right in zip(a, b, strict=False):
        if left is right:
            continue
        if is_traced(machine, left) or is_traced(machine, right):
            truth(machine, compare(machine, ast.Eq(), left, right, node, frame), node, frame)
        elif known_truth(equals(machine, left, right, node)) is not True:
            return


def _opposite(answer: Value) -> Value:
    if isinstance(answer, Condition):
        return answer.inverse()
    known = known_truth(answer)
    return (not known) if known is not None else answer


def _identity(machine: Machine, a: Value, b: Value) -> Value:
    if a is None or b is None:
        return is_none(machine, b if a is None else a)
    if isinstance(a, bool | str | int | type(Ellipsis)) and isinstance(b, bool | str | int | type(Ellipsis)):
        return a is b or (type(a) is type(b) and a == b)
    return (
        equals(machine, a, b, ast.Constant(value=None))
        if not (isinstance(a, Array) or isinstance(b, Array))
        else Unknown("identity of arrays")
    )


def _membership(machine: Machine, item: Value, container: Value, node: ast.AST, frame: Frame) -> Value:
    if isinstance(container, str) and isinstance(item, str):
        return item in container
    if isinstance(container, dict):
        container = list(container)
    declared = _declared_membership(item, container)
    if declared is not None:
        return declared
    if not isinstance(container, tuple | list | set | range):
        text = written(node) if isinstance(node, ast.expr) else "a membership test"
        return Condition(f"in:{text}@{getattr(node, 'lineno', 0)}", (f"`{text}` is true", f"`{text}` is false"), True)
    numbers = container and all(isinstance(v, bool | int | float | Poly | Array) for v in container)
    if numbers and isinstance(item, Array | int | float) and not any(element is item for element in container):
        # Python asks for the truth of `element == item`, one by one.
        compared = traced_in(machine, (item, *container))
        if isinstance(compared, Array):
            truth(machine, Array(compared.aval, (compared,)), node, frame)
    answers = [equals(machine, item, element, node) for element in container]
    if True in answers:
        return True
    undecided = [answer for answer in answers if answer is not False]
    if not undecided:
        return False
    return undecided[0] if len(undecided) == 1 and isinstance(undecided[0], Condition) else Unknown("membership of an unknown value")


def _declared_membership(item: Value, container: Value) -> Condition | None:
    """Whether a text is in another, or among some, where one is known but for what it is by default."""
    if isinstance(container, Unknown) and isinstance(container.declared, str) and isinstance(item, str):
        unknown, default = container, item in container.declared
        words = f"{item!r} is in `{container.key}`", f"{item!r} is not in `{container.key}`"
    elif isinstance(item, Unknown) and isinstance(item.declared, str) and isinstance(container, tuple | list | set):
        if not container or not all(isinstance(element, str) for element in container):
            return None
        unknown, default = item, item.declared in container
        named = " or ".join(map(repr, container))
        words = f"`{item.key}` is {named}", f"`{item.key}` is not {named}"
    else:
        return None
    return Condition(f"eq:{words[0]}", words, default, declared=unknown.declared) if unknown.key is not None else None


def _order(machine: Machine, symbol: str, a: Value, b: Value, node: ast.AST) -> Value:
    if isinstance(a, _PLAIN) and isinstance(b, _PLAIN):
        return _native(symbol, a, b)
    left, right = as_dim(a), as_dim(b)
    if born_in_kernel(a, b):
        return Unknown(_why(a, b))
    if left is None or right is None:
        text = written(node) if isinstance(node, ast.expr) else "a comparison"
        return Condition(f"{text}@{getattr(node, 'lineno', 0)}", (f"`{text}` is true", f"`{text}` is false"), True)
    swapped, negated = symbol in (">", "<="), symbol in (">=", "<=")
    if swapped:
        left, right = right, left
    answer = machine.path.facts.less(left, right)
    if answer is not Truth.MAYBE:
        return (answer is Truth.YES) != negated
    condition = order(left, right)
    return condition.inverse() if negated else condition

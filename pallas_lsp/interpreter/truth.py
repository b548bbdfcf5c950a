"""Truth, equality and order of values: known, or a condition that a path decides."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from ..shapes import dims, dtypes
from ..shapes.dims import Dim, Poly, Truth
from .events import RefAsArray, TracedBranch
from .frames import Frame
from .machine import Machine
from .paths import Facts, PathEnd
from .values import (
    ABSENT,
    Array,
    Class,
    Condition,
    Dtype,
    EnumMember,
    Function,
    Instance,
    Library,
    Opaque,
    Ref,
    Scratch,
    ShapeDtype,
    Unknown,
    UnknownShape,
    Value,
)
from .written import written

NATIVE = (bool, int, float, complex, str, bytes, type(None))
_TRUTHY = (Function, Class, Library, Dtype, EnumMember, Opaque)


def as_dim(value: Value) -> Dim | None:
    """The whole number that a value is, when it is or may be one: an int, a polynomial, an unknown standing for a number."""
    if isinstance(value, int):
        return int(value)
    if isinstance(value, Poly):
        return value
    if isinstance(value, Unknown):
        return value.poly
    if isinstance(value, Array) and isinstance(value.constant, int):
        return int(value.constant)
    return None


def dtype_of(value: Value) -> str | None:
    """The dtype that a value names when used as a dtype argument, None when it names none that is known."""
    if isinstance(value, Dtype):
        return value.name
    if isinstance(value, Library):
        if value.name in ("float", "int", "bool"):
            return dtypes.canonical(value.name)
        root, _, name = value.name.rpartition(".")
        if root in ("jax.numpy", "numpy", "ml_dtypes", "jax.dtypes"):
            return dtypes.canonical(name)
        return None
    return dtypes.canonical(value) if isinstance(value, str) else None


def dtype_name(value: Value) -> str | None:
    """What the program calls a dtype argument of which nothing else is known: the parameter ``dtype``, ``q.dtype``; else None."""
    return value.key if isinstance(value, Unknown) and not isinstance(value, Condition | UnknownShape) else None


def name_of_dtype(value: Value) -> str | None:
    """What the program calls the dtype of an array that is not known, such as ``q.dtype``; None where it has no name for it."""
    if isinstance(value, Array):
        return value.aval.named
    if isinstance(value, Ref | ShapeDtype | Scratch):
        return value.named
    name = dtype_name(value)
    return f"{name}.dtype" if name is not None else None


def truth(machine: Machine, value: Value, node: ast.AST, frame: Frame) -> bool:
    """Whether the value is true on this path; a traced value ends it, as JAX would."""
    known = known_truth(value)
    if known is not None:
        return known
    if isinstance(value, Array | Ref):
        if isinstance(value, Array) and value.traced and machine.kernel is not None:
            if machine.guarded:  # the program tries whether it may ask
                raise PathEnd("raise")
            machine.emit(TracedBranch(machine.where(node, frame), value))
        if isinstance(value, Ref) and machine.kernel is not None:
            if machine.guarded:
                raise PathEnd("raise")
            machine.emit(RefAsArray(machine.where(node, frame), "bool", value))
        if machine.kernel is not None:
            raise PathEnd("a traced value decides a Python branch")
    machine.blind += isinstance(value, Instance)  # its ``__bool__`` is not run
    return machine.decide(as_condition(value, node), node, frame)


def known_truth(value: Value) -> bool | None:
    """The truth of a value that needs no decision."""
    if isinstance(value, (*NATIVE, tuple, list, dict, set, range)):
        return bool(value)
    if isinstance(value, Array):
        return bool(value.constant) if value.constant is not None else None
    if isinstance(value, Poly):
        answer = dims.equal(value, 0)
        return None if answer is Truth.MAYBE else answer is Truth.NO
    if isinstance(value, Instance):
        return (
            None
            if any("__bool__" in c.frame.names or "__len__" in c.frame.names for c in value.cls.lineage()) or not value.cls.complete
            else True
        )
    return True if isinstance(value, _TRUTHY) or (isinstance(value, Ref) and (value.is_view or not value.root.sure)) else None


def as_condition(value: Value, node: ast.AST) -> Condition:
    """The truth of an undecided value as a condition with a normal-form key."""
    if isinstance(value, Condition):
        return value
    if isinstance(value, Poly):
        return equality(value, 0).inverse()
    text = written(node) if isinstance(node, ast.expr) else "the condition"
    key = value.key if isinstance(value, Unknown) and value.key else f"{text}@{getattr(node, 'lineno', 0)}:{getattr(node, 'col_offset', 0)}"
    declared = value.declared if isinstance(value, Unknown) else ABSENT
    name = value.key if isinstance(value, Unknown) and value.key else text
    default = known_truth(declared) if declared is not ABSENT else None
    known = ABSENT if default is None else declared
    return Condition(f"truth:{key}", (f"`{name}` is true", f"`{name}` is false"), default is not False, declared=known)


def negate(machine: Machine, value: Value, node: ast.AST, frame: Frame) -> Value:
    """``not value``: known, an undecided condition, or the end of the path for a traced one."""
    if isinstance(value, Array | Ref) and known_truth(value) is None:
        return not truth(machine, value, node, frame)
    known = known_truth(value)
    return (not known) if known is not None else as_condition(value, node).inverse()


def equality(a: Dim, b: Dim) -> Condition:
    """``a == b`` on dims that the facts do not decide."""
    difference = dims.sub(a, b)
    key = difference.key if isinstance(difference, Poly) else str(difference)
    opposite = dims.neg(difference)
    if isinstance(opposite, Poly):
        key = min(key, opposite.key)

    def learn(facts: Facts, answer: bool) -> None:
        if answer:
            facts.learn_equal(a, b)

    words = f"`{dims.render(a)}` is {dims.render(b)}", f"`{dims.render(a)}` is not {dims.render(b)}"
    return Condition(f"eq0:{key}", words, False, learn)


def order(a: Dim, b: Dim) -> Condition:
    """``a < b`` on dims that the facts do not decide."""
    difference = dims.sub(a, b)
    key = difference.key if isinstance(difference, Poly) else str(difference)
    words = f"`{dims.render(a)}` < {dims.render(b)}", f"`{dims.render(a)}` >= {dims.render(b)}"
    return Condition(f"lt0:{key}", words, True)


def is_none(machine: Machine, value: Value) -> Value:
    """``value is None``."""
    if value is None:
        return True
    if not isinstance(value, Unknown) or isinstance(value, UnknownShape | Condition):
        return False
    if value.key is None:
        return False  # most are results of arithmetic: that one of them is None is nothing to build on
    key = value.key
    if key in machine.path.facts.none:
        return machine.path.facts.none[key]

    def learn(facts: Facts, answer: bool) -> None:
        facts.none[key] = answer

    # The defaults of parameters are an entry of their own; what else is declared is taken for what it is.
    declared = ABSENT if key.isidentifier() else value.declared
    return Condition(f"isnone:{key}", (f"`{key}` is None", f"`{key}` is not None"), declared is None, learn, declared=declared)


def equals(machine: Machine, a: Value, b: Value, node: ast.AST) -> Value:
    """``a == b`` for values that are no arrays; identity of opaque things is not inequality."""
    if isinstance(a, NATIVE) and isinstance(b, NATIVE):
        return a == b
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return _sequences_equal(machine, a, b, node)
    if isinstance(a, set) and isinstance(b, set) and all(isinstance(item, NATIVE) for item in a | b):
        return a == b
    names = dtype_of(a), dtype_of(b)
    if names[0] is not None and names[1] is not None and (isinstance(a, Dtype | Library) or isinstance(b, Dtype | Library)):
        return names[0] == names[1]
    if isinstance(a, Poly | int) and isinstance(b, Poly | int):
        answer = machine.path.facts.same(a, b)
        return equality(a, b) if answer is Truth.MAYBE else answer is Truth.YES
    if isinstance(a, EnumMember) and isinstance(b, EnumMember):
        return a.cls is b.cls and a.name == b.name
    if isinstance(a, Library) and isinstance(b, Library) and a.name == b.name:
        return True
    if a is b and isinstance(a, Class | Function | Instance):
        return True
    if a is None or b is None:
        return is_none(machine, b if a is None else a)
    left, right = as_dim(a), as_dim(b)
    if left is not None and right is not None:
        answer = machine.path.facts.same(left, right)
        return equality_with_constant(a, b, left, right) if answer is Truth.MAYBE else answer is Truth.YES
    return _opaque_equality(a, b, node)


def equality_with_constant(a: Value, b: Value, left: Dim, right: Dim) -> Condition:
    """Equality of numbers of which one is an unknown parameter."""
    condition = equality(left, right)
    for unknown, other in ((a, right), (b, left)):
        if isinstance(unknown, Unknown) and isinstance(unknown.declared, int) and isinstance(other, int):
            condition.declared, condition.default = unknown.declared, unknown.declared == other
    return condition


def _sequences_equal(machine: Machine, a: Any, b: Any, node: ast.AST) -> Value:
    if type(a) is not type(b) or len(a) != len(b):
        return False
    undecided: list[Condition] = []
    for x, y in zip(a, b, strict=True):
        answer = equals(machine, x, y, node)
        if answer is False:
            return False
        if isinstance(answer, Condition):
            undecided.append(answer)
        elif answer is not True:
            return Unknown("elements that cannot be compared")
    if not undecided:
        return True
    if len(undecided) == 1:
        return undecided[0]

    def learn(facts: Facts, answer: bool) -> None:
        for part in undecided:
            if answer and part.learn is not None:
                part.learn(facts, True)

    text = written(node) if isinstance(node, ast.expr) else "two shapes are equal"
    return Condition("and:" + "&".join(sorted(c.key or "" for c in undecided)), (f"`{text}` is true", f"`{text}` is false"), False, learn)


def born_in_kernel(*values: Value) -> bool:
    """Whether one of the values is an unknown made inside a kernel: it may be an array, so a comparison of it decides nothing."""
    return any(isinstance(value, Unknown) and not value.host for value in values)


def _opaque_equality(a: Value, b: Value, node: ast.AST) -> Value:
    if born_in_kernel(a, b):
        return Unknown(next(v.why for v in (a, b) if isinstance(v, Unknown) and not v.host))
    for unknown, other in ((a, b), (b, a)):
        if isinstance(unknown, Unknown) and unknown.key is not None:
            label = _label(other)
            if label is None:
                break
            declared, default = ABSENT, True
            if unknown.declared is not ABSENT and _label(unknown.declared) is not None:
                declared, default = unknown.declared, _label(unknown.declared) == label
            key = unknown.key
            words = f"`{key}` is {label}", f"`{key}` is not {label}"
            return Condition(f"eq:{key}:{label}", words, default, _learn_constant(key, other), declared=declared)
    text = written(node) if isinstance(node, ast.expr) else "a comparison"
    return Condition(f"{text}@{getattr(node, 'lineno', 0)}", (f"`{text}` is true", f"`{text}` is false"), True)


def _label(value: Value) -> str | None:
    if isinstance(value, NATIVE):
        return repr(value)
    if isinstance(value, EnumMember):
        return f"{value.cls.name}.{value.name}"
    if isinstance(value, Library):
        return value.name.rpartition(".")[2]
    return value.name if isinstance(value, Dtype) else None


def _learn_constant(key: str, value: Value) -> Callable[[Facts, bool], None]:
    def learn(facts: Facts, answer: bool) -> None:
        if answer:
            facts.constant[key] = value

    return learn


def _conjunction(test: ast.expr, answer: bool) -> list[ast.expr] | None:
    """The parts that are all ``answer`` when the whole is: of an ``and`` or a chained comparison that holds, of an ``or`` that does not."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) == answer:
        return test.values
    if isinstance(test, ast.Compare) and len(test.ops) > 1 and answer:
        operands = [test.left, *test.comparators]
        pairs = zip(operands, test.ops, operands[1:], strict=False)
        return [ast.copy_location(ast.Compare(left, [op], [right]), test) for left, op, right in pairs]
    return None


def assume(machine: Machine, test: ast.expr, frame: Frame, answer: bool) -> bool | None:
    """Evaluate a guard's condition and learn that it is ``answer`` without forking.

    Gives the condition's truth where it is known, else None.
    """
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = assume(machine, test.operand, frame, not answer)
        return None if inner is None else not inner
    conjunction = _conjunction(test, answer)
    if conjunction is not None:
        # An `and` that holds, or an `or` that does not, says the same of each of its parts.
        parts = [assume(machine, part, frame, answer) for part in conjunction]
        if (not answer) in parts:
            return not answer
        return None if None in parts else answer
    if isinstance(test, ast.BoolOp):
        return _assume_one(machine, test.values, frame, answer)
    if isinstance(test, ast.Compare) and len(test.ops) > 1:
        return None
    value = machine.evaluate(test, frame)
    known = known_truth(value)
    if known is not None:
        return known
    if isinstance(value, Array) and value.traced and machine.kernel is not None:
        return truth(machine, value, test, frame)
    if isinstance(value, Unknown):
        condition = as_condition(value, test)
        wanted = answer != condition.negated
        if condition.key is not None:
            machine.path.answers.setdefault(condition.key, wanted)
        if condition.learn is not None:
            condition.learn(machine.path.facts, wanted)
    return None


_PLAIN = (ast.Name, ast.Attribute, ast.Constant, ast.UnaryOp, ast.Not, ast.Compare, ast.cmpop, ast.expr_context)


def _assume_one(machine: Machine, parts: list[ast.expr], frame: Frame, answer: bool) -> bool | None:
    """Learn that at least one of the ``parts`` is ``answer``: an ``and`` that does not hold, an ``or`` that does.

    That says something only where all parts but one are known to be otherwise. What stands behind an open part is looked at only
    where it is plain: the program itself might not get there.
    """
    still_open: list[ast.expr] = []
    for part in parts:
        plain = all(isinstance(node, _PLAIN) for node in ast.walk(part))
        known = known_truth(machine.evaluate(part, frame)) if plain or not (still_open or isinstance(part, ast.BoolOp)) else None
        if known is answer:
            return answer
        if known is None:
            still_open.append(part)
    if not still_open:
        return not answer
    if len(still_open) == 1:
        assume(machine, still_open[0], frame, answer)
    return None

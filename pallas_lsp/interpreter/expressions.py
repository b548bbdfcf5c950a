"""Expressions, one function a node type."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from . import builtin_names
from .attributes import attribute
from .classes import class_attribute
from .frames import MISSING, Frame
from .machine import EVALUATE, Arguments, Machine
from .operations import is_traced, needs_static, traced_in
from .operators import A_TEXT, SYMBOL, binary, compare, unary
from .paths import PathEnd
from .sequences import items_of
from .subscripts import subscript
from .truth import known_truth, truth
from .values import ABSENT, Array, BoundMethod, Dtype, Function, Imported, Instance, Iteration, Library, Unknown, UnknownLength, Value
from .written import written

_Handler = TypeVar("_Handler", bound=Callable[..., Value])
_LONGEST_COMPREHENSION = 1024


def evaluates(*types: type[ast.AST]) -> Callable[[_Handler], _Handler]:
    """Register the decorated function for these node types."""

    def register(handler: _Handler) -> _Handler:
        for node_type in types:
            EVALUATE[node_type] = handler
        return handler

    return register


@evaluates(ast.Constant)
def _constant(machine: Machine, node: ast.Constant, frame: Frame) -> Value:
    return node.value


@evaluates(ast.Name)
def _name(machine: Machine, node: ast.Name, frame: Frame) -> Value:
    name = node.id
    value = frame.names[name] if name in frame.names else frame.lookup(name)
    if value is not MISSING:
        if type(value) is Imported:
            from .importing import imported_value

            return imported_value(machine, value)
        return value
    builtin = builtin_names.lookup(node.id)
    if builtin is not None:
        return builtin
    if frame.module.star_libraries:
        from .importing import star_name

        starred = star_name(frame.module, node.id)
        if starred is not None:
            return starred
    return Unknown(f"`{node.id}` is not defined in what was read", f"{node.id}", host=True)


@evaluates(ast.Attribute)
def _attribute(machine: Machine, node: ast.Attribute, frame: Frame) -> Value:
    return attribute(machine, machine.evaluate(node.value, frame), node.attr, node, frame)


@evaluates(ast.Subscript)
def _subscript(machine: Machine, node: ast.Subscript, frame: Frame) -> Value:
    return subscript(machine, machine.evaluate(node.value, frame), node, frame)


@evaluates(ast.Slice)
def _slice(machine: Machine, node: ast.Slice, frame: Frame) -> Value:
    parts = [machine.evaluate(part, frame) if part is not None else None for part in (node.lower, node.upper, node.step)]
    return slice(*parts)


@evaluates(ast.Tuple)
def _tuple(machine: Machine, node: ast.Tuple, frame: Frame) -> Value:
    items, whole = sequence(machine, node.elts, frame)
    return tuple(items) if whole else UnknownLength("a tuple of unknown length", items)


@evaluates(ast.List)
def _list(machine: Machine, node: ast.List, frame: Frame) -> Value:
    items, whole = sequence(machine, node.elts, frame)
    return items if whole else UnknownLength("a list of unknown length", items)


@evaluates(ast.Set)
def _set(machine: Machine, node: ast.Set, frame: Frame) -> Value:
    items, whole = sequence(machine, node.elts, frame)
    if (traced := traced_in(machine, items if whole else None)) is not None:
        needs_static(machine, "key", traced, "a set", node, frame)
    try:
        return set(items) if whole else Unknown("a set of unknown size", host=True)
    except TypeError:
        return Unknown("a set of values that are not plain", host=True)


def sequence(machine: Machine, elements: list[ast.expr], frame: Frame) -> tuple[list[Value], bool]:
    """The items of a display, and whether these are all: else those before the first starred part of unknown length."""
    result: list[Value] = []
    whole = True
    for element in elements:
        if isinstance(element, ast.Starred):
            items = items_of(machine, machine.evaluate(element.value, frame), element, frame)
            whole = whole and items is not None
            result.extend(items or () if whole else ())
        else:
            value = machine.evaluate(element, frame)
            result.extend([value] if whole else ())
    return result, whole


@evaluates(ast.Dict)
def _dict(machine: Machine, node: ast.Dict, frame: Frame) -> Value:
    result: dict[Any, Value] = {}
    exact = True
    for key_node, value_node in zip(node.keys, node.values, strict=True):
        value = machine.evaluate(value_node, frame)
        if key_node is None:
            exact = exact and isinstance(value, dict)
            result.update(value if isinstance(value, dict) else {})
            continue
        written = machine.evaluate(key_node, frame)
        if (traced := traced_in(machine, written)) is not None:
            needs_static(machine, "key", traced, "a dict", key_node, frame)
        key = dict_key(written)
        exact = exact and key is not ABSENT
        if key is not ABSENT:
            result[key] = value
    return result if exact else Unknown("a dict whose keys are not all known", host=True)


def dict_key(value: Value) -> Any:
    """The value as a key of an interpreted dict, ``ABSENT`` when its equality is not known.

    Library names and dtypes are interned by name, so that the same name finds the same entry.
    """
    if isinstance(value, Library | Dtype):
        return (type(value).__name__, value.name)
    if isinstance(value, bool | int | float | str | bytes | type(None)):
        return value
    if isinstance(value, tuple):
        parts = tuple(dict_key(part) for part in value)
        return ABSENT if ABSENT in parts else parts
    return value if type(value).__name__ in ("EnumMember", "Class", "Function") else ABSENT


def key_in(machine: Machine, items: dict[Any, Value], value: Value, node: ast.AST, frame: Frame) -> Any:
    """The key of ``items`` that equals the value, the value's own where none does; ``ABSENT`` when that is not known.

    Objects with a `__eq__` of their own are asked, as Python asks those whose hashes are equal.
    """
    if not isinstance(value, Instance):
        return dict_key(value)
    if any(key is value for key in items):
        return value
    method = class_attribute(value.cls, "__eq__")
    others = [key for key in items if isinstance(key, Instance)]
    if method is None and value.cls.kind == "plain" and value.cls.complete:
        return value
    for key in others:
        said = machine.call(BoundMethod(key, method), Arguments([value]), node, frame) if isinstance(method, Function) else None
        answer = known_truth(said) if said is not None and key.cls is value.cls else None
        if answer is not False:
            return key if answer else ABSENT
    return value if value.complete and value.cls.complete else ABSENT


@evaluates(ast.BinOp)
def _binop(machine: Machine, node: ast.BinOp, frame: Frame) -> Value:
    left = machine.evaluate(node.left, frame)
    right = machine.evaluate(node.right, frame)
    return binary(machine, SYMBOL[type(node.op)], left, right, node, frame)


@evaluates(ast.UnaryOp)
def _unaryop(machine: Machine, node: ast.UnaryOp, frame: Frame) -> Value:
    return unary(machine, node.op, machine.evaluate(node.operand, frame), node, frame)


@evaluates(ast.BoolOp)
def _boolop(machine: Machine, node: ast.BoolOp, frame: Frame) -> Value:
    wants = isinstance(node.op, ast.And)
    value: Value = wants
    for index, part in enumerate(node.values):
        value = machine.evaluate(part, frame)
        last = index == len(node.values) - 1
        if not last and truth(machine, value, part, frame) != wants:
            return value if known_truth(value) is not None else not wants
    return value


@evaluates(ast.Compare)
def _compare(machine: Machine, node: ast.Compare, frame: Frame) -> Value:
    left = machine.evaluate(node.left, frame)
    answer: Value = True
    for op, right_node in zip(node.ops, node.comparators, strict=True):
        right = machine.evaluate(right_node, frame)
        if answer is not True and not truth(machine, answer, node, frame):
            return False
        answer = compare(machine, op, left, right, node, frame)
        left = right
    return answer


@evaluates(ast.IfExp)
def _ifexp(machine: Machine, node: ast.IfExp, frame: Frame) -> Value:
    chosen = truth(machine, machine.evaluate(node.test, frame), node.test, frame)
    return machine.evaluate(node.body if chosen else node.orelse, frame)


@evaluates(ast.NamedExpr)
def _walrus(machine: Machine, node: ast.NamedExpr, frame: Frame) -> Value:
    value = machine.evaluate(node.value, frame)
    frame.function_frame().assign(node.target.id, value)
    return value


@evaluates(ast.Lambda)
def _lambda(machine: Machine, node: ast.Lambda, frame: Frame) -> Value:
    return make_function(machine, node, frame)


def make_function(machine: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, frame: Frame) -> Function:
    """The function object of a ``def`` or ``lambda``, its defaults evaluated now."""
    defaults = tuple(machine.evaluate(default, frame) for default in node.args.defaults)
    kw_defaults = tuple(machine.evaluate(default, frame) if default is not None else ABSENT for default in node.args.kw_defaults)
    return Function(node, frame.module, frame, defaults, kw_defaults)


@evaluates(ast.JoinedStr)
def _fstring(machine: Machine, node: ast.JoinedStr, frame: Frame) -> Value:
    parts: list[str] = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append(str(part.value))
            continue
        value = machine.evaluate(part.value, frame) if isinstance(part, ast.FormattedValue) else None
        if isinstance(part, ast.FormattedValue) and part.format_spec is not None and part.conversion == -1 and is_traced(machine, value):
            needs_static(machine, "number", value, "a format", part, frame)
        plain = isinstance(value, str | int) and isinstance(part, ast.FormattedValue) and part.format_spec is None and part.conversion == -1
        if not plain:
            return Unknown(A_TEXT, host=True)
        parts.append(str(value))
    return "".join(parts)


@evaluates(ast.ListComp, ast.GeneratorExp)
def _listcomp(machine: Machine, node: ast.ListComp | ast.GeneratorExp, frame: Frame) -> Value:
    result: list[Value] = []
    exact = _comprehend(machine, node.generators, frame, lambda inner: result.append(machine.evaluate(node.elt, inner)))
    if not exact:
        return Unknown("a comprehension over a sequence of unknown length", host=machine.kernel is None)
    return result if isinstance(node, ast.ListComp) else Iteration(result)


@evaluates(ast.SetComp)
def _setcomp(machine: Machine, node: ast.SetComp, frame: Frame) -> Value:
    result: list[Value] = []
    exact = _comprehend(machine, node.generators, frame, lambda inner: result.append(dict_key(machine.evaluate(node.elt, inner))))
    return set(result) if exact and ABSENT not in result else Unknown("a set whose items are not all known", host=True)


@evaluates(ast.DictComp)
def _dictcomp(machine: Machine, node: ast.DictComp, frame: Frame) -> Value:
    result: dict[Any, Value] = {}

    def add(inner: Frame) -> None:
        key = key_in(machine, result, machine.evaluate(node.key, inner), node.key, inner)
        result[key] = machine.evaluate(node.value, inner)

    exact = _comprehend(machine, node.generators, frame, add)
    return result if exact and ABSENT not in result else Unknown("a dict whose keys are not all known", host=True)


def _comprehend(machine: Machine, generators: list[ast.comprehension], frame: Frame, add: Callable[[Frame], object]) -> bool:
    """Run the body of a comprehension for every item; False when a sequence or a filter is not known."""
    scope = Frame("comprehension", frame.module, frame)
    known = True

    def run(depth: int) -> None:
        nonlocal known
        if depth == len(generators):
            add(scope)
            return
        generator = generators[depth]
        items = items_of(machine, machine.evaluate(generator.iter, scope if depth else frame), generator.iter, frame)
        if items is None or len(items) > _LONGEST_COMPREHENSION:
            known, items = False, [Unknown("an item of a sequence of unknown length", host=machine.kernel is None)]
        for item in items:
            bind(machine, generator.target, item, scope)
            if all(_passes(scope, test) for test in generator.ifs):
                run(depth + 1)

    def _passes(scope: Frame, test: ast.expr) -> bool:
        nonlocal known
        value = machine.evaluate(test, scope)
        answer = known_truth(value)
        if answer is None and isinstance(value, Array):
            return truth(machine, value, test, scope)
        known = known and answer is not None
        return answer is not False

    run(0)
    return known


def bind(machine: Machine, target: ast.expr, value: Value, frame: Frame) -> None:
    """Assign to a target; ``statements`` provides the general form."""
    from .statements import assign

    assign(machine, target, value, frame, target)


@evaluates(ast.Starred)
def _starred(machine: Machine, node: ast.Starred, frame: Frame) -> Value:
    return machine.evaluate(node.value, frame)


@evaluates(ast.Await)
def _await(machine: Machine, node: ast.Await, frame: Frame) -> Value:
    return machine.evaluate(node.value, frame)


@evaluates(ast.Yield, ast.YieldFrom)
def _yield(machine: Machine, node: ast.Yield | ast.YieldFrom, frame: Frame) -> Value:
    collected = frame.function_frame().names.get("<yielded>")
    value = machine.evaluate(node.value, frame) if node.value is not None else None
    if isinstance(collected, list):
        if isinstance(node, ast.Yield):
            collected.append(value)
        else:
            items = items_of(machine, value, node, frame)
            if items is None:
                raise PathEnd("a generator over a sequence of unknown length")
            collected.extend(items)
    return Unknown("what is sent to a generator", host=True)


@evaluates(ast.Call)
def _call(machine: Machine, node: ast.Call, frame: Frame) -> Value:
    function = machine.evaluate(node.func, frame)
    return machine.call(function, arguments_of(machine, node, frame), node, frame)


def arguments_of(machine: Machine, node: ast.Call, frame: Frame) -> Arguments:
    """Evaluate what a call passes, in order."""
    result = Arguments([])
    for argument in node.args:
        if not isinstance(argument, ast.Starred):
            result.args.append(machine.evaluate(argument, frame))
            result.arg_nodes.append(argument)
            continue
        items = items_of(machine, machine.evaluate(argument.value, frame), argument, frame)
        if items is None and result.exact:
            result.exact, result.head = False, len(result.args)
        if items is None:
            machine.doubt(f"how many `*{written(argument.value)}` are")
        result.args.extend(items or ())
        result.arg_nodes.extend([argument.value] * len(items or ()))
    for name, value in _keywords(machine, node, frame):
        if name is None:
            machine.doubt("the keywords of a call")
            result.exact = False
        else:
            result.kwargs[name] = value
    result.kwarg_nodes = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
    return result


def _keywords(machine: Machine, node: ast.Call, frame: Frame) -> Iterator[tuple[str | None, Value]]:
    for keyword in node.keywords:
        value = machine.evaluate(keyword.value, frame)
        if keyword.arg is not None:
            yield keyword.arg, value
        elif isinstance(value, dict) and all(isinstance(key, str) for key in value):
            yield from value.items()
        else:
            yield None, value

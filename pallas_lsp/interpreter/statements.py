"""Statements, one function a node type."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TypeVar

from . import host_arrays
from .attributes import set_attribute
from .classes import class_attribute, define_class
from .events import ValueStore
from .expressions import key_in, make_function
from .frames import Frame
from .growing import forget_length
from .machine import CONTEXTS, EXECUTE, Arguments, Machine
from .operators import SYMBOL, binary
from .parts import check_index, wrong_count
from .paths import PathEnd
from .refs import store
from .sequences import items_of, unpack
from .truth import assume, truth
from .values import (
    ABSENT,
    Array,
    Function,
    Instance,
    Opaque,
    Ref,
    RefIndexer,
    Unknown,
    UnknownLength,
    Value,
)

_Handler = TypeVar("_Handler", bound=Callable[..., None])


class Returned(Exception):
    """A ``return`` on its way to the call."""

    def __init__(self, value: Value) -> None:
        super().__init__()
        self.value = value


class LoopControl(Exception):
    """A ``break`` or ``continue`` on its way to the loop."""

    def __init__(self, leaves: bool) -> None:
        super().__init__()
        self.leaves = leaves


EXECUTE_ERRORS = (Returned, LoopControl)
"""What a broken text can let escape from a statement: a ``return`` outside a function, a ``break`` outside a loop."""


def executes(*types: type[ast.AST]) -> Callable[[_Handler], _Handler]:
    """Register the decorated function for these node types."""

    def register(handler: _Handler) -> _Handler:
        for node_type in types:
            EXECUTE[node_type] = handler
        return handler

    return register


@executes(ast.Expr)
def _expr(machine: Machine, node: ast.Expr, frame: Frame) -> None:
    machine.evaluate(node.value, frame)


@executes(ast.Pass)
def _pass(machine: Machine, node: ast.Pass, frame: Frame) -> None:
    pass


@executes(ast.Assign)
def _assign(machine: Machine, node: ast.Assign, frame: Frame) -> None:
    value = machine.evaluate(node.value, frame)
    for target in node.targets:
        assign(machine, target, value, frame, node, node.value)


@executes(ast.AnnAssign)
def _annassign(machine: Machine, node: ast.AnnAssign, frame: Frame) -> None:
    if node.value is not None:
        assign(machine, node.target, machine.evaluate(node.value, frame), frame, node, node.value)


@executes(ast.AugAssign)
def _augassign(machine: Machine, node: ast.AugAssign, frame: Frame) -> None:
    current = machine.evaluate(_as_load(node.target), frame)
    value = machine.evaluate(node.value, frame)
    if isinstance(current, list) and isinstance(node.op, ast.Add):
        # A list grows in place: whoever else holds it sees it.
        items = items_of(machine, value, node, frame)
        if items is not None:
            current.extend(items)
            return
        why = "a list grown by a sequence of unknown length"
        if not forget_length(machine, current, frame, list(current), why):
            assign(machine, node.target, UnknownLength(why, list(current)), frame, node)
        return
    changed = binary(machine, SYMBOL[type(node.op)], current, value, node, frame)
    host_arrays.forget(current)  # NumPy's arrays change in place
    assign(machine, node.target, changed, frame, node, node.value)


def _as_load(target: ast.expr) -> ast.expr:
    """The target of an augmented assignment as the expression that reads it (same place in the text)."""
    fresh: ast.expr
    if isinstance(target, ast.Name):
        fresh = ast.Name(target.id, ast.Load())
    elif isinstance(target, ast.Attribute):
        fresh = ast.Attribute(target.value, target.attr, ast.Load())
    elif isinstance(target, ast.Subscript):
        fresh = ast.Subscript(target.value, target.slice, ast.Load())
    else:
        return target
    return ast.copy_location(fresh, target)


def assign(machine: Machine, target: ast.expr, value: Value, frame: Frame, node: ast.AST, value_node: ast.expr | None = None) -> None:
    """Bind ``value`` to a target of any form."""
    if isinstance(target, ast.Name):
        frame.assign(target.id, value)
        if type(value) is Ref and not value.transforms:
            value.root.call_it(target.id)
        if machine.focus == frame.module.path:
            machine.note(target, value)
    elif isinstance(target, ast.Tuple | ast.List):
        _assign_sequence(machine, target, value, frame, node, value_node)
    elif isinstance(target, ast.Starred):
        assign(machine, target.value, value, frame, node)
    elif isinstance(target, ast.Attribute):
        holder = machine.evaluate(target.value, frame)
        set_attribute(holder, target.attr, value)
        host_arrays.forget(holder)
    elif isinstance(target, ast.Subscript):
        _assign_item(machine, target, value, frame, node, value_node)


def _assign_sequence(
    machine: Machine, target: ast.Tuple | ast.List, value: Value, frame: Frame, node: ast.AST, value_node: ast.expr | None
) -> None:
    starred = next((i for i, element in enumerate(target.elts) if isinstance(element, ast.Starred)), None)
    count = len(target.elts)
    items = unpack(machine, value, count, node, frame) if starred is None else items_of(machine, value, node, frame)
    if items is None:
        items = [Unknown(getattr(value, "why", "a sequence of unknown length"), host=getattr(value, "host", False)) for _ in range(count)]
    elif starred is not None:
        if len(items) < count - 1:
            raise wrong_count(machine, value, count - 1, True, value_node, node, frame)
        after = count - starred - 1
        items = [*items[:starred], items[starred : len(items) - after], *items[len(items) - after :]]
    elif len(items) != count:
        raise wrong_count(machine, value, count, False, value_node, node, frame)
    nodes = value_node.elts if isinstance(value_node, ast.Tuple | ast.List) and len(value_node.elts) == count else [None] * count
    for element, item, part in zip(target.elts, items, nodes, strict=True):
        assign(machine, element, item, frame, node, part)


def _assign_item(machine: Machine, target: ast.Subscript, value: Value, frame: Frame, node: ast.AST, value_node: ast.expr | None) -> None:
    holder = machine.evaluate(target.value, frame)
    index = machine.evaluate(target.slice, frame)
    if isinstance(holder, Ref):
        api = "augmented" if isinstance(node, ast.AugAssign) else "subscript"
        store(machine, holder, index, value, node, frame, api=api, slice_node=target.slice, target=target, value_node=value_node)
    elif isinstance(holder, Array) and machine.kernel is None:
        host_arrays.write(machine, holder, index, value)
    elif isinstance(holder, RefIndexer | Array) and machine.kernel is not None:
        machine.emit(ValueStore(machine.where(node, frame), holder.ref if isinstance(holder, RefIndexer) else holder, target))
    elif isinstance(holder, dict):
        key = key_in(machine, holder, index, node, frame)
        if key is ABSENT:
            holder.clear()
        else:
            holder[key] = value
    elif isinstance(holder, tuple | list):
        check_index(machine, holder, index, target, frame)
        if isinstance(holder, tuple):
            return
        if isinstance(index, int) and -len(holder) <= index < len(holder):
            holder[index] = value
        else:
            _forget(holder)


def _forget(items: list[Value]) -> None:
    """Something unknown was written into the list: nothing is known of its items."""
    items[:] = [Unknown("an item of a list written at an unknown index", host=True) for _ in items]


@executes(ast.Delete)
def _delete(machine: Machine, node: ast.Delete, frame: Frame) -> None:
    for target in node.targets:
        if isinstance(target, ast.Name):
            frame.owner_of(target.id).names.pop(target.id, None)


@executes(ast.If)
def _if(machine: Machine, node: ast.If, frame: Frame) -> None:
    if not node.orelse and _only_raises(node.body):
        # A guard: the path on which it raises says nothing of the code, so take the other one and learn from it.
        if assume(machine, node.test, frame, False) is True:
            raise PathEnd("raise")
        return
    if _leaves_only_a_raise(node, frame):
        if assume(machine, node.test, frame, True) is not False:
            machine.execute(node.body, frame)
        return
    chosen = truth(machine, machine.evaluate(node.test, frame), node.test, frame)
    machine.execute(node.body if chosen else node.orelse, frame)


def _leaves_only_a_raise(node: ast.If, frame: Frame) -> bool:
    """Whether the function raises unless the condition holds: ``if …: return …`` before its last statement, which raises."""
    body = frame.function.node.body if frame.function is not None else None
    if not isinstance(body, list) or len(body) < 2 or body[-2] is not node or node.orelse:
        return False
    return isinstance(body[-1], ast.Raise) and isinstance(node.body[-1], ast.Return)


def _only_raises(body: list[ast.stmt]) -> bool:
    return isinstance(body[-1], ast.Raise) and all(isinstance(s, ast.Raise | ast.Assign | ast.Expr | ast.AnnAssign) for s in body)


@executes(ast.Assert)
def _assert(machine: Machine, node: ast.Assert, frame: Frame) -> None:
    if assume(machine, node.test, frame, True) is False:
        raise PathEnd("raise")


@executes(ast.Raise)
def _raise(machine: Machine, node: ast.Raise, frame: Frame) -> None:
    raise PathEnd("raise")


@executes(ast.Return)
def _return(machine: Machine, node: ast.Return, frame: Frame) -> None:
    raise Returned(machine.evaluate(node.value, frame) if node.value is not None else None)


@executes(ast.Break)
def _break(machine: Machine, node: ast.Break, frame: Frame) -> None:
    raise LoopControl(leaves=True)


@executes(ast.Continue)
def _continue(machine: Machine, node: ast.Continue, frame: Frame) -> None:
    raise LoopControl(leaves=False)


@executes(ast.With, ast.AsyncWith)
def _with(machine: Machine, node: ast.With, frame: Frame) -> None:
    managers: list[Value] = []
    for entry in node.items:
        managers.append(machine.evaluate(entry.context_expr, frame))
        given = _context_method(machine, managers[-1], "__enter__", [], entry, frame)
        if entry.optional_vars is not None:
            assign(machine, entry.optional_vars, given, frame, node)

    def leave() -> None:
        for manager, entry in zip(reversed(managers), reversed(node.items), strict=True):
            _context_method(machine, manager, "__exit__", [None] * 3, entry, frame)

    with ExitStack() as changed:
        for manager in managers:
            if isinstance(manager, Opaque) and manager.name in CONTEXTS:
                changed.enter_context(CONTEXTS[manager.name](machine, manager))
        with _followed_by(leave):
            machine.execute(node.body, frame)


@contextmanager
def _followed_by(then: Callable[[], None]) -> Iterator[None]:
    """Around statements behind which ``then`` happens, also where they return or leave a loop."""
    try:
        yield
    except EXECUTE_ERRORS:
        then()
        raise
    then()


def _context_method(machine: Machine, manager: Value, name: str, args: list[Value], entry: ast.withitem, frame: Frame) -> Value:
    """What ``__enter__`` or ``__exit__`` of a context manager gives; unknown for one that is not the program's own."""
    method = class_attribute(manager.cls, name) if isinstance(manager, Instance) else None
    if isinstance(method, Function):
        return machine.call(method, Arguments([manager, *args]), entry.context_expr, frame)
    return Unknown("what a context manager gives", host=machine.kernel is None)


@executes(ast.Try, ast.TryStar)
def _try(machine: Machine, node: ast.Try, frame: Frame) -> None:
    with _followed_by(lambda: machine.execute(node.finalbody, frame)):
        _try_body(machine, node, frame)


def _try_body(machine: Machine, node: ast.Try, frame: Frame) -> None:
    try:
        with _guarded(machine, node):
            machine.execute(node.body, frame)
    except PathEnd as end:
        if end.reason != "raise" or not _catches(node):
            raise
        handler = next((h for h in node.handlers if end.exception and isinstance(h.type, ast.Name) and h.type.id == end.exception), None)
        if handler is None:
            handler = node.handlers[0]
            machine.doubt("which exception a `try` catches")
        if handler.name is not None:
            frame.assign(handler.name, Unknown("a caught exception", host=True))
        machine.execute(handler.body, frame)
    else:
        machine.execute(node.orelse, frame)


@contextmanager
def _guarded(machine: Machine, node: ast.Try) -> Iterator[None]:
    """Inside a ``try`` that catches something, a missing name is a question of the program's, not a fault."""
    machine.guarded += _catches(node)
    try:
        yield
    finally:
        machine.guarded -= _catches(node)


def _catches(node: ast.Try) -> bool:
    """Whether the program may go on behind what it catches: a handler that only says more of an error raises again at its end."""
    return not all(isinstance(handler.body[-1], ast.Raise) and _runs_to_its_end(handler) for handler in node.handlers)


def _runs_to_its_end(handler: ast.ExceptHandler) -> bool:
    return not any(isinstance(part, ast.Return | ast.Break | ast.Continue) for part in ast.walk(handler))


@executes(ast.FunctionDef, ast.AsyncFunctionDef)
def _def(machine: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> None:
    value: Value = make_function(machine, node, frame)
    for decorator in reversed(node.decorator_list):
        value = machine.call(machine.evaluate(decorator, frame), Arguments([value]), decorator, frame)
    frame.assign(node.name, value)


@executes(ast.ClassDef)
def _class(machine: Machine, node: ast.ClassDef, frame: Frame) -> None:
    frame.assign(node.name, define_class(machine, node, frame))


@executes(ast.Global)
def _global(machine: Machine, node: ast.Global, frame: Frame) -> None:
    frame.globals.update(node.names)


@executes(ast.Nonlocal)
def _nonlocal(machine: Machine, node: ast.Nonlocal, frame: Frame) -> None:
    frame.nonlocals.update(node.names)

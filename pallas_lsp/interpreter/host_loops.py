"""Python's own loops: unrolled where their turns are known, else run for their first turn and for any later one."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ..shapes import dims
from ..shapes.dims import Poly
from ..text.trees import walk
from .frames import MISSING, Frame
from .growing import forget_length, lists_in_reach
from .machine import Machine
from .operators import made_on_host
from .paths import PathEnd
from .sequences import items_of
from .statements import LoopControl, Returned, assign, executes
from .truth import known_truth, truth
from .unknowns import Number, Unknown, UnknownLength, UnknownRange, Value
from .values import Array
from .written import assigned_names, kept_with_node, written

_UNROLL = 64


@executes(ast.For, ast.AsyncFor)
def _for(machine: Machine, node: ast.For | ast.AsyncFor, frame: Frame) -> None:
    iterable = machine.evaluate(node.iter, frame)
    items = items_of(machine, iterable, node.iter, frame)
    if items is None or len(items) > _UNROLL:
        _run_unknown_times(machine, node, frame, iterable, items)
        return
    for item in items:
        assign(machine, node.target, item, frame, node)
        if _run_once(machine, node.body, frame):
            return
    machine.execute(node.orelse, frame)


@executes(ast.While)
def _while(machine: Machine, node: ast.While, frame: Frame) -> None:
    for _ in range(_UNROLL):
        value = machine.evaluate(node.test, frame)
        known = known_truth(value)
        if known is None and isinstance(value, Array) and value.traced:
            truth(machine, value, node.test, frame)
        if known is None:
            break
        if not known:
            machine.execute(node.orelse, frame)
            return
        if _run_once(machine, node.body, frame):
            return
    _run_unknown_times(machine, node, frame)


def _run_once(machine: Machine, body: list[ast.stmt], frame: Frame) -> bool:
    """Run a loop's body; True when it leaves the loop."""
    try:
        machine.execute(body, frame)
    except LoopControl as control:
        return control.leaves
    return False


def _item(machine: Machine, iterable: Value, items: list[Value] | None, target: str, turn: int | None) -> Value:
    """The item of the first turn (0), what stands for those of all later turns (1) or of all turns (None)."""
    if turn == 0 and items:
        return items[0]
    if turn == 0 and isinstance(iterable, UnknownRange):
        return iterable.first
    begin = turn or 0
    if isinstance(iterable, UnknownRange):
        return dims.symbol(f"{target} in {iterable.key}", iterable.least(begin))
    if items is None:
        return Unknown(iterable.why if isinstance(iterable, Unknown) else "a sequence of unknown length", host=machine.kernel is None)
    numbers = [item for item in items[begin:] if type(item) is int]
    whole = len(numbers) == len(items) - begin
    return dims.symbol(f"{target} of many", min(numbers)) if whole else Unknown("an item of a long sequence", host=True)


def _run_unknown_times(
    machine: Machine, node: ast.For | ast.AsyncFor | ast.While, frame: Frame, iterable: Value = None, items: list[Value] | None = None
) -> None:
    """Run the body for the first turn, and for any later one after forgetting what the first has changed.

    Where no turn sees what another has done, one that stands for all says it all. Afterwards what the body changes is forgotten.
    """
    machine.blind += 1  # what other turns do is not known
    machine.doubt("a loop of Python's whose turns are too many, or not known")
    changed = assigned_names(node)
    for turn in (0, 1) if _hands_on(node, changed, frame) else (None,):
        before = {name: frame.names.get(name, MISSING) for name in sorted(changed)}
        lists = {id(held): (held, list(held)) for *_, held in lists_in_reach(frame)}
        if not isinstance(node, ast.While):
            assign(machine, node.target, _item(machine, iterable, items, written(node.target), turn), frame, node)
        machine.path.repeated += 1
        try:
            left = _run_once(machine, node.body, frame)
        except Returned:
            # Whether the loop returns, and what runs after it, is no longer certain.
            raise PathEnd("a return inside a loop of unknown length") from None
        finally:
            machine.path.repeated -= 1
        _forget_changes(machine, frame, before)
        _forget_grown(machine, frame, lists.values())
        if left:
            break


def _hands_on(node: ast.For | ast.AsyncFor | ast.While, changed: frozenset[str], frame: Frame) -> bool:
    """Whether a turn may see what another has done: the body reads a name that it binds later, or has a list at hand."""
    lists = {name for name, *_ in lists_in_reach(frame)}
    return not _read_in_turn(node).isdisjoint(changed & frame.names.keys() | lists)


@kept_with_node
def _read_in_turn(node: ast.AST) -> frozenset[str]:
    """The names that a turn of a loop may read before it binds them."""
    assert isinstance(node, ast.For | ast.AsyncFor | ast.While)
    if isinstance(node, ast.While):
        return frozenset(_read_first(node.body, set()) | _read_in(node.test))
    return frozenset(_read_first(node.body, set(assigned_names(node.target))))


def _read_first(body: list[ast.stmt], bound: set[str]) -> set[str]:
    """The names that statements may read before they bind them; adds to ``bound`` those that they bind in any case."""
    found: set[str] = set()
    for statement in body:
        if isinstance(statement, ast.If):
            one, other = set(bound), set(bound)
            found |= (_read_in(statement.test) - bound) | _read_first(statement.body, one) | _read_first(statement.orelse, other)
            bound |= one & other
        elif isinstance(statement, ast.For | ast.AsyncFor):
            found |= (_read_in(statement.iter) - bound) | _read_first(statement.body, bound | assigned_names(statement.target))
            found |= _read_first(statement.orelse, set(bound))
        else:
            found |= _read_in(statement) - bound
            if isinstance(statement, ast.Assign | ast.AnnAssign):
                bound |= assigned_names(statement)
    return found


def _read_in(node: ast.AST) -> set[str]:
    names = {n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return names | {n.target.id for n in walk(node) if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)}


def _forget_changes(machine: Machine, frame: Frame, before: dict[str, Value]) -> None:
    for name, old in before.items():
        new = frame.names.get(name, MISSING)
        if new is not old and new is not MISSING:
            frame.names[name] = _joined(machine, old, new, ast.Name(name))


def _forget_grown(machine: Machine, frame: Frame, lists: Iterable[tuple[list[Value], list[Value]]]) -> None:
    """Of a list that a turn made longer or shorter only its start is known, if that stayed; of another one the items that stayed."""
    for held, old in lists:
        same = [new is was for new, was in zip(held, old, strict=False)]
        if len(held) != len(old):
            head = old if len(held) > len(old) and all(same) else []
            forget_length(machine, held, frame, head, "a list that grows in a loop of unknown length")
        elif not all(same):
            held[:] = [new if new is was else _joined(machine, was, new, ast.Name("item")) for new, was in zip(held, old, strict=True)]


def _joined(machine: Machine, old: Value, new: Value, node: ast.Name) -> Value:
    """What a name holds after a loop that ran an unknown number of times: its type of array if that did not change."""
    if isinstance(old, Array) and isinstance(new, Array) and old.aval == new.aval:
        return Array(new.aval, (old, new), made_by=new.made_by)
    if type(old) is type(new) and isinstance(old, str | int | float | bool) and old == new:
        return old
    if isinstance(old, UnknownLength) and isinstance(new, UnknownLength):
        stays = len(new.head) >= len(old.head) and all(a is b for a, b in zip(old.head, new.head, strict=False))
        return old if stays else UnknownLength(old.why, [], host=old.host)
    why = "changed in a loop of unknown length"
    if all(isinstance(value, int | Poly | Number) and not isinstance(value, bool) for value in (old, new)):
        return machine.number(why, node)
    return Unknown(why, host=machine.kernel is None or (made_on_host(old) and made_on_host(new)))

"""What a kernel does with its refs on one path: which it reads before anything was stored there, and which it never stores to."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from ..call_events import FirstRead, RefPassed
from ..events import Access, CopyRef, Event, UnmodelledCall
from ..operation_events import Operation
from ..values import Array, DynamicSlice, Instance, Ref, RefRoot, Value
from ..written import written


def note_uses(events: Sequence[Event]) -> Iterator[FirstRead]:
    """Mark what the events of a path read and write, and give the reads of what this path has not surely written before."""
    stores: dict[int, list[Event]] = {}
    seen: set[int] = set()
    for index, event in enumerate(events):
        if isinstance(event, Access):
            event.ref.root.kept = event.ref.root.kept or _kept(event, stores.get(id(event.ref.root), ()))
            if event.live and _takes_one_scalar(event):
                event.ref.root.ranks |= {len(event.entries)}
        if isinstance(event, Access) and event.op == "load":
            root = event.ref.root
            root.read = root.read or event.live
            if id(root) in seen or not event.live or event.fault is not None or event.where.guards:
                continue
            seen.add(id(root))
            guards = _guards(stores.get(id(root), ()))
            if guards is not None and not _is_chosen(event, events[index:]):
                yield FirstRead(event.where, event, _comes_back(event, events[index:]), guards)
            continue
        for root in changed(event):
            root.written = True
            stores.setdefault(id(root), []).append(event)


def _takes_one_scalar(event: Access) -> bool:
    """Whether a ref of unknown rank in SMEM is indexed with scalars only: there is one for each dim, for vectors are not read there."""
    ref, entries = event.ref, event.entries
    unknown = ref.root.shape is None and not event.transforms and ref.root.space == "smem"
    return unknown and bool(entries) and all(entry.kind == "int" or _is_scalar(entry.value) for entry in entries)


def _is_scalar(value: Value) -> bool:
    """Whether a value is a scalar if SMEM holds nothing else: computed from what is read there."""
    if isinstance(value, Access):
        return _takes_one_scalar(value)
    if isinstance(value, Array) and value.shape is None:
        return bool(value.operands) and all(map(_is_scalar, value.operands))
    return isinstance(value, Array) and value.shape == ()


def _kept(event: Access, stores: Sequence[Event]) -> str:
    """Why a scratch buffer surely stands in memory for this load; empty where the compiler may take the value that was stored."""
    if event.op != "load" or not event.live or event.fault is not None or event.where.conditions:
        return ""
    before = [store for store in stores if event.where.guards[: len(store.where.guards)] == store.where.guards]
    if not before:
        return "carried"
    elsewhere = all(isinstance(store, Access) and _is_elsewhere(event, store) for store in before)
    return "indexed" if elsewhere else ""


def _is_elsewhere(load: Access, store: Access) -> bool:
    """Whether the places of a load and a store are compared only when the kernel runs."""
    texts = [[written(e.node) if e.node is not None else "" for e in access.entries] for access in (load, store)]
    return texts[0] != texts[1] and any(_is_dynamic(e.value) for access in (load, store) for e in access.entries)


def _is_dynamic(entry: Value) -> bool:
    """Whether an index is known only when the kernel runs."""
    if isinstance(entry, DynamicSlice):
        entry = entry.start
    return isinstance(entry, Array) and entry.traced and entry.constant is None


def _guards(stores: Sequence[Event]) -> frozenset[int] | None:
    """The grid axes whose index is 0 where these stores run; None where they may run elsewhere too."""
    axes: set[int] = set()
    for event in stores:
        own = [_first_step_of(guard) for guard in event.where.guards] if isinstance(event, Access) else []
        if not own or None in own:
            return None
        axes.update(axis for axis in own if axis is not None)
    return frozenset(axes)


def _first_step_of(guard: Value) -> int | None:
    """The axis of a condition ``pl.program_id(axis) == 0``; None for any other."""
    node = guard.made_by if isinstance(guard, Array) else None
    if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], ast.Eq) or len(guard.operands) != 1:
        return None
    sides = [node.left, node.comparators[0]]
    if not any(isinstance(side, ast.Constant) and side.value == 0 for side in sides):
        return None
    index = guard.operands[0].made_by if isinstance(guard.operands[0], Array) else None
    if not isinstance(index, ast.Call) or not written(index.func).endswith("program_id") or len(index.args) != 1:
        return None
    axis = index.args[0]
    return axis.value if isinstance(axis, ast.Constant) and isinstance(axis.value, int) else None


def _comes_back(read: Access, later: Sequence[Event]) -> bool:
    """Whether what was read takes part in what is then stored to the same ref."""
    stores = (e for e in later if isinstance(e, Access) and e.op != "load" and e.ref.root is read.ref.root)
    return any(_depends(store.value, read) for store in stores)


def _is_chosen(read: Access, later: Sequence[Event]) -> bool:
    """Whether something chooses between what was read and other values: ``jnp.where(first, 0, s[...])`` starts a sum as a store does."""
    choices = (e for e in later if isinstance(e, Operation) and e.function.rpartition(".")[2] in ("where", "select", "select_n"))
    return any(_depends(value, read) for choice in choices for value in choice.args[1:])


def _depends(value: Value, read: Access) -> bool:
    pending: list[Any] = [value]
    seen: set[int] = set()
    while pending:
        part = pending.pop()
        if part is read:
            return True
        if isinstance(part, Array) and id(part) not in seen:
            seen.add(id(part))
            pending.extend(part.operands)
    return False


def changed(event: Event) -> list[RefRoot]:
    """The refs that an event stores to, or that something may do with what it wants."""
    if isinstance(event, Access):
        return [event.ref.root]
    if isinstance(event, CopyRef):
        event.ref.root.read = event.ref.root.read or event.role == "source"
        return [event.ref.root] if event.role == "destination" else []
    if isinstance(event, RefPassed):
        event.ref.root.read = True
        return [event.ref.root]
    return [ref.root for ref in refs_in(event.args)] if isinstance(event, UnmodelledCall) else []


def refs_in(value: Value) -> list[Ref]:
    """The refs in a structure, in order."""
    return [ref for _, ref in named_refs("", value)]


def named_refs(name: str, value: Value) -> list[tuple[str, Ref]]:
    """The refs in a structure that the program calls ``name``, each with the expression that gives it: ``name[0]``, ``name.mask``."""
    found: list[tuple[str, Ref]] = []
    holders: set[int] = set()

    def visit(name: str, value: Value) -> None:
        if isinstance(value, Ref):
            found.append((name, value))
        elif isinstance(value, tuple | list | dict | Instance) and id(value) not in holders:
            holders.add(id(value))
            for suffix, part in _parts(value):
                visit(name + suffix, part)

    visit(name, value)
    return found


def _parts(value: Any) -> Iterator[tuple[str, Value]]:
    if isinstance(value, Instance):
        return ((f".{name}", part) for name, part in value.attrs.items())
    if isinstance(value, dict):
        return ((f"[{key!r}]", part) for key, part in value.items())
    return ((f"[{index}]", part) for index, part in enumerate(value))

"""What a kernel does with its refs on one path: which it reads before anything was stored there, and which it never stores to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..call_events import FirstRead, RefPassed
from ..events import Access, CopyRef, Event, UnmodelledCall
from ..values import Array, Ref, RefRoot, Value


def note_uses(events: Sequence[Event]) -> Iterator[FirstRead]:
    """Mark what the events of a path read and write, and give the reads of what this path surely has not written before."""
    touched: set[int] = set()
    for index, event in enumerate(events):
        if isinstance(event, Access) and event.op == "load":
            root = event.ref.root
            root.read = root.read or event.live
            if id(root) not in touched and event.live and event.fault is None and not event.where.branched:
                touched.add(id(root))
                yield FirstRead(event.where, event, _comes_back(event, events[index:]))
            continue
        for root in _changed(event):
            root.written = True
            touched.add(id(root))


def _comes_back(read: Access, later: Sequence[Event]) -> bool:
    """Whether what was read takes part in what is then stored to the same ref."""
    stores = (e for e in later if isinstance(e, Access) and e.op != "load" and e.ref.root is read.ref.root)
    return any(_depends(store.value, read) for store in stores)


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


def _changed(event: Event) -> list[RefRoot]:
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
    """The refs in a small structure."""
    found: list[Ref] = []
    pending: list[Any] = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, Ref):
            found.append(part)
        elif isinstance(part, tuple | list):
            pending.extend(part)
        elif isinstance(part, dict):
            pending.extend(part.values())
    return found

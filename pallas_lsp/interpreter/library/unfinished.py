"""What a kernel leaves undone with its copies: made and never started, started and never waited for, waited for and never started."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from ..events import Event
from ..operation_events import CopyLeft, CopyMade, CopyStep, UnseenMesh
from ..values import Function, Ref, RefRoot


def copies_left(function: Function, refs: Iterable[Ref], events: Sequence[Event]) -> Iterator[CopyLeft]:
    """What all paths of a kernel leave undone, by the semaphores in its scratch that it uses for nothing else than these copies."""
    made = [event for event in events if isinstance(event, CopyMade)]
    steps = [event for event in events if isinstance(event, CopyStep)]
    for root in {id(ref.root): ref.root for ref in refs}.values():
        copies = [copy for copy in made if isinstance(copy.semaphore, Ref) and copy.semaphore.root is root]
        if root.role != "scratch" or not copies or not _only_in(function, root, copies):
            continue
        taken = [step for step in steps if any(step.copy is copy for copy in copies)]
        yield from _left(copies, taken)


def unseen_meshes(events: Sequence[Event]) -> Iterator[UnseenMesh]:
    """The remote copies by coordinates among the events of a kernel that uses no axis of a mesh."""
    for event in events:
        if isinstance(event, CopyStep) and event.step == "start" and event.copy.target is not None and event.copy.target.ids:
            yield UnseenMesh(event.where, event.copy)


def _left(copies: Sequence[CopyMade], steps: Sequence[CopyStep]) -> Iterator[CopyLeft]:
    started = [step for step in steps if step.step == "start"]
    waited = [step for step in steps if step.step != "start"]
    if not steps:
        yield CopyLeft(copies[0].where, "made", copies[0])
    elif not waited:
        yield CopyLeft(started[0].where, "started", started[0].copy)
    elif not started:
        yield CopyLeft(waited[0].where, "waited", waited[0].copy)


def _only_in(function: Function, root: RefRoot, copies: Sequence[CopyMade]) -> bool:
    """Whether the kernel's text names the semaphore nowhere but in the calls that make these copies."""
    spec = function.node.args
    if root.name not in {p.arg for p in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)}:
        return False
    calls = {id(copy.where.node) for copy in copies}
    inside: set[int] = set()
    named: list[ast.Name] = []
    for node in ast.walk(function.node):
        if id(node) in calls:
            inside.update(map(id, ast.walk(node)))
        elif isinstance(node, ast.Name) and node.id == root.name:
            named.append(node)
    return all(id(node) in inside for node in named)

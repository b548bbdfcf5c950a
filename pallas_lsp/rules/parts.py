"""Tuples of refs, shapes and other containers of which a kernel takes parts that are not there.

The messages are Python's own, from the run of the kernel's text in ``jax/_src/pallas/pallas_call.py``, ``_trace_kernel_to_jaxpr``.
"""

from __future__ import annotations

import ast
from collections.abc import Collection

from ..interpreter.operation_events import PartsFault
from ..interpreter.values import Ref, Value
from . import words
from .registry import Context, Finding, rule

_LONG = 6


@rule("unpack-count", on=PartsFault, order=10, stage="trace")
def unpack_count(event: PartsFault, context: Context) -> Finding | None:
    """Refs or the dims of a shape are unpacked into another number of names."""
    if event.kind != "count":
        return None
    have, names = len(event.value), event.part
    least = "at least " if event.starred else ""
    jax = f"not enough values to unpack (expected {least}{names}, got {have})" if have < names else f"too many values to unpack (expected {names})"
    return Finding(
        event.where.location,
        f"{_holder(event)} {_content(event)}, which {'is' if have == 1 else 'are'} unpacked into {least}{words.count(names, 'name')}",
        jax_message=jax,
    )


@rule("sequence-index", on=PartsFault, order=20, stage="trace")
def sequence_index(event: PartsFault, context: Context) -> Finding | None:
    """A tuple, list or dict of refs is indexed as if it were one, or has no such item."""
    kind, holder, size = type(event.value).__name__, _holder(event), len(event.value)
    jax: str | None = None
    if event.kind == "index":
        has_refs = event.value and isinstance(event.value[0], Ref) and event.holder is not None
        first = f": {holder[:-1]}[0][...]` reads the first" if has_refs else ""
        what = f"{holder} is a {kind} of {words.count(size, _noun(event.value))}, which takes one number as its index{first}"
        jax = f"{kind} indices must be integers or slices, not {{...}}"
    elif event.kind == "range":
        what, jax = f"{holder} {_content(event)}, of which none has the number {event.part}", f"{kind} index out of range"
    elif event.kind == "key":
        keys = ", ".join(f"`{key}`" for key in event.value)
        what = f"{holder} has no key `{event.part}`: its keys are {keys}"
    else:
        return None
    return Finding(event.where.location, what, jax_message=jax)


def _holder(event: PartsFault) -> str:
    """What is taken apart, in the user's words."""
    return f"`{words.source_text(event, event.holder)}`" if event.holder is not None else f"this {type(event.value).__name__}"


def _noun(parts: Collection[Value]) -> str:
    return "ref" if parts and all(isinstance(part, Ref) for part in parts) else "item"


def _content(event: PartsFault) -> str:
    """What is in it: refs by their roles, dims by their sizes."""
    parts: tuple[Value, ...] = tuple(event.value)
    noun = _noun(parts)
    if noun == "ref":
        given = [part.root.role for part in parts]
        said = ", ".join(words.count(given.count(role), name) for role, name in _ROLES.items() if role in given)
        return f"holds {words.count(len(parts), noun)} ({said})"
    if isinstance(event.holder, ast.Attribute) and event.holder.attr == "shape" and len(parts) <= _LONG:
        return f"has {words.count(len(parts), 'dim')}, {words.shape(parts)}"
    return f"has {words.count(len(parts), noun)}"


_ROLES = {
    "prefetch": "prefetched operand", "input": "input", "output": "output", "scratch": "scratch buffer", "outside": "made by the program",
}  # fmt: skip

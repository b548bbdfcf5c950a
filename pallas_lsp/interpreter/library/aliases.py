"""``input_output_aliases``: outputs that are written over operands.

Mirrors ``jax/_src/pallas/pallas_call.py``, ``_pallas_call`` (the checks of ``input_output_aliases``).
"""

from __future__ import annotations

from collections.abc import Iterator

from ..call_events import Aliased
from ..events import CallFault, Where
from ..machine import Machine
from ..values import ABSENT, PallasCall, Value
from .blocks import Placed
from .refusals import refuse
from .structure import leaf_count, top_of
from .trees import leaves


def mark_aliased(call: PallasCall, placed: list[Placed]) -> None:
    """Note which outputs start with what an operand holds."""
    aliases = call.arguments.get("input_output_aliases", {})
    outputs = [entry.ref.root for entry in placed if entry.ref.root.role == "output"]
    numbers = set(aliases.values()) if isinstance(aliases, dict) and all(isinstance(n, int) for n in aliases.values()) else None
    for index, root in enumerate(outputs):
        root.aliased = numbers is None or index in numbers


def note_aliases(machine: Machine, call: PallasCall, operands: list[Value], where: Where) -> None:
    """Say what is aliased to what; ``where``: the place of the aliases."""
    aliases = call.arguments.get("input_output_aliases", {})
    if aliases is None or isinstance(aliases, tuple | list | int | str):
        refuse(machine, CallFault(where, "aliases", aliases))
    elif isinstance(aliases, dict):
        for event in _aliased(machine, call, operands, aliases, where):
            machine.emit(event)


def _aliased(machine: Machine, call: PallasCall, operands: list[Value], aliases: dict[Value, Value], where: Where) -> Iterator[Aliased]:
    trees = tuple(operands), top_of(machine.settle(call.arguments.get("out_shape")))
    counts = [leaf_count(machine, tree) for tree in trees]
    flat = [leaves(machine, tree) if count is not None else [] for tree, count in zip(trees, counts, strict=True)]
    used: dict[Value, Value] = {}
    for source, result in aliases.items():
        if not isinstance(source, int | str | None) or not isinstance(result, int | str | None):
            continue
        values = [part[k] if isinstance(k, int) and 0 <= k < len(part) else ABSENT for part, k in zip(flat, (source, result), strict=True)]
        yield Aliased(where, source, result, counts[0], counts[1], values[0], values[1], used.get(result))
        used.setdefault(result, source)

"""What kernel calls keep in memory, and which of their arrays are in HBM because they are arguments or results of a compiled program."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ..call_events import Footprint, Grid
from ..events import Where
from ..machine import Arguments, Machine
from ..surroundings import Program
from ..values import Array, PallasCall, RefRoot, Unknown, Value
from .blocks import Placed
from .trees import leaves


@contextmanager
def compiled(machine: Machine, arguments: Arguments) -> Iterator[Callable[[Value], None]]:
    """Around what the outermost ``jit`` of the program calls; what it yields takes the result."""
    if machine.in_jit != 1 or machine.transformed:
        yield lambda result: None
        return
    given = [leaf for argument in (*arguments.args, *arguments.kwargs.values()) for leaf in leaves(machine, argument)]
    program = Program({id(leaf): leaf for leaf in given if isinstance(leaf, Array)})
    machine.around.program = program
    try:
        yield lambda result: _returned(machine, program, result)
    finally:
        machine.around.program = None


def _returned(machine: Machine, program: Program, result: Value) -> None:
    for leaf in leaves(machine, result):
        entry, root = program.outputs.get(id(leaf), (set(), None))
        entry.update([] if root is None else [id(root)])


@dataclass(frozen=True, slots=True)
class Kept:
    """The refs of a kernel call: their roots, whether these are all, its windows and its grid."""

    roots: tuple[RefRoot, ...]
    whole: bool
    placed: list[Placed]
    grid: Grid


def note_footprint(machine: Machine, call: PallasCall, where: Where, kept: Kept, results: list[Value]) -> None:
    """Say what a call keeps in memory; ``results`` are the arrays of its outputs."""
    around = machine.around
    inputs = [entry for entry in kept.placed if entry.ref.root.role == "input"]
    outputs = [entry.ref.root for entry in kept.placed if entry.ref.root.role == "output"]
    whole = kept.whole and not any(isinstance(entry.spec, Unknown) for entry in kept.placed)
    eager = not machine.in_jit and not machine.transformed and around.program is None
    arguments = around.program.arguments if around.program is not None else {}
    entry = {id(e.ref.root) for e in inputs if eager or id(e.array) in arguments}
    if eager:
        entry |= {id(root) for root in outputs}
    elif around.program is not None and len(results) == len(outputs):
        around.program.outputs |= {id(array): (entry, root) for array, root in zip(results, outputs, strict=True)}
        around.program.alive += results
    machine.emit(Footprint(where, kept.roots, whole, entry, kept.grid, call.arguments.get("compiler_params"), bool(around.batches)))

"""How a model says that JAX refuses what the program does on the host."""

from __future__ import annotations

import ast

from ...data.signatures import argument_fault
from ...text.span import Location
from ..call_events import SignatureFault
from ..events import Event, Where
from ..machine import Machine
from ..modules import ModuleFile
from ..paths import PathEnd
from ..values import SpecOrigin
from .registry import Call


def refuse(machine: Machine, event: Event) -> None:
    """Record that JAX raises here. Inside a ``try`` of the program's that is its own affair, and the path goes to the handler."""
    if machine.guarded:
        raise PathEnd("raise")
    machine.emit(event)


def place(machine: Machine, module: ModuleFile, node: ast.AST, call: Location | None = None) -> Where:
    """The place of an event at a node that may stand in another file than the code that runs; ``call``: the kernel call it is about."""
    return Where(module, node, machine.path.facts, call, machine.path.conditions(), record=machine.record)


def location_of(origin: SpecOrigin) -> Location:
    """Where a spec, a scratch entry or a call is written."""
    return Location(origin.module.path, origin.module.source.span_of(origin.node))


def misses_arguments(call: Call, function: str | None = None) -> bool:
    """Whether a function of JAX is called with arguments that it does not take; says so if it is."""
    if not call.arguments.exact:
        return False
    fault = argument_fault(function or call.name, len(call.args), call.kwargs, call.machine.jax_version)
    if fault is None:
        return False
    refuse(call.machine, SignatureFault(call.machine.where(call.node, call.frame), function or call.name, fault))
    return True


def nodes_of(call: Call, *parameters: str) -> dict[str, ast.expr]:
    """The expressions of a call's arguments by parameter name; ``parameters`` names the positional ones."""
    return dict(zip(parameters, call.arguments.arg_nodes, strict=False)) | call.arguments.kwarg_nodes

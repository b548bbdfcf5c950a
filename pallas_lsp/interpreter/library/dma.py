"""Copies between memories and the semaphores that tell when they are done."""

from __future__ import annotations

import ast

from ...shapes.avals import Aval
from ..frames import Frame
from ..liveness import mark_live
from ..machine import Arguments, Machine
from ..operation_events import CopyMade, CopyStep, SemaphoreUse, Target
from ..refs import copied
from ..values import ABSENT, Array, Copy, Ref, RefRoot, Value
from .containers import RECEIVERS
from .registry import PALLAS, TPU, Call, models


@models(f"{TPU}.make_async_copy", f"{TPU}.async_copy", f"{TPU}.make_async_remote_copy", f"{TPU}.async_remote_copy", f"{PALLAS}.copy")
def _async_copy(call: Call) -> Value:
    remote = "remote" in call.name
    made = _made(call, None if remote else call.get(2, "sem", ABSENT), _remote_target(call) if remote else None)
    copy = Copy(made.source, made.destination, made)
    if call.name in (f"{TPU}.async_copy", f"{TPU}.async_remote_copy"):
        _step(call.machine, copy, "start", call.node, call.frame, call.kwargs.get("priority", 0), call.kwargs.get("add", False))
    return copy


def _remote_target(call: Call) -> Target | None:
    """Where a remote copy goes. JAX sees the mesh around the kernel only if something uses its axes, as names in a dict do."""
    if not call.arguments.exact:
        return None
    machine = call.machine
    names = ("send_sem", "recv_sem", "device_id", "device_id_type")
    send, receive, device, kind = (machine.settle(call.get(2 + index, name, ABSENT)) for index, name in enumerate(names))
    machine.axis_uses += not isinstance(device, int | Array | tuple | list)
    return Target(device, kind, _axes(machine), send, receive)


def _signal_target(call: Call) -> Target | None:
    """Where a signal goes, None for one that stays on the device; another device's makes JAX see the mesh."""
    device = call.machine.settle(call.kwargs.get("device_id"))
    kind = call.machine.settle(call.kwargs.get("device_id_type", ABSENT))
    if device is None or not call.arguments.exact:
        return None
    call.machine.axis_uses += 1
    return Target(device, kind, _axes(call.machine))


def _axes(machine: Machine) -> dict[str, Value] | None:
    """The axes of the mesh of devices; the cores of a mesh of cores are addressed apart, and what a device id is then is not known."""
    return machine.kernel.axes if machine.kernel is not None and not machine.kernel.in_mesh else None


@models(f"{TPU}.sync_copy")
def _sync_copy(call: Call) -> Value:
    made = _made(call, None)
    _step(call.machine, Copy(made.source, made.destination, made), "start", call.node, call.frame, add=call.kwargs.get("add", False))
    return None


def _made(call: Call, semaphore: Value, target: Target | None = None) -> CopyMade:
    """Note a copy and its operands, which JAX does not look at before it is started or waited for."""
    source, destination = call.get(0, "src_ref"), call.get(1, "dst_ref")
    given = [("source", source, 0, "src_ref"), ("destination", destination, 1, "dst_ref")]
    if isinstance(semaphore, Array):
        given.append(("semaphore", semaphore, 2, "sem"))
    operands = tuple(
        event
        for role, value, position, name in given
        for event in copied(call.machine, role, value, call.arguments.node(position, name) or call.node, call.frame)
    )
    made = CopyMade(call.machine.where(call.node, call.frame), call.name, source, destination, semaphore, target, operands)
    if call.arguments.exact:
        call.machine.emit(made)
    return made


def _step(
    machine: Machine, copy: Copy, step: str, node: ast.AST, frame: Frame, priority: Value = 0, add: Value = False
) -> None:
    """Note that a copy is started or waited for."""
    machine.effect()
    mark_live(copy.source, copy.destination)
    if isinstance(copy.made, CopyMade):
        target = copy.made.target
        mark_live(copy.made.semaphore, *((target.device, target.send, target.receive) if target else ()))
        for operand in copy.made.operands:
            operand.live = True
        machine.emit(CopyStep(machine.where(node, frame), step, copy.made, priority, add))


def _copy_method(machine: Machine, value: Copy, name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    _step(machine, value, name, node, frame, arguments.get(0, "priority", 0), arguments.kwargs.get("add", False))
    return None


RECEIVERS[Copy] = _copy_method


@models(
    f"{PALLAS}.semaphore_signal", f"{PALLAS}.semaphore_wait", f"{TPU}.semaphore_signal", f"{TPU}.semaphore_wait", f"{PALLAS}.semaphore_read"
)
def _semaphore(call: Call) -> Value:
    call.machine.effect()
    mark_live(call.args, list(call.kwargs.values()))
    short = call.name.rpartition("_")[2]
    semaphore = call.get(0, "sem")
    target = _signal_target(call) if short == "signal" else None
    if isinstance(semaphore, Ref):
        call.machine.emit(SemaphoreUse(call.machine.where(call.node, call.frame), short, semaphore, target))
    return Array(Aval((), "int32", False)) if short == "read" else None


@models(f"{TPU}.get_barrier_semaphore")
def _barrier(call: Call) -> Value:
    call.machine.barriers += 1
    root = RefRoot("barrier", "scratch", (), (), "barrier_semaphore", "semaphore")
    return root.whole()

"""Running the functions that a kernel call calls: kernels and index maps, on paths of their own."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container
from dataclasses import dataclass, replace

from ...text.span import Location
from ..call_events import ArityFault, Captured, NeverWritten, Returned
from ..calls import BindingFault, bind_arguments, innermost, run_body
from ..classes import class_attribute
from ..events import Access, CallFault, KernelRun, Record
from ..frames import Frame
from ..machine import CALL, Arguments, KernelContext, Machine
from ..paths import KERNEL_PATHS, Explorer, PathEnd
from ..signature import signature
from ..values import (
    ABSENT,
    Array,
    BlockSpec,
    BoundMethod,
    Function,
    GridSpec,
    Instance,
    Library,
    Opaque,
    Ref,
    RefRoot,
    Scratch,
    ShapeDtype,
    SpecOrigin,
    Transformed,
    Unknown,
    Value,
)
from ..written import free_names
from .captures import captured_arrays, module_of
from .refusals import place, refuse
from .unfinished import copies_left, unseen_meshes
from .uses import named_refs, note_uses, refs_in

_NO_FUNCTIONS = (tuple, list, dict, str, int, float, type(None), Array, BlockSpec, GridSpec, ShapeDtype, Scratch, Ref, slice)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is known once a kernel ran.

    ``refused``: JAX refuses to call it; ``barrier``: it takes the barrier semaphore, None where unsure; ``roots``: those of the refs among
    its arguments, which hold what it does with them; ``record``: what happened in it.
    """

    refused: bool = False
    barrier: bool | None = None
    roots: tuple[RefRoot, ...] = ()
    record: Record | None = None


def is_no_function(value: Value) -> bool:
    """Whether a value is certainly nothing that can be called."""
    return isinstance(value, _NO_FUNCTIONS)


def callable_value(value: Value) -> bool:
    """Whether calling the value runs something of the program's."""
    return type(value) in CALL and not isinstance(value, Library | Opaque)


def underlying(callee: Value, arguments: Arguments) -> tuple[Value, Arguments]:
    """The function that finally runs, inside partials, bound methods, ``jit`` and callable objects, with the arguments it receives."""
    while True:
        callee, arguments = innermost(callee, arguments)
        method = class_attribute(callee.cls, "__call__") if isinstance(callee, Instance) else None
        if isinstance(method, Function):
            callee = BoundMethod(callee, method)
        elif isinstance(callee, Transformed) and callee.kind in ("jit", "same"):
            callee = callee.func
        else:
            return callee, arguments


def binding(
    machine: Machine, function: Function, received: Arguments, what: str, given: tuple[str, ...], call: Location, named: Container[str] = ()
) -> Frame | None:
    """The frame of a call of ``function``; None where the arguments do not fit, which is said then.

    ``what`` is called: ``kernel`` or ``index map``; ``given``: the arguments that JAX passes, in words; ``named``: those it passes by name.
    """
    try:
        return bind_arguments(machine, function, received)
    except BindingFault as fault:
        missing, unexpected = _unbound(function, received)
        where = place(machine, function.module, function.node, call)
        where.trail = tuple(machine.path.trail)
        refuse(machine, ArityFault(where, what, function, given, missing, unexpected, str(fault), unexpected not in named))
        return None


def _unbound(function: Function, received: Arguments) -> tuple[tuple[str, ...], str | None]:
    """The parameters that get nothing, and the keyword that is no parameter."""
    spec = function.node.args
    positional = [*spec.posonlyargs, *spec.args]
    defaulted = len(positional) - len(function.defaults)
    by_name = {name for name in received.kwargs if name not in {p.arg for p in spec.posonlyargs}}
    missing = [p.arg for i, p in enumerate(positional) if len(received.args) <= i < defaulted and p.arg not in by_name]
    keyword_only = zip(spec.kwonlyargs, function.kw_defaults, strict=False)
    missing += [p.arg for p, default in keyword_only if default is ABSENT and p.arg not in received.kwargs]
    names = {p.arg for p in (*spec.args, *spec.kwonlyargs)}
    unexpected = next((name for name in received.kwargs if name not in names), None) if spec.kwarg is None else None
    return tuple(missing), unexpected


def explored(machine: Machine, context: KernelContext, once: Callable[[], None]) -> int:
    """Call ``once`` on every path of a kernel or index map, and give how many were left out; the host's path goes on as it was."""
    saved, machine.kernel = (machine.path, machine.kernel), context
    explorer = Explorer(KERNEL_PATHS, machine.kernel_coverage)
    try:
        for path in explorer.paths(saved[0]):
            machine.path = path
            try:
                once()
            except PathEnd as end:
                machine.doubt(f"what follows {end.reason}")
            if saved[1] is None and context.inside != "index map":
                machine.glance()
        if explorer.cut:
            machine.doubt("conditions that are not known, too many to try")
    finally:
        machine.path, machine.kernel = saved
        machine.cut["kernel paths"] = machine.cut.get("kernel paths", 0) + explorer.cut
    return explorer.cut


def run_kernel(
    machine: Machine,
    kernel: Value,
    arguments: Arguments,
    context: KernelContext,
    node: ast.AST,
    frame: Frame,
    origin: SpecOrigin | None = None,
    given: tuple[str, ...] = (),
) -> Outcome:
    """Run a kernel's body on its refs, once for each distinct kernel, refs and constants (a checkpoint), exploring its own conditions.

    ``origin``: the call that it is the kernel of, a site of ``inspect``; ``given``: what the arguments are, in words.
    """
    if is_no_function(kernel):
        where = place(machine, frame.module, node, context.call)
        refuse(machine, CallFault(where, "kernel-not-callable", kernel))
        return Outcome(refused=True)
    function, received = underlying(kernel, arguments)
    if isinstance(function, Function):
        scope = binding(machine, function, received, context.inside, given, context.call, arguments.kwargs)
        if scope is None:
            return Outcome(refused=True)
        name_refs(function, scope.names)
        if origin is not None:
            refs = (*scope.names.items(), *closed_over(function))
            where = place(machine, origin.module, origin.node, machine.kernel.call if machine.kernel is not None else None)
            machine.emit(KernelRun(where, function, context.grid, refs, given=kernel, inside=context.inside))
    elif function is kernel and not callable_value(function):
        machine.doubt(function.why if isinstance(function, Unknown) else "what the kernel is")
        return Outcome()
    if isinstance(function, Function):
        machine.kernels.add(function.module.place(function.node))
    around = (context.dead_code_kept, context.core, bool(machine.muted))
    mark = (signature(machine, function, received), machine.place_at(context.call), *around)
    if mark in machine.seen_kernels:
        known: Outcome = machine.seen_kernels[mark]
        share(machine, known.record)
        return known
    with machine.recording() as record:
        machine.seen_kernels[mark] = Outcome(record=record)
        outcome = replace(_run(machine, function, received, context, node, frame), record=record)
    machine.seen_kernels[mark] = outcome
    return outcome


def closed_over(function: Value) -> list[tuple[str, Ref]]:
    """The refs made on the host that a kernel's body names without receiving them."""
    if not isinstance(function, Function):
        return []
    named = ((name, function.frame.lookup(name)) for name in free_names(function.node))
    return [(name, value) for name, value in named if isinstance(value, Ref) and value.root.role == "outside"]


def share(machine: Machine, record: Record | None) -> None:
    """Let what happened when a body ran for an earlier call be a part of this one's record too."""
    if machine.record is not None and record is not None:
        machine.record.parts.append(record)
        record.met_under(machine.path.conditions())


def _run(machine: Machine, function: Value, received: Arguments, context: KernelContext, node: ast.AST, frame: Frame) -> Outcome:
    outermost = machine.kernel is None
    before, first = (machine.barriers, machine.blind, machine.axis_uses), len(machine.events)
    paths = [0, 0]  # begun, run to their end

    def once() -> None:
        start = len(machine.events)
        paths[0] += 1
        if not isinstance(function, Function):
            machine.call(function, received, node, frame)
            return
        try:
            result = run_body(machine, function, bind_arguments(machine, function, received))
        finally:
            if outermost and context.inside == "kernel":
                for read in list(note_uses(machine.events[start:])):
                    if machine.blind == before[1] and not read.where.conditions:
                        machine.emit(read)
        paths[1] += 1
        if outermost:
            _note_captures(machine, function, context, start)
        if isinstance(result, Unknown):
            machine.doubt(result.why)
        elif result is not None and context.inside != "pipeline":
            machine.emit(Returned(place(machine, function.module, function.node, context.call), function, result))

    cut = explored(machine, context, once)
    used, blind = machine.barriers > before[0], machine.blind > before[1]
    roots = [ref.root for ref in refs_in([*received.args, *received.kwargs.values()])]
    if isinstance(function, Function) and not blind and not cut and paths[0] == paths[1] and outermost and context.inside == "kernel":
        _note_unwritten(machine, function, received, context)
        body = machine.events[first:]
        unseen = unseen_meshes(body) if machine.axis_uses == before[2] else ()
        for event in (*copies_left(function, refs_in([*received.args, *received.kwargs.values()]), body), *unseen):
            machine.emit(event)
    barrier = True if used else None if blind or not isinstance(function, Function) else False
    return Outcome(barrier=barrier, roots=tuple(roots))


def _note_unwritten(machine: Machine, function: Function, received: Arguments, context: KernelContext) -> None:
    for ref in refs_in([*received.args, *received.kwargs.values()]):
        root = ref.root
        if root.role == "output" and root.space != "semaphore" and root.sure and not root.written and not root.aliased:
            machine.emit(NeverWritten(place(machine, function.module, function.node, context.call), function, root))


def _note_captures(machine: Machine, function: Function, context: KernelContext, start: int) -> None:
    for event in machine.events[start:]:
        if not isinstance(event, Access) or event.op == "load":
            continue
        for array, user in captured_arrays([event.value], context.started):
            if context.inside == "mesh" and not array.shape:
                continue  # a kernel of a mesh may close over scalars
            node = array.made_by if array.born == 0 else user.made_by if user is not None else event.value_node
            module = (module_of(machine, node) if node is not None and node is not event.value_node else None) or event.where.module
            where = place(machine, module, node if node is not None else event.where.node, context.call)
            machine.emit(Captured(where, context.inside, function, array, user))


def name_refs(function: Function, names: dict[str, Value]) -> None:
    """Give every ref the name of the parameter that receives it; one that comes with ``*refs`` may still get one of its own."""
    vararg = function.node.args.vararg.arg if function.node.args.vararg is not None else None
    for name, value in names.items():
        for expression, ref in named_refs(name, value):
            ref.root.name = expression
            if isinstance(value, tuple) and name == vararg and ref.root.own_name is None:
                ref.root.own_name = ""

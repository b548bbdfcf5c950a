"""``pl.pallas_call``: from its arguments and operands to refs, and from refs to the kernel's run.

The order of refs and their spaces mirror ``jax/_src/pallas/pallas_call.py`` and ``jax/_src/pallas/core.py`` (``GridMapping``, ``get_grid_mapping``).
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ...data.versions import parse_version
from ...shapes.avals import Aval, as_aval
from ...shapes.dims import Poly, Shape
from ...text.span import Location
from ..calls import BindingFault, bind_arguments, innermost, run_body
from ..events import CallFault, KernelRun
from ..frames import Frame
from ..liveness import mark_live
from ..machine import CALL, Arguments, KernelContext, Machine
from ..paths import KERNEL_PATHS, Explorer, PathEnd
from ..signature import signature
from ..truth import known_truth
from ..values import (
    ABSENT,
    Array,
    BlockSpec,
    Function,
    GridSpec,
    Library,
    Opaque,
    PallasCall,
    Ref,
    RefRoot,
    Scratch,
    ShapeDtype,
    SpecOrigin,
    Unknown,
    Value,
)
from .copies import scratch_ref
from .registry import PALLAS, Call, models
from .specs import SQUEEZED, WORDS, block_dims, space_of
from .trees import children, is_node, leaves, tree_map

_OTHER_CORES = ("triton", "mosaic_gpu", "plgpu", "pallas.gpu")
_PARAMETERS = ("kernel", "out_shape")


@models(f"{PALLAS}.pallas_call")
def _pallas_call(call: Call) -> Value:
    arguments = dict(zip(_PARAMETERS, call.args, strict=False)) | call.kwargs
    if not call.arguments.exact:
        hidden = Unknown("an argument among unknown keywords", host=True)
        for name in ("kernel", "out_shape", "grid_spec", "grid", "in_specs", "out_specs", "scratch_shapes"):
            arguments.setdefault(name, hidden)
    made = PallasCall(arguments, SpecOrigin(call.frame.module, call.node))  # type: ignore[arg-type]
    return made if "kernel" in arguments else Unknown("a pallas_call without a kernel", host=True)


@dataclass(slots=True)
class Windows:
    """What a ref is a window of: the array's shape and dtype, its role, why either is unknown, the space the array carries.

    ``unspecified``: the space that ``pl.no_block_spec`` as a list entry means in the stated JAX.
    """

    role: str
    shape: Shape
    dtype: str | None
    why: str = ""
    space: str | None = None
    unspecified: str | None = None


@dataclass(slots=True)
class Parts:
    """A kernel call taken apart: its grid, and the arguments its kernel receives by role."""

    grid: Value
    prefetch: list[Value]
    inputs: list[Value]
    outputs: list[Value]
    scratch: list[Value]
    named_scratch: dict[str, Value]

    def arguments(self) -> Arguments:
        """The kernel's arguments in JAX's order."""
        return Arguments([*self.prefetch, *self.inputs, *self.outputs, *self.scratch], self.named_scratch)


def _call_operands(machine: Machine, call: PallasCall, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """``pallas_call(...)(*operands)``: run the kernel on its refs and give the outputs."""
    out_shape = call.arguments.get("out_shape")
    result = tree_map(machine, _output, out_shape) if out_shape is not ABSENT else Unknown("no out_shape", host=True)
    if machine.kernel is None and _runs_on_tensor_core(call):
        operands = [machine.settle(arg) for arg in arguments.args] if arguments.exact else None
        parts = _parts(machine, call, operands, node, frame)
        if parts is not None:
            _run(machine, call, parts, node, frame)
    return result


def _output(leaf: Value) -> Value:
    if isinstance(leaf, ShapeDtype | Scratch | Array):
        return Array(Aval(leaf.shape, leaf.dtype, False))
    return Unknown(leaf.why if isinstance(leaf, Unknown) else "an output of unknown shape", host=True)


def _runs_on_tensor_core(call: PallasCall) -> bool:
    """False for GPU kernels and for interpret mode, of which no TPU rule speaks."""
    interpret = call.arguments.get("interpret", False)
    if known_truth(interpret) is True:
        return False
    if isinstance(interpret, Unknown) and interpret.declared is not ABSENT and known_truth(interpret.declared) is True:
        return False
    words = [call.arguments.get("backend"), call.arguments.get("compiler_params")]
    names = [word if isinstance(word, str) else getattr(word, "name", "") for word in words]
    return not any(other in name.lower() for name in names if isinstance(name, str) for other in _OTHER_CORES)


def _parts(machine: Machine, call: PallasCall, operands: list[Value] | None, node: ast.AST, frame: Frame) -> Parts | None:
    """The call taken apart; None where its structure is not known or JAX refuses it."""
    given = call.arguments
    spec = given.get("grid_spec")
    if isinstance(spec, Unknown) or operands is None:
        return None
    grid, in_specs, out_specs, scratch, count = (
        (spec.grid, spec.in_specs, spec.out_specs, spec.scratch, spec.prefetch)
        if isinstance(spec, GridSpec)
        else (given.get("grid", ()), given.get("in_specs", ABSENT), given.get("out_specs", ABSENT), given.get("scratch_shapes", ABSENT), 0)
    )
    if not isinstance(count, int) or isinstance(count, bool):
        return None
    inputs = _inputs(machine, call, in_specs, operands[count:])
    outputs = _outputs(machine, call, given.get("out_shape"), out_specs)
    scratches = _scratches(machine, call, scratch)
    if inputs is None or outputs is None or scratches is None:
        machine.emit(CallFault(machine.where(call.origin.node, frame), "structure", None))
        return None
    if any(_rank_differs(ref) for ref in leaves(machine, [inputs, outputs])):
        machine.emit(CallFault(machine.where(call.origin.node, frame), "block rank", None))
        return None
    prefetch = [tree_map(machine, lambda leaf: _prefetch_ref(leaf, call.origin), operand) for operand in operands[:count]]
    parts = Parts(grid, prefetch, inputs, outputs, *scratches)
    _run_index_maps(machine, call, parts, (in_specs, out_specs), node, frame)
    return parts


def _run_index_maps(machine: Machine, call: PallasCall, parts: Parts, specs: tuple[Value, ...], node: ast.AST, frame: Frame) -> None:
    """Run every index map on grid indices and the prefetch refs; what it returns is used."""
    rank = len(parts.grid) if isinstance(parts.grid, tuple | list) else 1 if isinstance(parts.grid, int | Poly) else None
    if rank is None:
        return
    location = Location(call.origin.module.path, call.origin.module.source.span_of(call.origin.node))
    for spec in (leaf for tree in specs if tree is not ABSENT for leaf in leaves(machine, tree)):
        if isinstance(spec, BlockSpec) and spec.index_map is not None:
            indices = [Array(Aval((), "int32", False)) for _ in range(rank)]
            prefetch = [tree_map(machine, _fresh, ref) for ref in parts.prefetch]
            run_kernel(
                machine,
                spec.index_map,
                Arguments([*indices, *prefetch]),
                KernelContext(location, grid=parts.grid),
                node,
                frame,
                returns=True,
            )


def _fresh(ref: Value) -> Value:
    """The same ref for another function, which has its own name for it."""
    return Ref(replace(ref.root), ref.shape, ref.dtype) if isinstance(ref, Ref) else ref


def _rank_differs(ref: Value) -> bool:
    """Whether a block has another number of dims than its array, which JAX refuses before the kernel runs."""
    root = ref.root if isinstance(ref, Ref) else None
    return root is not None and root.block is not None and root.array is not None and len(root.block) != len(root.array)


def is_absent(specs: Value) -> bool:
    return specs is ABSENT or (isinstance(specs, Library) and specs.name == f"{PALLAS}.no_block_spec")


def _inputs(machine: Machine, call: PallasCall, specs: Value, operands: list[Value]) -> list[Value] | None:
    if is_absent(specs):
        return [_windows(machine, operand, None, call.origin, _input_window) for operand in operands]
    if not isinstance(specs, tuple | list) or len(specs) != len(operands):
        return None
    pairs = zip(operands, (machine.settle(spec) for spec in specs), strict=True)
    return [_windows(machine, operand, spec, call.origin, _input_window) for operand, spec in pairs]


def _outputs(machine: Machine, call: PallasCall, out_shape: Value, specs: Value) -> list[Value] | None:
    shapes = machine.settle(out_shape)
    if isinstance(shapes, Unknown):
        return None
    several = isinstance(shapes, tuple | list) or (is_node(shapes) and not isinstance(shapes, dict) and shapes is not None)
    entries = children(shapes) if several else [] if shapes is None else [shapes]
    if is_absent(specs):
        return [_windows(machine, entry, None, call.origin, _output_window) for entry in entries]
    listed = children(specs) if several and is_node(specs) and not isinstance(specs, dict) else [specs]
    if len(listed) != len(entries) or (several and isinstance(specs, Unknown)):
        return None
    return [
        _windows(machine, entry, machine.settle(spec), call.origin, _output_window) for entry, spec in zip(entries, listed, strict=True)
    ]


def _scratches(machine: Machine, call: PallasCall, scratch: Value) -> tuple[list[Value], dict[str, Value]] | None:
    def ref(name: str) -> Callable[[Value], Value]:
        return lambda leaf: scratch_ref(leaf, name, call.origin)

    if scratch is ABSENT or scratch is None:
        return [], {}
    if isinstance(scratch, dict):
        return [], {name: tree_map(machine, ref(name), entry) for name, entry in scratch.items() if isinstance(name, str)}
    if isinstance(scratch, tuple | list):
        return [tree_map(machine, ref("scratch"), machine.settle(entry)) for entry in scratch], {}
    return None


def _windows(machine: Machine, operand: Value, spec: Value, origin: SpecOrigin, describe: Callable[[Value], Windows | None]) -> Value:
    """The ref, or the pytree of refs, of one operand or output."""
    operand = machine.settle(operand)
    if operand is None:
        return None
    if isinstance(operand, Unknown) and spec is None:
        # A spec that is None stands for an operand that is None on this path, or for none written at all.
        return unsure(block_ref(Windows(describe_role(describe), None, None, operand.why), None, origin))

    def leaf(item: Value, item_spec: Value = None) -> Value:
        window = describe(item)
        if window is not None:
            window.unspecified = _unspecified_space(machine)
        if window is None:
            return Unknown("an operand that is no array")
        ref = block_ref(window, item_spec, origin)
        return unsure(ref) if isinstance(item, Unknown) and isinstance(item_spec, Unknown) else ref

    if spec is None or not is_node(operand):
        return tree_map(machine, leaf, operand) if spec is None else leaf(operand, spec)
    return tree_map(machine, leaf, operand, spec) if is_node(spec) else Unknown("specs and operands of different structure")


def _unspecified_space(machine: Machine) -> str | None:
    version = parse_version(machine.jax_version) if machine.jax_version is not None else None
    if version is None:
        return None
    return "vmem" if version < (0, 11) else "any" if version >= (0, 12) else None


def unsure(ref: Value) -> Value:
    """The ref of an operand that may be a pytree: nothing but its use can tell."""
    if isinstance(ref, Ref):
        ref.root.sure = False
    return ref


def describe_role(describe: Callable[[Value], Windows | None]) -> str:
    """Which side of the call a description is for."""
    return "input" if describe is _input_window else "output"


def _input_window(value: Value) -> Windows | None:
    if isinstance(value, Array):
        return Windows("input", value.shape, value.dtype, "an operand of unknown rank", value.space)
    if isinstance(value, ShapeDtype):
        return Windows("input", value.shape, value.dtype, value.why)
    if isinstance(value, bool | int | float | Poly):
        aval = as_aval(value)
        return Windows("input", aval.shape, aval.dtype)
    return Windows("input", None, None, value.why) if isinstance(value, Unknown) else None


def _output_window(value: Value) -> Windows | None:
    if isinstance(value, ShapeDtype | Scratch | Array):
        return Windows("output", value.shape, value.dtype, getattr(value, "why", ""))
    return Windows("output", None, None, value.why) if isinstance(value, Unknown) else None


def _prefetch_ref(value: Value, origin: SpecOrigin) -> Value:
    window = _input_window(value)
    location = Location(origin.module.path, origin.module.source.span_of(origin.node))
    shape, dtype = (window.shape, window.dtype) if window is not None else (None, None)
    root = RefRoot(
        "prefetch", "prefetch", shape, shape, dtype, "smem", decided_at=location, decided_by="a scalar-prefetch operand is in SMEM",
        why=window.why if window else "", sure=not isinstance(value, Unknown),
    )  # fmt: skip
    return Ref(root, shape, dtype)


def block_ref(window: Windows, spec: Value, origin: SpecOrigin) -> Value:
    """The ref that a window of an array gives the kernel. ``origin``: the call, where no spec was written."""
    if isinstance(spec, Unknown):
        root = RefRoot(window.role, window.role, None, None, window.dtype, None, why=spec.why)
        return Ref(root, None, window.dtype)
    if spec is not None and not isinstance(spec, BlockSpec) and not is_absent(spec):
        return Unknown("something that is no BlockSpec")
    written = isinstance(spec, BlockSpec)
    place = spec.origin if isinstance(spec, BlockSpec) else origin
    block: tuple[Any, ...] | None = tuple(window.shape) if window.shape is not None else None
    why = window.why
    if isinstance(spec, BlockSpec) and spec.shape is not None:
        block = block_dims(spec.shape) if isinstance(spec.shape, tuple) else None
        why = spec.shape.why if isinstance(spec.shape, Unknown) else ""
    space = space_of(spec.space) if isinstance(spec, BlockSpec) else "default"
    defaulted = space == "default"
    if is_absent(spec) and spec is not ABSENT and spec is not None:
        space, defaulted = window.unspecified, False
    elif defaulted:
        space = "vmem"
    shape = tuple(dim for dim in block if dim != SQUEEZED) if block is not None else None
    words = f"{'BlockSpec' if written else 'no BlockSpec'}{' without a memory space' if written and defaulted else ''}: {WORDS.get(space or '', '?')}"
    location = Location(place.module.path, place.module.source.span_of(place.node))
    root = RefRoot(window.role, window.role, shape, block, window.dtype, space, defaulted, location, words, place, why, window.shape)
    return Ref(root, shape, window.dtype)


def _run(machine: Machine, call: PallasCall, parts: Parts, node: ast.AST, frame: Frame) -> None:
    origin = call.origin
    location = Location(origin.module.path, origin.module.source.span_of(origin.node))
    run_kernel(machine, call.arguments["kernel"], parts.arguments(), KernelContext(location, grid=parts.grid), origin.node, frame, call)


def run_kernel(
    machine: Machine,
    kernel: Value,
    arguments: Arguments,
    context: KernelContext,
    node: ast.AST,
    frame: Frame,
    call: PallasCall | None = None,
    returns: bool = False,
) -> None:
    """Run a kernel's body on its refs, once for each distinct kernel, refs and constants (a checkpoint), exploring its own conditions.

    ``call``: the pallas_call that it is the kernel of; ``returns``: it is an index map, whose result is used.
    """
    function, received = innermost(kernel, arguments)
    if isinstance(function, Function):
        try:
            scope = bind_arguments(machine, function, received)
        except BindingFault as fault:
            machine.emit(CallFault(machine.where(node, frame), "index map arity" if returns else "arity", str(fault)))
            return
        name_refs(scope.names)
        if call is not None:
            machine.emit(KernelRun(machine.where(call.origin.node, frame), function, context.grid, tuple(scope.names.items())))
        _note_parameters(machine, function, scope)
    elif function is kernel and not callable_value(function):
        return
    mark = (signature(machine, function, received), context.call, context.dead_code_kept, bool(machine.muted))
    if mark in machine.seen_kernels:
        return
    machine.seen_kernels[mark] = (kernel, arguments)
    _explore(machine, function, received, context, node, frame, returns)


def callable_value(value: Value) -> bool:
    """Whether calling the value runs something of the program's."""
    return type(value) in CALL and not isinstance(value, Library | Opaque)


def _explore(
    machine: Machine, function: Value, received: Arguments, context: KernelContext, node: ast.AST, frame: Frame, returns: bool
) -> None:
    saved, machine.kernel = (machine.path, machine.kernel), context
    explorer = Explorer(KERNEL_PATHS, machine.kernel_coverage)
    try:
        for path in explorer.paths(saved[0]):
            machine.path = path
            try:
                if isinstance(function, Function):
                    result = run_body(machine, function, bind_arguments(machine, function, received))
                else:
                    result = machine.call(function, received, node, frame)
                if returns:
                    mark_live(result)
            except PathEnd:
                continue
    finally:
        machine.path, machine.kernel = saved
        machine.cut["kernel paths"] = machine.cut.get("kernel paths", 0) + explorer.cut


def name_refs(names: dict[str, Value]) -> None:
    """Give every ref the name of the parameter that receives it."""
    for name, value in names.items():
        if isinstance(value, Ref):
            value.root.name = name
        elif isinstance(value, tuple):
            for index, part in enumerate(value):
                if isinstance(part, Ref):
                    part.root.name = f"{name}[{index}]"


def _note_parameters(machine: Machine, function: Function, scope: Frame) -> None:
    if machine.focus != function.module.path:
        return
    spec = function.node.args
    for parameter in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs, *filter(None, (spec.vararg, spec.kwarg))):
        if parameter.arg in scope.names:
            machine.note(parameter, scope.names[parameter.arg])


CALL[PallasCall] = _call_operands

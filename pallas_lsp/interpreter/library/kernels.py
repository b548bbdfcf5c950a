"""``pl.pallas_call``: from its arguments and operands to refs, and from refs to the kernel's run.

The order of refs and of checks mirrors ``jax/_src/pallas/pallas_call.py`` (``pallas_call``, ``_pallas_call``) and
``jax/_src/pallas/core.py`` (``GridSpec``, ``get_grid_mapping``).
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field

from ...text.span import Location
from ..call_events import Grid, Options, ScratchBuffer
from ..events import CallFault, Where
from ..frames import Frame
from ..machine import CALL, Arguments, KernelContext, Machine
from ..modules import ModuleFile
from ..surroundings import Batch
from ..truth import dtype_of, known_truth
from ..values import (
    ABSENT,
    Array,
    BlockSpec,
    Class,
    Dtype,
    Function,
    GridSpec,
    Instance,
    Iteration,
    Library,
    PallasCall,
    Ref,
    Scratch,
    ShapeDtype,
    SpecOrigin,
    Unknown,
    UnknownLength,
    Value,
)
from .aliases import mark_aliased, note_aliases
from .blocks import Judging, Placed, Placing, Side, has_other_structure
from .copies import scratch_ref
from .footprints import Kept, note_footprint
from .gpu import has_tpu_parts, is_for_gpu
from .grids import grid_of, is_absent, refuses_grid_spec, specs_of
from .heads import note_heads
from .records import is_interpreted, note_call, note_doubts
from .refusals import location_of, misses_arguments, nodes_of, place, refuse
from .registry import PALLAS, Call, models
from .running import Outcome, binding, run_kernel, underlying
from .structure import is_no_scratch, plain_leaves, top_of
from .trees import children, is_node, leaves, tree_map
from .uses import refs_in
from .windows import input_window, output_array, output_window, prefetch_ref

_PARAMETERS = ("kernel", "out_shape")
_NO_OUT_SHAPES = (int, float, str, bytes, Iteration, Function, Class, Dtype, BlockSpec, GridSpec)


@models(f"{PALLAS}.pallas_call")
def _pallas_call(call: Call) -> Value:
    arguments = dict(zip(_PARAMETERS, call.args, strict=False)) | call.kwargs
    origin, nodes = SpecOrigin(call.frame.module, call.node), nodes_of(call, *_PARAMETERS)  # type: ignore[arg-type]
    if not call.arguments.exact:
        hidden = Unknown("an argument among unknown keywords", host=True)
        for name in ("kernel", "out_shape", "grid_spec", "grid", "in_specs", "out_specs", "scratch_shapes"):
            arguments.setdefault(name, hidden)
    made = PallasCall(arguments, origin, nodes)
    with call.machine.recording():
        if not is_for_gpu(made) and (misses_arguments(call) or _refuses_specs(call, arguments, nodes)):
            note_call(call.machine, made, call.frame)
            return Unknown("a pallas_call that JAX refuses", host=True)
    return made if "kernel" in arguments else Unknown("a pallas_call without a kernel", host=True)


def _refuses_specs(call: Call, arguments: dict[str, Value], nodes: dict[str, ast.expr]) -> bool:
    spec = arguments.get("grid_spec")
    grid, in_specs, scratch = arguments.get("grid", ()), arguments.get("in_specs", ABSENT), arguments.get("scratch_shapes", ABSENT)
    if spec is None:
        return refuses_grid_spec(call, grid, in_specs, scratch, nodes, flat_scratch=True)
    given = {
        "grid": known_truth(grid) is True,
        "in_specs": not is_absent(in_specs) and not isinstance(in_specs, Unknown),
        "out_specs": not is_absent(arguments.get("out_specs", ABSENT)) and not isinstance(arguments["out_specs"], Unknown),
        "scratch_shapes": scratch is not ABSENT and known_truth(scratch) is True,
    }
    second = next((name for name, is_given in given.items() if is_given), None)
    is_none = isinstance(spec, tuple | list | dict | int | str | BlockSpec)
    if not is_none and (second is None or not isinstance(spec, GridSpec)):
        return False
    kind, argument = ("grid-spec-conflict", second) if second is not None else ("grid-spec-type", "grid_spec")
    node = nodes.get(argument or "", call.node)
    refuse(call.machine, CallFault(call.machine.where(node, call.frame), kind, second if second is not None else spec))
    return True


@dataclass(slots=True)
class Parts:
    """A kernel call taken apart: its grid, and the arguments its kernel receives by role; ``placed``: its windows in JAX's order."""

    grid_value: Value
    prefetch: list[Value]
    inputs: list[Value]
    outputs: list[Value]
    scratch: list[Value]
    named_scratch: dict[str, Value]
    placed: list[Placed] = field(default_factory=list)

    @property
    def grid(self) -> Grid:
        """The sizes of the grid."""
        return grid_of(self.grid_value)

    def arguments(self) -> Arguments:
        """The kernel's arguments in JAX's order."""
        return Arguments([*self.prefetch, *self.inputs, *self.outputs, *self.scratch], self.named_scratch)

    def words(self) -> tuple[str, ...]:
        """What each positional argument is."""
        roles = (("prefetch", self.prefetch), ("input", self.inputs), ("output", self.outputs), ("scratch", self.scratch))
        return tuple(role for role, refs in roles for _ in refs)


def _call_operands(machine: Machine, call: PallasCall, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """``pallas_call(...)(*operands)``: run the kernel on its refs and give the outputs."""
    out_shape = call.arguments.get("out_shape")
    result = tree_map(machine, output_array, tuple(out_shape) if isinstance(out_shape, list) else out_shape)
    if machine.kernel is not None:
        if machine.kernel.inside in ("kernel", "mesh"):
            refuse(machine, CallFault(machine.where(node, frame), "nested"))
        return result
    if is_for_gpu(call):
        if has_tpu_parts(machine, call):
            node = call.nodes.get("compiler_params", call.origin.node)
            refuse(machine, CallFault(place(machine, call.origin.module, node), "gpu-parameters"))
        return result
    with machine.recording():
        note_call(machine, call, frame)
        note_doubts(machine, call, arguments)
        if arguments.kwargs:
            name = next(iter(arguments.kwargs))
            refuse(machine, CallFault(machine.where(arguments.kwarg_nodes.get(name, node), frame), "operand-keyword", name))
            return result
        _note_surroundings(machine, call, arguments, node, frame)
        if arguments.exact:
            operands = [_operand(machine.settle(arg)) for arg in arguments.args]
            parts = _parts(machine, call, operands, arguments.arg_nodes, node, frame)
            if parts is not None:
                _note_operands(parts, arguments, frame)
                _run(machine, call, parts, operands, result, frame)
            else:
                machine.doubt("how the operands, outputs and specs of the call fit together")
        else:
            note_heads(machine, call, arguments)
    return result


def _operand(value: Value) -> Value:
    """An operand; of a ref of the program's own nobody knows what the kernel gets."""
    return Unknown("a ref as an operand", host=True) if isinstance(value, Ref) else value


def _note_operands(parts: Parts, arguments: Arguments, frame: Frame) -> None:
    """Tell the refs of operands which expressions gave them."""
    for operand, node in zip([*parts.prefetch, *parts.inputs], arguments.arg_nodes, strict=False):
        for ref in refs_in([operand]):
            ref.root.given_at = _location((frame.module, node))


def _note_surroundings(machine: Machine, call: PallasCall, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
    """Say what is around the call that JAX refuses it in."""
    around, where = machine.around, machine.where(node, frame)
    taker = next((w for arg in arguments.args for leaf in leaves(machine, arg) if (w := around.taker(leaf)) is not None), None)
    if taker is not None:
        refuse(machine, CallFault(taker, "gradient", where.location))
    if not around.sharded and not is_interpreted(call):
        around.calls.append(where)
    struct = next((leaf for leaf in plain_leaves(machine, call.arguments.get("out_shape")) if _varies_unsaid(leaf)), None)
    if around.varying is not None and struct is not None:
        refuse(machine, CallFault(_where(machine, call, "out_shape"), "varying", around.varying))


def _varies_unsaid(leaf: Value) -> bool:
    """Whether a leaf of ``out_shape`` is a ShapeDtypeStruct that does not say along which axes of a mesh it varies."""
    call = leaf.origin.node if isinstance(leaf, ShapeDtype) and leaf.origin is not None else None
    return isinstance(call, ast.Call) and not any(k.arg in (None, "vma", "manual_axis_type") for k in call.keywords)


def _parts(
    machine: Machine, call: PallasCall, operands: list[Value], operand_nodes: list[ast.expr], node: ast.AST, frame: Frame
) -> Parts | None:
    """The call taken apart; None where its structure is not known or JAX refuses it."""
    given, spec, parts = call.arguments, call.arguments.get("grid_spec"), specs_of(call)
    if parts is None:
        return None
    grid, in_specs, out_specs, scratch, count = parts
    if not isinstance(count, int) or isinstance(count, bool):
        return None
    if _refuses_out_shape(machine, call) or _refuses_scratch(machine, call, scratch):
        return None
    at = _Places(call, spec if isinstance(spec, GridSpec) else None)
    operands_at = Location(frame.module.path, frame.module.source.span_of(node))
    inputs = Side(
        "input", tuple(operands[count:]), top_of(in_specs), at("in_specs"), operands_at, input_window, count, operand_nodes[count:]
    )  # fmt: skip
    out_shape = machine.settle(given.get("out_shape"))
    outputs = Side("output", top_of(out_shape), top_of(out_specs), at("out_specs"), _location(at("out_shape")), output_window)
    return _assembled(machine, call, inputs, outputs, (grid, scratch), operands[:count], frame)


def _assembled(
    machine: Machine, call: PallasCall, inputs: Side, outputs: Side, others: tuple[Value, Value], prefetched: list[Value], frame: Frame
) -> Parts | None:
    grid, scratch = others
    prefetch = [tree_map(machine, lambda leaf: prefetch_ref(leaf, call.origin), operand) for operand in prefetched]
    spec = call.arguments.get("grid_spec")
    grid_at = _location(_Places(call, spec if isinstance(spec, GridSpec) else None)("grid"))
    batch = _batch(machine, prefetched, inputs.arrays)
    judging = Judging(machine, call, grid, grid_at, prefetch, frame, lowers=not is_interpreted(call), batch=batch)
    refs: list[list[Value]] = []
    placed: list[Placed] = []
    for side in (inputs, outputs):
        if has_other_structure(machine, call, side):
            return None
        entries = _refs(machine, call, side, frame)
        if entries is None or entries[1].refused:
            return None
        if judging.refuses(entries[1].placed):
            return None
        refs.append(entries[0])
        placed += entries[1].placed
    scratches = _scratches(machine, call, scratch)
    return Parts(grid, prefetch, refs[0], refs[1], *scratches, placed) if scratches is not None else None


def _batch(machine: Machine, prefetched: list[Value], operands: Value) -> Batch | None:
    """The one ``vmap`` around the call whose axis its operands surely have; prefetched operands that have it make JAX loop instead."""
    if len(machine.around.batches) != 1:
        return None
    batch = machine.around.batches[0]
    if any(not isinstance(leaf, Array) or batch.covers(leaf) for operand in prefetched for leaf in leaves(machine, operand)):
        return None
    return batch if any(batch.covers(leaf) for leaf in leaves(machine, operands)) else None


class _Places:
    """Where the arguments of a call, or of its grid spec, are written."""

    def __init__(self, call: PallasCall, spec: GridSpec | None) -> None:
        self.call, self.spec = call, spec

    def __call__(self, argument: str) -> tuple[ModuleFile, ast.AST]:
        if argument != "out_shape" and self.spec is not None and self.spec.origin is not None:
            return self.spec.origin.module, self.spec.nodes.get(argument, self.spec.origin.node)
        return self.call.origin.module, self.call.nodes.get(argument, self.call.origin.node)


def _location(at: tuple[ModuleFile, ast.AST]) -> Location:
    return Location(at[0].path, at[0].source.span_of(at[1]))


def _as_many_as_specs(arrays: Value, specs: Value) -> Value:
    """An unknown ``out_shape`` as what goes with its specs, which JAX wants to be of one structure; ABSENT where that is not known."""
    if not isinstance(arrays, Unknown) or isinstance(specs, BlockSpec):
        return arrays
    if not isinstance(specs, tuple) or not all(isinstance(spec, BlockSpec) for spec in specs):
        return ABSENT
    keys = [f"{arrays.key}[{index}]" if arrays.key is not None else None for index in range(len(specs))]
    return tuple(Unknown(arrays.why, key, host=arrays.host) for key in keys)


def _refs(machine: Machine, call: PallasCall, side: Side, frame: Frame) -> tuple[list[Value], Placing] | None:
    """The refs of one side, one an argument of the kernel; None where their number is not known."""
    placing = Placing(machine, call, side, frame)
    arrays = _as_many_as_specs(machine.settle(side.arrays), side.specs)
    if arrays is ABSENT:
        return None
    several = isinstance(arrays, tuple) or (isinstance(arrays, Instance) and arrays.cls.kind == "namedtuple")
    entries = children(arrays) if several else [] if arrays is None else [arrays]
    own = is_absent(side.specs) or (several and isinstance(side.specs, Unknown))
    if own:
        head = side.specs.head[: len(entries)] if isinstance(side.specs, UnknownLength) else []
        specs = [*head, *[side.specs] * (len(entries) - len(head))]
    else:
        specs = [side.specs] if not several else children(side.specs) if is_node(side.specs) else []
    if len(specs) != len(entries):
        return None
    name = "args" if side.role == "input" else "outputs"
    names = [f"{name}[{index + side.prefetched}]" if several else name for index in range(len(entries))]
    return [placing.tree(a, s, n) for a, s, n in zip(entries, specs, names, strict=True)], placing


def _refuses_out_shape(machine: Machine, call: PallasCall) -> bool:
    for leaf in plain_leaves(machine, call.arguments.get("out_shape")):
        if isinstance(leaf, _NO_OUT_SHAPES) or (isinstance(leaf, Library) and dtype_of(leaf) is not None):
            refuse(machine, CallFault(_where(machine, call, "out_shape"), "out-shape", leaf))
            return True
    return False


def _refuses_scratch(machine: Machine, call: PallasCall, scratch: Value) -> bool:
    spec = call.arguments.get("grid_spec")
    module, node = _Places(call, spec if isinstance(spec, GridSpec) else None)("scratch_shapes")
    if scratch is None or isinstance(scratch, Scratch):
        refuse(machine, CallFault(place(machine, module, node, location_of(call.origin)), "scratch-sequence", scratch))
        return True
    if isinstance(scratch, int | float | str | bytes) or (isinstance(scratch, Iteration) and spec is None):
        refuse(machine, CallFault(place(machine, module, node, location_of(call.origin)), "scratch-entry", scratch))
        return True
    for index, entry in enumerate(scratch.values() if isinstance(scratch, dict) else scratch if isinstance(scratch, tuple | list) else ()):
        wrong = next((leaf for leaf in plain_leaves(machine, entry) if is_no_scratch(leaf)), ABSENT)
        if wrong is not ABSENT:
            written = node.elts if isinstance(node, ast.Tuple | ast.List) and len(node.elts) == len(scratch) else []
            at = written[index] if written and not isinstance(written[index], ast.Starred) else node
            refuse(machine, CallFault(place(machine, module, at, location_of(call.origin)), "scratch-entry", wrong))
            return True
    return False


def _scratches(machine: Machine, call: PallasCall, scratch: Value) -> tuple[list[Value], dict[str, Value]] | None:
    def ref(name: str) -> Callable[[Value], Value]:
        return lambda leaf: scratch_ref(leaf, name, call.origin)

    if scratch is ABSENT:
        return [], {}
    if isinstance(scratch, dict):
        return [], {name: tree_map(machine, ref(name), entry) for name, entry in scratch.items() if isinstance(name, str)}
    if isinstance(scratch, tuple | list):
        return [tree_map(machine, ref("scratch"), machine.settle(entry)) for entry in scratch], {}
    return None


def _run(machine: Machine, call: PallasCall, parts: Parts, operands: list[Value], result: Value, frame: Frame) -> None:
    axes = machine.around.axes if not _names_axes(parts.grid_value) else None
    context = KernelContext(location_of(call.origin), grid=parts.grid_value, axes=axes)
    kernel, module = call.arguments["kernel"], call.origin.module
    if is_interpreted(call):
        passed = parts.arguments()
        function, received = underlying(kernel, passed)
        if isinstance(function, Function):
            binding(machine, function, received, "kernel", parts.words(), context.call, passed.kwargs)
        return
    mark_aliased(call, parts.placed)
    named = call.nodes.get("kernel", call.origin.node)
    outcome = run_kernel(machine, kernel, parts.arguments(), context, named, _frame_of(frame, module), call.origin, parts.words())
    if not outcome.refused:
        scratch = refs_in([*parts.scratch, *parts.named_scratch.values()])
        for ref in scratch:
            origin = ref.root.typed or call.origin
            machine.emit(ScratchBuffer(place(machine, origin.module, origin.node, location_of(call.origin)), ref.root))
        _note_footprint(machine, call, parts, outcome, result)
        note_aliases(machine, call, operands, _where(machine, call, "input_output_aliases"))
        _note_options(machine, call, parts, outcome)


def _names_axes(grid: Value) -> bool:
    """Whether the grid gives names to its axes, or may."""
    if isinstance(grid, tuple | list):
        return any(isinstance(size, tuple | Unknown) for size in grid)
    return not isinstance(grid, int)


def _note_footprint(machine: Machine, call: PallasCall, parts: Parts, outcome: Outcome, result: Value) -> None:
    passed = parts.arguments()
    arguments = [*passed.args, *passed.kwargs.values()]
    refs = refs_in(arguments)
    if len(outcome.roots) == len(refs):
        for ref, ran in zip(refs, outcome.roots, strict=True):
            ref.root.learn_from(ran)
    whole = all(isinstance(leaf, Ref) or leaf is None for argument in arguments for leaf in leaves(machine, argument))
    roots = tuple(ref.root for ref in refs)
    note_footprint(machine, call, _where(machine, call), Kept(roots, whole, parts.placed, parts.grid), leaves(machine, result))


def _frame_of(frame: Frame, module: ModuleFile) -> Frame:
    """A frame of the module in which the call is written."""
    return frame if frame.module is module else Frame("module", module, None)


def _where(machine: Machine, call: PallasCall, *arguments: str) -> Where:
    """The place of the first of these arguments that is given, or of the call."""
    node = next((call.nodes[name] for name in arguments if name in call.nodes), call.origin.node)
    return place(machine, call.origin.module, node, location_of(call.origin))


def _note_options(machine: Machine, call: PallasCall, parts: Parts, outcome: Outcome) -> None:
    parameters, cost = call.arguments.get("compiler_params"), call.arguments.get("cost_estimate")
    if parameters is not None or cost is not None or outcome.barrier:
        where = _where(machine, call, "compiler_params", "cost_estimate")
        machine.emit(Options(where, "pallas_call", parameters, cost, parts.grid, outcome.barrier))


CALL[PallasCall] = _call_operands

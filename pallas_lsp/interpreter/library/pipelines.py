"""``pltpu.emit_pipeline``, ``pl.kernel``, ``pl.core_map``: kernels inside kernels and kernels without specs."""

from __future__ import annotations

import ast
from dataclasses import replace

from ...text.span import Location
from ..call_events import RefPassed
from ..frames import Frame
from ..machine import Arguments, KernelContext, Machine
from ..values import ABSENT, Array, BlockSpec, Builtin, Opaque, Ref, RefRoot, Scratch, ShapeDtype, SpecOrigin, Unknown, Value
from .copies import scratch_ref
from .registry import PALLAS, TPU, Call, models
from .running import run_kernel
from .trees import tree_map
from .uses import refs_in
from .windows import Windowed, block_ref


@models(f"{TPU}.emit_pipeline")
def _emit_pipeline(call: Call) -> Value:
    body = call.get(0, "body")
    in_specs, out_specs = call.kwargs.get("in_specs", ()), call.kwargs.get("out_specs", ())
    grid = call.kwargs.get("grid", ())
    here = SpecOrigin(call.frame.module, call.node)  # type: ignore[arg-type]

    def pipeline(machine: Machine, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
        machine.effects += 1
        specs = [*_as_list(in_specs), *_as_list(out_specs)]
        operands = list(arguments.args)
        scratches = arguments.kwargs.get("scratches", ())
        if not arguments.exact or len(operands) != len(specs) or any(isinstance(s, Unknown) for s in (in_specs, out_specs)):
            return None
        for operand in refs_in(operands):
            machine.emit(RefPassed(machine.where(node, frame), operand))
        refs = [tree_map(machine, lambda spec, ref=ref: _window(ref, spec, here), spec) for spec, ref in zip(specs, operands, strict=True)]
        extra = list(scratches) if isinstance(scratches, tuple | list) else []
        run_kernel(machine, body, Arguments([*refs, *extra]), _context(machine, here, grid), node, frame)
        return None

    return Builtin("pipeline", pipeline)


def _as_list(specs: Value) -> list[Value]:
    return list(specs) if isinstance(specs, tuple | list) else [specs] if isinstance(specs, BlockSpec) else []


def _window(ref: Value, spec: Value, here: SpecOrigin) -> Value:
    """The VMEM window of an outer ref inside a pipeline's body."""
    if isinstance(ref, Ref):
        window = block_ref(Windowed("input", ref.shape, ref.dtype, "the pipeline's operand"), spec, here)
        if isinstance(window, Ref) and window.root.space not in ("vmem", "smem"):
            window.root.space = None  # no buffer can be there: JAX refuses the spec
        return window
    return Unknown("an operand of a pipeline that is not known") if ref is not None else None


def _context(machine: Machine, here: SpecOrigin, grid: Value) -> KernelContext:
    outer = machine.kernel
    location = outer.call if outer is not None else Location(here.module.path, here.module.source.span_of(here.node))
    return KernelContext(location, dead_code_kept=True, grid=grid, inside="pipeline")


@models(f"{TPU}.create_tensorcore_mesh")
def _tensorcore_mesh(call: Call) -> Value:
    return Opaque(call.name, tuple(call.args), call.kwargs)


@models(f"{PALLAS}.kernel")
def _kernel(call: Call) -> Value:
    """``pl.kernel(body, out_shape, mesh=...)`` and its decorator form; refs are in ANY unless an operand carries a space."""
    if not call.args:
        options = replace(call.arguments)
        return Builtin(
            "kernel", lambda machine, arguments, node, frame: _made(call, arguments.args[0] if arguments.args else None, options)
        )
    return _made(call, call.args[0], call.arguments)


def _made(call: Call, body: Value, options: Arguments) -> Value:
    here = SpecOrigin(call.frame.module, call.node)  # type: ignore[arg-type]
    position = 1 if options.args else 0
    out_shape = options.get(position, "out_shape", options.kwargs.get("out_type", ABSENT))
    scratch = options.kwargs.get("scratch_shapes", options.kwargs.get("scratch_types", ()))
    sparse = _is_sparse(options.kwargs.get("mesh"))

    def run(machine: Machine, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
        outputs = _outputs(out_shape)
        if sparse or outputs is None or not arguments.exact or not isinstance(scratch, tuple | list | dict):
            return Unknown("the result of a `pl.kernel`", host=True)
        refs = [tree_map(machine, lambda leaf: _plain_ref(leaf, "input", here), machine.settle(arg)) for arg in arguments.args]
        refs += [_plain_ref(out, "output", here) for out in outputs]
        extra = (
            [tree_map(machine, lambda leaf: scratch_ref(leaf, "scratch", here), s) for s in scratch]
            if not isinstance(scratch, dict)
            else []
        )
        named = {k: scratch_ref(v, k, here) for k, v in scratch.items()} if isinstance(scratch, dict) else {}
        location = Location(here.module.path, here.module.source.span_of(here.node))
        context = KernelContext(location, dead_code_kept=True, grid=None, inside="mesh")
        run_kernel(machine, body, Arguments([*refs, *extra], named), context, node, frame)
        return Unknown("the result of a `pl.kernel`", host=True)

    return Builtin("kernel", run)


def _is_sparse(mesh: Value) -> bool:
    """SparseCore kernels have rules of their own; an unknown mesh may be one."""
    name = getattr(mesh, "name", "")
    return not (isinstance(name, str) and name.endswith(("TensorCoreMesh", "create_tensorcore_mesh")))


def _outputs(out_shape: Value) -> list[Value] | None:
    if out_shape is ABSENT or out_shape is None:
        return []
    if isinstance(out_shape, ShapeDtype | Array | Scratch):
        return [out_shape]
    return list(out_shape) if isinstance(out_shape, tuple | list) else None


def _plain_ref(value: Value, role: str, here: SpecOrigin) -> Value:
    if value is None:
        return None
    shape, dtype = (value.shape, value.dtype) if isinstance(value, Array | ShapeDtype | Scratch) else (None, None)
    carried = value.space if isinstance(value, Array | Scratch) and value.space not in (None, "default") else "any"
    space = None if isinstance(value, Unknown) else carried  # an unknown operand may carry a memory space of its own
    location = Location(here.module.path, here.module.source.span_of(here.node))
    root = RefRoot(role, role, shape, shape, dtype, space, decided_at=location, decided_by="an operand of `pl.kernel`", decider=here)
    return Ref(root, shape, dtype)

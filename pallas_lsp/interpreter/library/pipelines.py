"""``pltpu.emit_pipeline``: a kernel inside a kernel."""

from __future__ import annotations

import ast

from ...text.span import Location
from ..call_events import RefPassed
from ..frames import Frame
from ..machine import Arguments, KernelContext, Machine
from ..values import BlockSpec, Builtin, Ref, SpecOrigin, Unknown, Value
from .registry import TPU, Call, models
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
        machine.effect()
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

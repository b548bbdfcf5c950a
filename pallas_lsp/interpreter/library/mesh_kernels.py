"""``pl.kernel``: a kernel that runs over a mesh of cores, without grid and specs.

Mirrors ``jax/_src/pallas/helpers.py`` (``kernel``) and ``jax/_src/pallas/core.py`` (``CoreMemorySpace``).
"""

from __future__ import annotations

import ast
from dataclasses import replace

from ..call_events import Options
from ..events import CallFault
from ..frames import Frame
from ..machine import Arguments, KernelContext, Machine
from ..truth import name_of_dtype
from ..values import (
    ABSENT,
    Array,
    Builtin,
    Function,
    Library,
    Opaque,
    Partial,
    RefRoot,
    Scratch,
    ShapeDtype,
    SpecOrigin,
    Unknown,
    Value,
)
from .copies import scratch_ref
from .refusals import location_of, misses_arguments, nodes_of, place, refuse
from .registry import PALLAS, TPU, Call, models
from .running import run_kernel
from .specs import SPACES
from .trees import tree_map

_TENSOR_CORE = ("TensorCoreMesh", "create_tensorcore_mesh")
_TENSOR_CORE_SPACES = ("vmem", "smem", "cmem", "semaphore")


@models(f"{TPU}.create_tensorcore_mesh", f"{TPU}.TensorCoreMesh")
def _tensorcore_mesh(call: Call) -> Value:
    return Opaque(call.name, tuple(call.args), call.kwargs)


@models(f"{PALLAS}.core_map")
def _core_map(call: Call) -> Value:
    misses_arguments(call)
    return call.unknown()


@models(f"{PALLAS}.kernel")
def _kernel(call: Call) -> Value:
    """``pl.kernel(body, out_shape, mesh=...)`` and its decorator form; refs are in ANY unless an operand carries a space."""
    body = call.get(0, "body", ABSENT)
    if misses_arguments(call) or _refuses_meshes(call, body):
        return Unknown("a pl.kernel that JAX refuses", host=True)
    options = replace(call.arguments)
    if body is ABSENT:
        return Builtin("kernel", lambda m, arguments, node, frame: _made(call, arguments.args[0] if arguments.args else None, options))
    return _made(call, body, options)


def _refuses_meshes(call: Call, body: Value) -> bool:
    """Whether bodies and meshes do not go together; says so then."""
    mesh = call.kwargs.get("mesh", ABSENT)
    several = isinstance(mesh, tuple | list)
    if body is ABSENT:
        kind = "decorator" if several else None
    elif isinstance(body, tuple | list):
        kind = "single mesh" if isinstance(mesh, Opaque) else "length" if several and len(body) != len(mesh) else None
    else:
        kind = "single body" if several and isinstance(body, Function | Partial) else None
    if kind is None:
        return False
    node = nodes_of(call, "body", "out_type").get("mesh", call.node)
    refuse(call.machine, CallFault(call.machine.where(node, call.frame), "meshes", kind))
    return True


def _made(call: Call, body: Value, options: Arguments) -> Value:
    here = SpecOrigin(call.frame.module, call.node)  # type: ignore[arg-type]
    position = 1 if options.args else 0
    out_shape = options.get(position, "out_shape", options.kwargs.get("out_type", ABSENT))
    scratch = options.kwargs.get("scratch_shapes", options.kwargs.get("scratch_types", ()))
    parameters = options.kwargs.get("compiler_params")

    def run(machine: Machine, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
        outputs = _outputs(out_shape)
        known = isinstance(scratch, tuple | list | dict) and outputs is not None and arguments.exact
        if not _is_tensor_core(options.kwargs.get("mesh")) or not known or outputs is None:
            return Unknown("the result of a `pl.kernel`", host=True)
        if isinstance(parameters, Opaque):
            where = place(machine, here.module, options.kwarg_nodes.get("compiler_params", here.node), location_of(here))
            machine.emit(Options(where, "kernel", parameters, None, None, None))
        inputs = [tree_map(machine, lambda leaf: _plain_ref(leaf, "input", here), machine.settle(arg)) for arg in arguments.args]
        refs = [*inputs, *(_plain_ref(out, "output", here) for out in outputs)]
        extra, named = _scratches(machine, scratch, here)
        given = (*("input" for _ in inputs), *("output" for _ in outputs), *("scratch" for _ in extra))
        context = KernelContext(location_of(here), dead_code_kept=True, grid=None, inside="mesh", cores=_cores(options.kwargs.get("mesh")))
        run_kernel(machine, body, Arguments([*refs, *extra], named), context, node, frame, given=given)
        return Unknown("the result of a `pl.kernel`", host=True)

    return Builtin("kernel", run)


def _scratches(machine: Machine, scratch: Value, here: SpecOrigin) -> tuple[list[Value], dict[str, Value]]:
    if isinstance(scratch, dict):
        return [], {name: scratch_ref(entry, name, here) for name, entry in scratch.items()}
    return [tree_map(machine, lambda leaf: scratch_ref(leaf, "scratch", here), entry) for entry in scratch], {}


def _is_tensor_core(mesh: Value) -> bool:
    """Whether the mesh is certainly one of TensorCores; SparseCore kernels have rules of their own."""
    return isinstance(mesh, Opaque) and mesh.name.endswith(_TENSOR_CORE)


def _cores(mesh: Value) -> dict[str, Value]:
    """The axis of a mesh of TensorCores with its size, where both are said."""
    if not isinstance(mesh, Opaque) or not mesh.name.endswith("create_tensorcore_mesh"):
        return {}
    name = mesh.args[0] if mesh.args else mesh.kwargs.get("axis_name")
    return {name: mesh.kwargs.get("num_cores")} if isinstance(name, str) else {}


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
    root = RefRoot(
        role, role, shape, shape, dtype, space, decided_at=location_of(here), decided_by="an operand of `pl.kernel`", decider=here,
        named=name_of_dtype(value),
    )  # fmt: skip
    return root.whole()


def at_mesh(machine: Machine, space: Library, mesh: Value, node: ast.AST, frame: Frame) -> Value:
    """``pltpu.VMEM @ mesh``: the memory of the mesh's cores."""
    name = SPACES.get(space.name)
    if _is_tensor_core(mesh) and name is not None and name not in _TENSOR_CORE_SPACES:
        refuse(machine, CallFault(machine.where(node, frame), "mesh-space", space.name.rpartition(".")[2]))
    return Unknown("a memory space of a mesh", host=True)

"""``pl.kernel`` and ``pl.core_map``: kernels that run over a mesh of cores, without grid and specs.

Mirrors ``jax/_src/pallas/helpers.py`` (``kernel``), ``jax/_src/pallas/mpmd.py`` (``_mpmd_map``) and ``jax/_src/pallas/core.py``
(``core_map``).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from ...data.versions import parse_version, satisfies
from ...text.span import Location
from ..call_events import MeshesTogether, MeshMade, Options
from ..cores import Core
from ..events import Access, CallFault
from ..frames import Frame
from ..machine import CALL, Arguments, KernelContext, Machine
from ..meshes import AXIS_NAMES, SPARSE_MESHES, TENSOR_MESHES, Mesh, MeshMemory, mesh_of
from ..truth import name_of_dtype
from ..values import (
    ABSENT,
    Array,
    Builtin,
    Function,
    Library,
    Opaque,
    Partial,
    Ref,
    RefRoot,
    Region,
    Scratch,
    ShapeDtype,
    SpecOrigin,
    Unknown,
    Value,
)
from .copies import scratch_ref
from .records import interprets, note_doubts_of, note_kernel
from .refusals import location_of, misses_arguments, nodes_of, place, refuse
from .registry import PALLAS, Call, models
from .running import closed_over, run_kernel, underlying
from .specs import SEMAPHORES, SPACES
from .trees import leaves, tree_map
from .uses import changed
from .windows import output_array


@models(*TENSOR_MESHES, *SPARSE_MESHES)
def _mesh(call: Call) -> Value:
    if misses_arguments(call) or (call.name in SPARSE_MESHES and _misses_names(call)):
        return Unknown("a mesh that JAX refuses", host=True)
    made = Opaque(call.name, tuple(call.args), call.kwargs)
    mesh = mesh_of(made)
    if call.arguments.exact and mesh is not None and mesh.axes is not None and not call.machine.guarded:
        call.machine.emit(MeshMade(call.machine.where(call.node, call.frame), mesh.kind, tuple(mesh.axes.values())))
    return made


def _misses_names(call: Call) -> bool:
    """Whether a mesh of subcores is given something by place, or not all of the names of its axes; says so then."""
    names = AXIS_NAMES[call.name]
    missing = tuple(name for name in names if name not in call.kwargs)
    if not call.arguments.exact or not (call.args or missing):
        return False
    refuse(call.machine, CallFault(call.machine.where(call.node, call.frame), "mesh-names", (len(call.args), missing)))
    return True


@dataclass(frozen=True, slots=True)
class MeshKernel:
    """``bodies`` with their ``meshes``; ``outputs``: as given, ABSENT for none; ``given``: the arguments of the call at ``origin`` by name;
    ``nodes``: their expressions; ``is_core_map``: it is a ``pl.core_map``."""

    bodies: tuple[Value, ...]
    meshes: tuple[Value, ...]
    outputs: Value
    scratch: Value
    given: dict[str, Value]
    origin: SpecOrigin
    nodes: dict[str, ast.expr]
    is_core_map: bool = False

    @property
    def parameters(self) -> Value:
        """The compiler parameters."""
        return self.given.get("compiler_params")


@models(f"{PALLAS}.core_map")
def _core_map(call: Call) -> Value:
    """``@pl.core_map(mesh)`` runs what it decorates at once, on the refs that this closes over and on scratch."""
    if misses_arguments(call) or not call.arguments.exact:
        return call.unknown()
    given = call.kwargs | ({"mesh": call.args[0]} if call.args else {})
    origin = SpecOrigin(call.frame.module, call.node)  # type: ignore[arg-type]

    def run(machine: Machine, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
        body, nodes = arguments.args[0] if arguments.args else None, nodes_of(call, "mesh")
        kernel = MeshKernel((body,), (given.get("mesh"),), ABSENT, given.get("scratch_shapes", ()), given, origin, nodes, True)
        _run(machine, kernel, Arguments([]), node, frame)
        return None

    return Builtin("core_map", run)


@models(f"{PALLAS}.kernel")
def _kernel(call: Call) -> Value:
    """``pl.kernel(body, out_type, mesh=...)`` and its decorator form; operands are where the mesh says, unless they carry a memory."""
    body = call.get(0, "body", ABSENT)
    if misses_arguments(call) or _refuses_meshes(call, body):
        return Unknown("a pl.kernel that JAX refuses", host=True)
    if not call.arguments.exact:
        return Unknown("the result of a `pl.kernel`", host=True)
    if body is not ABSENT:
        return _made(call, body)
    return Builtin("kernel", lambda machine, arguments, node, frame: _made(call, arguments.args[0] if arguments.args else None))


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


def _made(call: Call, body: Value) -> Value:
    given, nodes = call.kwargs, nodes_of(call, "body", "out_type")
    mesh = call.machine.settle(given.get("mesh"))
    several = isinstance(body, tuple | list) and isinstance(mesh, tuple | list) and len(body) == len(mesh)
    kernel = MeshKernel(
        tuple(body) if several else (body,), tuple(mesh) if several else (mesh,),
        call.get(1, "out_type", given.get("out_shape", ABSENT)), given.get("scratch_types", given.get("scratch_shapes", ())), given,
        SpecOrigin(call.frame.module, call.node), nodes,  # type: ignore[arg-type]
    )  # fmt: skip
    return Builtin("kernel", lambda machine, arguments, node, frame: _run(machine, kernel, arguments, node, frame))


def _run(machine: Machine, kernel: MeshKernel, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """Call the kernel: each body runs on its own cores, on refs of the operands, the outputs and the scratch."""
    result = tree_map(machine, output_array, tuple(kernel.outputs) if isinstance(kernel.outputs, list) else kernel.outputs)
    if kernel.outputs is ABSENT:
        result = ()
    meshes = [mesh for mesh in map(mesh_of, map(machine.settle, kernel.meshes)) if mesh is not None]
    if machine.kernel is not None or _is_for_gpu(kernel):
        return result
    with machine.recording():
        note_kernel(machine, kernel.origin, kernel.bodies[0], (), frame)
        known = {name: value for name, value in kernel.given.items() if name not in ("body", "out_type", "out_shape", "mesh")}
        note_doubts_of(machine, known | {"out_type": None if kernel.outputs is ABSENT else kernel.outputs}, arguments)
        outputs, is_listed = _outputs(kernel.outputs), isinstance(kernel.scratch, tuple | list | dict)
        if len(meshes) != len(kernel.meshes) or outputs is None or not arguments.exact or not is_listed:
            machine.doubt("what runs over which mesh")
            return result
        if not interprets(kernel.given.get("interpret", False)) and not _refuses(machine, kernel, meshes, arguments, node, frame):
            with _kept_if_it_writes(machine, kernel):
                for body, mesh in zip(kernel.bodies, meshes, strict=True):
                    _run_body(machine, kernel, body, mesh, outputs, arguments, node, frame)
    return result


@contextmanager
def _kept_if_it_writes(machine: Machine, kernel: MeshKernel) -> Iterator[None]:
    """Around the body of a ``core_map``: before JAX 0.11 one that writes to no ref of the program's is dropped after tracing."""
    newer = satisfies(parse_version(machine.jax_version or ""), "0.11", None)
    if not kernel.is_core_map or newer:
        yield
        return
    region, first = Region(machine.region), len(machine.events)
    with machine.inside(region):
        yield
    stores = (event for event in machine.events[first:] if not isinstance(event, Access) or event.op != "load")
    region.live = any(root.role == "outside" for event in stores for root in changed(event))


def _is_for_gpu(kernel: MeshKernel) -> bool:
    words = (getattr(value, "name", "") for value in (*kernel.meshes, kernel.parameters))
    return any(isinstance(name, str) and ("mosaic_gpu" in name or "triton" in name) for name in words)


def _refuses(machine: Machine, kernel: MeshKernel, meshes: list[Mesh], arguments: Arguments, node: ast.AST, frame: Frame) -> bool:
    """Whether JAX refuses the call before it traces a body; says so then. JAX's order of checks."""
    where = machine.where(node, frame)
    seen: set[int] = set()
    for ref in (leaf for argument in arguments.args for leaf in leaves(machine, argument) if isinstance(leaf, Ref)):
        if id(ref.root) in seen and not ref.transforms:
            refuse(machine, CallFault(where, "same-ref", ref))
            return True
        seen.add(id(ref.root))
    closed = [ref for body in kernel.bodies for _, ref in closed_over(underlying(body, Arguments([]))[0])]
    aliased = next((ref for ref in closed if id(ref.root) in seen), None)
    if aliased is not None:
        refuse(machine, CallFault(where, "closed-over-ref", aliased))
        return True
    if len(meshes) < 2 or (kernel.outputs is ABSENT and not arguments.args):
        return False
    at = place(machine, kernel.origin.module, kernel.nodes.get("mesh", kernel.origin.node), location_of(kernel.origin))
    entry = next((leaf for leaf in _plain_leaves(machine, kernel.scratch) if _names_no_core(leaf)), None)
    event = CallFault(at, "scratch-core", entry) if entry is not None else MeshesTogether(at, tuple(meshes))
    machine.emit(event)
    return entry is not None


def _plain_leaves(machine: Machine, tree: Value) -> list[Value]:
    return [leaf for part in (tree.values() if isinstance(tree, dict) else tree) for leaf in leaves(machine, part)]


def _names_no_core(leaf: Value) -> bool:
    """Whether a scratch entry of a kernel of several meshes certainly does not say whose memory it is."""
    if isinstance(leaf, Scratch):
        return leaf.mesh is None and leaf.space not in (None, "hbm", "vmem_shared")
    return isinstance(leaf, Library) and leaf.name in SEMAPHORES


def _run_body(
    machine: Machine, kernel: MeshKernel, body: Value, mesh: Mesh, outputs: list[Value], arguments: Arguments, node: ast.AST, frame: Frame
) -> None:
    here = kernel.origin
    if isinstance(kernel.parameters, Opaque):
        at = kernel.nodes.get("compiler_params", here.node)
        machine.emit(Options(place(machine, here.module, at, location_of(here)), "kernel", kernel.parameters, None, None, None))
    as_ref: Callable[[str], Callable[[Value], Value]] = lambda role: lambda leaf: _ref(leaf, role, mesh.space, here)  # noqa: E731
    inputs = [tree_map(machine, as_ref("input"), machine.settle(arg)) for arg in arguments.args]
    for ref, given_at in zip(inputs, arguments.arg_nodes, strict=False):
        if isinstance(ref, Ref):
            ref.root.given_at = Location(frame.module.path, frame.module.source.span_of(given_at))
    extra, named = _scratches(machine, kernel.scratch, here)
    refs = [*inputs, *(tree_map(machine, as_ref("output"), out) for out in outputs), *extra]
    words = (*("input" for _ in inputs), *("output" for _ in outputs), *("scratch" for _ in extra))
    core = Core(mesh.kind, _registers(kernel.parameters) if mesh.kind != "tensor" else False)
    context = KernelContext(
        location_of(here), dead_code_kept=True, grid=_grid(kernel, mesh), inside="mesh", in_mesh=True, cores=mesh.axes or {},
        axes=_axes(machine, mesh), core=core,
    )  # fmt: skip
    run_kernel(machine, body, Arguments(refs, named), context, node, frame, here, given=words)


def _grid(kernel: MeshKernel, mesh: Mesh) -> Value:
    """What stands for a grid: the mesh of a ``core_map``; before JAX 0.11 its body may ask how many programs there are."""
    return tuple(mesh.axes.values()) if kernel.is_core_map and mesh.axes is not None else None


def _axes(machine: Machine, mesh: Mesh) -> dict[str, Value] | None:
    """The names of axes that a body can use, of devices and of cores; None where not all are known."""
    around = machine.around.axes
    return around | mesh.axes if around is not None and mesh.axes is not None else None


def _registers(parameters: Value) -> bool | None:
    """Whether each load and store of a SparseCore is one register: it is where no layout passes are made."""
    if parameters is None:
        return False
    passes = parameters.kwargs.get("needs_layout_passes", True) if isinstance(parameters, Opaque) else None
    return not passes if isinstance(passes, bool) else None


def _scratches(machine: Machine, scratch: Value, here: SpecOrigin) -> tuple[list[Value], dict[str, Value]]:
    def refs(entry: Value, name: str = "scratch") -> Value:
        return tree_map(machine, lambda leaf: scratch_ref(leaf, name, here), entry)

    if isinstance(scratch, dict):
        return [], {name: refs(entry, name) for name, entry in scratch.items()}
    return [refs(entry) for entry in scratch], {}


def _outputs(out_type: Value) -> list[Value] | None:
    """The outputs, one a parameter of the body; None where their number is not known."""
    if out_type is ABSENT:
        return []
    if isinstance(out_type, ShapeDtype | Array | Scratch | dict) or out_type is None:
        return [out_type]
    return list(out_type) if isinstance(out_type, tuple | list) else None


def _ref(value: Value, role: str, space: str | None, here: SpecOrigin) -> Value:
    """The ref of an operand or output; one of the program's own refs stays in its memory."""
    if value is None:
        return None
    known = isinstance(value, Array | ShapeDtype | Scratch | Ref)
    shape, dtype = (value.shape, value.dtype) if known else (None, None)
    carried = value.space if isinstance(value, Array | Scratch) else None
    if isinstance(value, Ref):
        carried = None if value.root.space == "any" else value.root.space
    elif isinstance(value, Unknown):
        space = None  # it may carry a memory space of its own
    space = space if carried in (None, "default") else carried
    root = RefRoot(
        role, role, shape, shape, dtype, space, decided_at=location_of(here), decided_by="an operand of `pl.kernel`", decider=here,
        why=value.why if isinstance(value, Unknown) else "", sure=not isinstance(value, Unknown), named=name_of_dtype(value),
        typed=value.origin if isinstance(value, ShapeDtype | Scratch) else None,
    )  # fmt: skip
    return root.whole()


def at_mesh(machine: Machine, space: Library, mesh: Value, node: ast.AST, frame: Frame) -> Value:
    """``pltpu.VMEM @ mesh``: the memory of the mesh's cores."""
    name = "semaphore" if space.name in SEMAPHORES else SPACES.get(space.name)
    known = mesh_of(mesh)
    if known is None or name is None:
        return Unknown("a memory space of a mesh", host=True)
    if name not in known.memories:
        refuse(machine, CallFault(machine.where(node, frame), "mesh-space", (space.name.rpartition(".")[2], known)))
        return Unknown("a memory space that its mesh does not have", host=True)
    return MeshMemory(space, known.made)


def _call_memory(machine: Machine, memory: MeshMemory, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    made = machine.call(memory.space, arguments, node, frame)
    return replace(made, mesh=memory.mesh) if isinstance(made, Scratch) else made


CALL[MeshMemory] = _call_memory

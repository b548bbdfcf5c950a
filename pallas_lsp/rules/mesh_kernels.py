"""``pl.kernel`` and its meshes.

Mirrors ``jax/_src/pallas/helpers.py`` (``kernel``), ``jax/_src/pallas/mpmd.py`` (``_mpmd_map``), ``jax/_src/pallas/core.py``
(``CoreMemorySpace``) and ``jax/_src/pallas/mosaic/sc_core.py`` (``VectorSubcoreMesh``, ``ScalarSubcoreMesh``).
"""

from __future__ import annotations

from ..data import chips
from ..interpreter.call_events import MeshesTogether, MeshMade
from ..interpreter.events import CallFault
from ..interpreter.meshes import MESH_WORDS, Mesh
from . import words
from .registry import Context, Finding, rule

_MESHES = {
    "decorator": ("several meshes", "as a decorator it runs one body over one mesh", "mesh cannot be a sequence when using pl.kernel as a decorator."),
    "single body": ("several meshes", "for one body: it is one mesh", "mesh cannot be a sequence when body is a single callable."),
    "single mesh": ("one mesh", "for several bodies: each has its own", "mesh must be a sequence when body is a sequence of callables."),
    "length": ("another number of meshes", "than bodies: each has its own", "body and mesh sequences must have the same length."),
}


@rule("plkernel-mesh-sequence", on=CallFault, order=90, stage="trace")
def plkernel_mesh_sequence(event: CallFault, context: Context) -> Finding | None:
    """``pl.kernel`` is given meshes that do not go with its bodies."""
    if event.kind != "meshes":
        return None
    given, instead, message = _MESHES[event.detail]
    return Finding(event.where.location, f"`pl.kernel` is given {given} {instead}", jax_message=message)


@rule("mesh-memory-space", on=CallFault, order=91, stage="trace")
def mesh_memory_space(event: CallFault, context: Context) -> Finding | None:
    """A memory space is asked of a mesh whose cores do not have it."""
    if event.kind != "mesh-space":
        return None
    space, mesh = event.detail
    owned = ", ".join(words.SPACES[memory] for memory in mesh.memories if memory != "semaphore")
    return Finding(
        event.where.location,
        f"`{space}` of {MESH_WORDS[mesh.kind]}: its cores have {owned} and semaphores of their own",
        jax_message=f"Memory space {space.lower()} is not supported by mesh {mesh.made.name.rpartition('.')[2]}(...)",
    )


@rule("sc-mesh-keywords", on=CallFault, order=92, stage="trace")
def sc_mesh_keywords(event: CallFault, context: Context) -> Finding | None:
    """A mesh of subcores is given its arguments by place, or is not told the names of its axes."""
    if event.kind != "mesh-names":
        return None
    given, missing = event.detail
    name = "VectorSubcoreMesh" if "core_axis_name" in missing or "subcore_axis_name" in missing else "ScalarSubcoreMesh"
    if given:
        what, jax = "takes its arguments by name only", f"__init__() takes 1 positional argument but {given + 1} were given"
    else:
        what = f"is made without {' and '.join(f'`{one}`' for one in missing)}"
        jax = f"__init__() missing {len(missing)} required keyword-only argument{'s' * (len(missing) > 1)}: {' and '.join(map(repr, missing))}"
    return Finding(event.where.location, f"a mesh of subcores {what}: the names of its axes", jax_message=f"{name}.{jax}")


@rule("sc-mesh-size", on=MeshMade, order=10, stage="trace")
def sc_mesh_size(event: MeshMade, context: Context) -> Finding | None:
    """A mesh has more SparseCores or subcores than the chip."""
    if event.kind == "tensor":
        return None
    own = context.target if chips.at_most(context.target, "sparse_cores") else None
    for size, what, noun in zip(event.sizes, ("sparse_cores", "subcores"), ("SparseCores", "vector subcores"), strict=False):
        most = chips.at_most(own, what)
        if isinstance(size, int) and size > most:
            which = f"a {own} has {most}" if own else f"no known chip has more than {most}"
            jax = f"Mesh has {size} {'cores' if what == 'sparse_cores' else what}, but the current TPU chip has only {most} ..."
            return Finding(event.where.location, f"a mesh of {size} {noun}, but {which}", jax_message=jax)
    return None


@rule("mesh-ref-aliased", on=CallFault, order=93, stage="trace")
def mesh_ref_aliased(event: CallFault, context: Context) -> Finding | None:
    """One ref is given to a kernel twice."""
    if event.kind not in ("same-ref", "closed-over-ref"):
        return None
    closed = event.kind == "closed-over-ref"
    what = "is passed to this kernel, which closes over it too" if closed else "is passed to this kernel twice"
    jax = "Closed-over ref aliases with a passed-in ref is not supported." if closed else "Cannot pass the same ref into a mpmd map multiple times"
    return Finding(event.where.location, f"a ref {what}: the kernel gets one ref for each memory", words.shaped(event.detail), jax)


@rule("mpmd-scratch-core-type", on=CallFault, order=94, stage="trace")
def mpmd_scratch_core_type(event: CallFault, context: Context) -> Finding | None:
    """A scratch entry of a kernel of several meshes does not say whose memory it is."""
    if event.kind != "scratch-core":
        return None
    return Finding(
        event.where.location,
        "this kernel runs over several meshes, and a scratch entry does not say whose memory it is: `(pltpu.VMEM @ mesh)(...)` does",
        jax_message="MPMD map with more than one mesh requires scratch_type to have a `core_type` specified, but scratch_type=... is missing it.",
    )


@rule("mpmd-incompatible-meshes", on=MeshesTogether, order=10, stage="trace")
def mpmd_incompatible_meshes(event: MeshesTogether, context: Context) -> Finding | None:
    """Two meshes of one kernel do not go together."""
    pairs = ((one, other) for index, one in enumerate(event.meshes) for other in event.meshes[index + 1 :])
    what, jax = next(filter(None, (_clash(one, other) for one, other in pairs)), ("", ""))
    return Finding(event.where.location, what, jax_message=jax) if what else None


def _clash(one: Mesh, other: Mesh) -> tuple[str, str] | None:
    """Why two meshes do not go together, in our words and JAX's; None where they do, or nobody knows."""
    if one.kind == "tensor":
        if one.made is other.made or other.kind == "tensor":
            return None  # which of them are equal depends on the chip
        return "a TensorCore mesh comes first, and no mesh of subcores goes with it", "Mesh self=TensorCoreMesh(...) is not compatible with ..."
    if other.kind == "tensor":
        return "a SparseCore and a TensorCore mesh do not go together", "Multiple meshes with different default memory spaces are not supported."
    name = one.made.name.rpartition(".")[2]
    if one.kind == other.kind:
        return f"two meshes are a {name}: there is one for the vector and one for the scalar subcores", f"You can't use two different {name}es."
    if one.axes is None or other.axes is None:
        return None
    cores = [next(iter(mesh.axes.items())) for mesh in (one, other) if mesh.axes]
    same_size = all(isinstance(size, int) for _, size in cores) and cores[0][1] != cores[1][1]
    if cores[0][0] == cores[1][0] and not same_size:
        return None
    jax = f"{name}(...) should have the same core axis name and number of cores as the ..."
    return "the meshes of vector and scalar subcores have the same core axis, by name and size", jax

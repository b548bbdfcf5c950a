"""``pl.kernel`` and its meshes.

Mirrors ``jax/_src/pallas/helpers.py`` (``kernel``) and ``jax/_src/pallas/core.py`` (``CoreMemorySpace``).
"""

from __future__ import annotations

from ..interpreter.events import CallFault
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
    return Finding(
        event.where.location,
        f"`{event.detail}` of a TensorCore mesh: its cores have VMEM, SMEM, CMEM and semaphores of their own",
        jax_message=f"Memory space {event.detail.lower()} is not supported by mesh TensorCoreMesh(...)",
    )

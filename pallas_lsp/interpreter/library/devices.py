"""Meshes and shardings: whether a ``jit`` runs on several devices, which kernels do only inside a ``shard_map``.

Mirrors ``jax/_src/tpu_custom_call.py``, ``_tpu_custom_call_lowering``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import prod

from ...text.span import Location
from ..events import CallFault
from ..machine import Machine
from ..values import Array, Opaque, ShapeDtype, SpecOrigin, Unknown, Value
from .refusals import location_of
from .registry import Call, models
from .trees import leaves

_MESHES = ("jax.make_mesh", "jax.sharding.AbstractMesh")


@models("jax.default_backend")
def _backend(call: Call) -> Value:
    """The kernels are for a TPU, so that a program which asks gets this answer first."""
    return Unknown("the backend", "jax.default_backend()", host=True, declared="tpu")


@models("jax.devices", "jax.local_devices")
def _devices(call: Call) -> Value:
    return call.unknown() if call.args or call.kwargs else Unknown("the devices", f"{call.name}()", host=True)


@models(*_MESHES, "jax.NamedSharding")
def _mesh(call: Call) -> Value:
    return Opaque(call.name, tuple(call.args), call.kwargs, SpecOrigin(call.frame.module, call.node))  # type: ignore[arg-type]


@models("jax.lax.with_sharding_constraint")
def _constrained(call: Call) -> Value:
    value, sharding = call.get(0, "x"), call.get(1, "shardings")
    if is_over_several(sharding) and not call.machine.around.sharded:
        call.machine.around.devices = call.machine.where(call.node, call.frame).location
    if isinstance(value, Array):
        return Array(value.aval, (value,), value.traced, made_by=call.node)
    return call.unknown()


def mesh_axes(mesh: Value) -> dict[str, Value] | None:
    """The axes of a mesh of devices with their sizes, None where they are not known."""
    if not isinstance(mesh, Opaque) or mesh.name not in _MESHES:
        return None
    sizes = mesh.args[0] if mesh.args else mesh.kwargs.get("axis_shapes", mesh.kwargs.get("axis_sizes"))
    names = mesh.args[1] if len(mesh.args) > 1 else mesh.kwargs.get("axis_names")
    known = isinstance(sizes, tuple | list) and isinstance(names, tuple | list) and len(sizes) == len(names)
    if not known or not all(isinstance(name, str) for name in names):  # type: ignore[union-attr]
        return None
    return dict(zip(names, sizes, strict=True))  # type: ignore[arg-type]


def is_over_several(sharding: Value) -> bool:
    """Whether a sharding is certainly over more than one device."""
    if isinstance(sharding, tuple | list):
        return any(map(is_over_several, sharding))
    if not isinstance(sharding, Opaque) or not sharding.name.endswith(".NamedSharding") or not sharding.args:
        return False
    mesh = sharding.args[0]
    sizes = mesh.args[0] if isinstance(mesh, Opaque) and mesh.name in _MESHES and mesh.args else None
    return isinstance(sizes, tuple | list) and all(isinstance(size, int) for size in sizes) and prod(sizes) > 1


@contextmanager
def over_devices(machine: Machine, options: dict[str, Value], operands: list[Value]) -> Iterator[None]:
    """Around what the outermost ``jit`` of the program calls: its kernel calls are judged once it is known what it runs on."""
    if machine.in_jit != 1:
        yield
        return
    around = machine.around
    around.devices, around.calls = _enters(machine, options, operands), []
    yield
    for where in around.calls if around.devices is not None else ():
        machine.emit(CallFault(where, "partition", around.devices))
    around.devices, around.calls = None, []


def _enters(machine: Machine, options: dict[str, Value], operands: list[Value]) -> Location | None:
    for sharding in (options.get("in_shardings"), options.get("out_shardings")):
        found = sharding[0] if isinstance(sharding, tuple | list) and sharding else sharding
        if is_over_several(sharding) and isinstance(found, Opaque) and found.origin is not None:
            return location_of(found.origin)
    for leaf in (leaf for operand in operands for leaf in leaves(machine, operand)):
        if isinstance(leaf, ShapeDtype) and is_over_several(leaf.sharding) and leaf.origin is not None:
            return location_of(leaf.origin)
    return None

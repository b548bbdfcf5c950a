"""Meshes of cores: which kind of core a kernel runs on, the names and sizes of its axes, the memories that its cores have.

Mirrors ``TensorCoreMesh`` of ``jax/_src/pallas/mosaic/core.py`` and ``ScalarSubcoreMesh`` and ``VectorSubcoreMesh`` of
``jax/_src/pallas/mosaic/sc_core.py``.
"""

from __future__ import annotations

from dataclasses import dataclass

from .values import Library, Opaque, Value

_TPU, _SPARSE = "jax.experimental.pallas.tpu", "jax.experimental.pallas.tpu_sc"
TENSOR_MESHES = (f"{_TPU}.create_tensorcore_mesh", f"{_TPU}.TensorCoreMesh")
SPARSE_MESHES = (f"{_SPARSE}.VectorSubcoreMesh", f"{_SPARSE}.ScalarSubcoreMesh")
AXIS_NAMES = dict(zip(SPARSE_MESHES, (("core_axis_name", "subcore_axis_name"), ("axis_name",)), strict=True))
"""The arguments of a mesh of subcores that name its axes; it takes them by name only."""
_KINDS = dict.fromkeys(TENSOR_MESHES, "tensor") | dict(zip(SPARSE_MESHES, ("vector", "scalar"), strict=True))
_MEMORIES = {
    "tensor": ("vmem", "smem", "cmem", "semaphore"),
    "vector": ("vmem", "vmem_shared", "smem", "semaphore"),
    "scalar": ("vmem_shared", "smem", "semaphore"),
}
MESH_WORDS = {"tensor": "a TensorCore mesh", "vector": "a mesh of vector subcores", "scalar": "a mesh of scalar subcores"}


@dataclass(frozen=True, slots=True)
class Mesh:
    """``made``: the object, by which two meshes are told apart; ``axes``: the names of its axes with their sizes (None: the chip's), in
    order; None where the names are not known."""

    made: Opaque
    kind: str
    axes: dict[str, Value] | None

    @property
    def space(self) -> str:
        """Where the operands and outputs of its kernels are."""
        return "any" if self.kind == "tensor" else "hbm"

    @property
    def memories(self) -> tuple[str, ...]:
        """The memory spaces that each of its cores has for itself."""
        return _MEMORIES[self.kind]


@dataclass(frozen=True, slots=True, eq=False)
class MeshMemory:
    """``pltpu.VMEM @ mesh``: the memory of the mesh's cores, which makes scratch entries as ``pltpu.VMEM`` does."""

    space: Library
    mesh: Opaque


def mesh_of(value: Value) -> Mesh | None:
    """The mesh of cores that a value certainly is."""
    if not isinstance(value, Opaque) or value.name not in _KINDS:
        return None
    kind = _KINDS[value.name]
    if kind == "tensor":
        return Mesh(value, kind, _tensor_axes(value))
    sizes = (value.kwargs.get("num_cores"), value.kwargs.get("num_subcores"))
    return Mesh(value, kind, _axes([value.kwargs.get(name) for name in AXIS_NAMES[value.name]], sizes))


def _tensor_axes(value: Opaque) -> dict[str, Value] | None:
    """The one axis of a mesh of TensorCores; the class took an array of devices and several names before JAX 0.11."""
    name = value.args[0] if value.args else value.kwargs.get("axis_name")
    return _axes([name], (value.kwargs.get("num_cores"),))


def _axes(names: list[Value], sizes: tuple[Value, ...]) -> dict[str, Value] | None:
    if not all(isinstance(name, str) for name in names):
        return None
    return {name: size for name, size in zip(names, sizes, strict=False) if isinstance(name, str)}

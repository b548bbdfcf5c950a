"""BlockSpec, GridSpec, scratch entries, memory spaces, ShapeDtypeStruct, slices: what describes a kernel call."""

from __future__ import annotations

import ast

from ...shapes.dims import Shape
from ..truth import as_dim, dtype_of
from ..values import (
    ABSENT,
    Array,
    BlockSpec,
    DynamicSlice,
    GridSpec,
    Library,
    Opaque,
    Ref,
    Scratch,
    ShapeDtype,
    SpecOrigin,
    Unknown,
    Value,
)
from .registry import PALLAS, TPU, Call, models

SPACES = {
    f"{TPU}.VMEM": "vmem",
    f"{TPU}.SMEM": "smem",
    f"{TPU}.HBM": "hbm",
    f"{TPU}.CMEM": "cmem",
    f"{TPU}.SEMAPHORE": "semaphore",
    f"{TPU}.VMEM_SHARED": "vmem_shared",
    f"{PALLAS}.ANY": "any",
    f"{PALLAS}.HOST": "host",
    f"{TPU}.HOST": "host",
    f"{PALLAS}.DEFAULT": "default",
    f"{PALLAS}.MemorySpace.DEFAULT": "default",
}
SEMAPHORES = {
    f"{TPU}.SemaphoreType.DMA": "dma_sem",
    f"{TPU}.SemaphoreType.REGULAR": "semaphore",
    f"{TPU}.SemaphoreType.BARRIER": "barrier_semaphore",
}
WORDS = {
    "vmem": "VMEM",
    "smem": "SMEM",
    "hbm": "HBM",
    "any": "ANY",
    "semaphore": "semaphore memory",
    "host": "HOST",
    "cmem": "CMEM",
    "vmem_shared": "VMEM_SHARED",
}


def space_of(value: Value) -> str | None:
    """The memory space that a value names, ``default`` for none, None when it names none that is known."""
    if value is None or value is ABSENT:
        return "default"
    return SPACES.get(value.name) if isinstance(value, Library) else None


def shape_of(value: Value) -> Shape:
    """A shape argument as dims; None where its length is not known."""
    if isinstance(value, tuple | list):
        return tuple(as_dim(entry) for entry in value)
    return None


def origin(call: Call) -> SpecOrigin:
    """The place of the call that makes a spec."""
    return SpecOrigin(call.frame.module, call.node)  # type: ignore[arg-type]


@models(f"{PALLAS}.BlockSpec")
def _block_spec(call: Call) -> Value:
    shape = call.get(0, "block_shape")
    if isinstance(shape, list):
        shape = tuple(shape)
    if not isinstance(shape, tuple) and shape is not None:
        shape = shape if isinstance(shape, Unknown) else Unknown("the block shape is not a tuple", host=True)
    space = call.kwargs.get("memory_space")
    if not call.arguments.exact and "memory_space" not in call.kwargs:
        space = Unknown("the memory space is among unknown keywords", host=True)
    return BlockSpec(shape, call.get(1, "index_map"), space, origin(call), call.get(2, "pipeline_mode"))


@models(f"{PALLAS}.GridSpec")
def _grid_spec(call: Call) -> Value:
    missing = _missing(call)
    return GridSpec(
        call.get(0, "grid", missing if missing is not ABSENT else ()),
        call.get(1, "in_specs", missing),
        call.get(2, "out_specs", missing),
        call.get(3, "scratch_shapes", missing),
    )


@models(f"{TPU}.PrefetchScalarGridSpec")
def _prefetch_grid_spec(call: Call) -> Value:
    missing = _missing(call)
    return GridSpec(
        call.get(1, "grid", missing if missing is not ABSENT else ()),
        call.get(2, "in_specs", missing),
        call.get(3, "out_specs", missing),
        call.get(4, "scratch_shapes", missing),
        call.get(0, "num_scalar_prefetch", missing),
    )


def _missing(call: Call) -> Value:
    """What an argument that is not written stands for: absent, or unknown when ``**kwargs`` may hold it."""
    return ABSENT if call.arguments.exact else Unknown("an argument among unknown keywords", host=True)


@models("jax.ShapeDtypeStruct", "jax.core.ShapedArray")
def _shape_dtype_struct(call: Call) -> Value:
    shape, dtype = call.get(0, "shape"), call.get(1, "dtype")
    why = shape.why if isinstance(shape, Unknown) else ""
    return ShapeDtype(shape_of(shape), dtype_of(dtype), why=why)


@models("jax.ShapeDtypeStruct.like", f"{PALLAS}.empty_like")
def _shape_dtype_like(call: Call) -> Value:
    like = call.get(0, "x")
    return ShapeDtype(like.shape, like.dtype) if isinstance(like, Array | ShapeDtype | Ref) else call.unknown()


@models(*(name for name in SPACES if not name.endswith("DEFAULT")))
def _memory(call: Call) -> Value:
    """``pltpu.VMEM(shape, dtype)``: a piece of memory, as scratch or as an output."""
    dtype = dtype_of(call.get(1, "dtype"))
    return Scratch(SPACES[call.name], shape_of(call.get(0, "shape")), dtype, origin(call), _text(call.node))


@models(*SEMAPHORES)
def _semaphores(call: Call) -> Value:
    return Scratch("semaphore", shape_of(call.get(0, "shape")), SEMAPHORES[call.name], origin(call), _text(call.node))


def scratch_of(entry: Value, fallback: SpecOrigin) -> Scratch | None:
    """A scratch entry; a bare semaphore type is one semaphore."""
    if isinstance(entry, Scratch):
        return entry
    if isinstance(entry, Library) and entry.name in SEMAPHORES:
        return Scratch("semaphore", (), SEMAPHORES[entry.name], fallback, entry.name.rpartition(".")[2])
    return None


def _text(node: ast.AST) -> str:
    return ast.unparse(node) if isinstance(node, ast.expr) else ""


@models(f"{PALLAS}.ds", f"{PALLAS}.dslice", f"{PALLAS}.Slice")
def _ds(call: Call) -> Value:
    start, size, stride = call.get(0, "start"), call.get(1, "size"), call.get(2, "stride", 1)
    if call.name.endswith(".Slice"):
        return DynamicSlice(start, size, stride)
    if start is None and size is None:
        return slice(None)
    return DynamicSlice(0, start, stride) if size is None else DynamicSlice(start, size, stride if stride is not None else 1)


@models(
    f"{PALLAS}.Element", f"{PALLAS}.Blocked", f"{PALLAS}.Squeezed", f"{PALLAS}.BoundedSlice", f"{PALLAS}.Buffered", f"{PALLAS}.Indirect"
)
def _block_dim(call: Call) -> Value:
    return Opaque(call.name, tuple(call.args), call.kwargs)


SQUEEZED = "squeezed"


def block_dims(shape: tuple[Value, ...]) -> tuple[object, ...]:
    """The entries of a block shape as dims, ``SQUEEZED`` for a squeezed one, None for what is unknown."""
    return tuple(_block_dim_of(entry) for entry in shape)


def _block_dim_of(entry: Value) -> object:
    if entry is None or (isinstance(entry, Library) and entry.name == f"{PALLAS}.squeezed"):
        return SQUEEZED
    if isinstance(entry, Opaque):
        kind = entry.name.rpartition(".")[2]
        if kind == "Squeezed":
            return SQUEEZED
        return as_dim(entry.args[0] if entry.args else entry.kwargs.get("block_size"))
    return as_dim(entry)

"""BlockSpec, GridSpec, scratch entries, memory spaces, ShapeDtypeStruct, slices: what describes a kernel call."""

from __future__ import annotations

import ast
import math

from ...shapes.dims import Poly, Shape
from ..events import CallFault
from ..meshes import MeshMemory
from ..operators import cause_of
from ..truth import as_dim, dtype_name, dtype_of, name_of_dtype
from ..values import (
    ABSENT,
    Array,
    BlockSpec,
    DynamicSlice,
    Function,
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
from ..written import written
from .grids import refuses_grid_spec
from .refusals import misses_arguments, nodes_of, refuse
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
    "acc": "the accumulators",
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
    if misses_arguments(call):
        return call.unknown("a BlockSpec that JAX refuses")
    shape = call.get(0, "block_shape", None if call.arguments.exact else _missing(call))
    if isinstance(shape, list):
        shape = tuple(shape)
    space = call.kwargs.get("memory_space")
    if not call.arguments.exact and "memory_space" not in call.kwargs:
        space = Unknown("the memory space is among unknown keywords", host=True)
    mode = call.get(2, "pipeline_mode", None if call.arguments.exact else _missing(call))
    index_map = call.get(1, "index_map", None if call.arguments.exact else _missing(call))
    return BlockSpec(shape, index_map, space, origin(call), mode)


_GRID_SPEC = ("grid", "in_specs", "out_specs", "scratch_shapes")


@models(f"{PALLAS}.GridSpec", f"{TPU}.PrefetchScalarGridSpec")
def _grid_spec(call: Call) -> Value:
    if misses_arguments(call):
        return call.unknown("a grid spec that JAX refuses")
    prefetches = call.name.startswith(TPU)
    names = ("num_scalar_prefetch", *_GRID_SPEC) if prefetches else _GRID_SPEC
    missing = _missing(call)
    given = {name: call.get(position, name, missing) for position, name in enumerate(names)}
    grid = given["grid"] if given["grid"] is not ABSENT else ()
    nodes = nodes_of(call, *names)
    if refuses_grid_spec(call, grid, given["in_specs"], given["scratch_shapes"], nodes):
        return call.unknown("a grid spec that JAX refuses")
    prefetch = given["num_scalar_prefetch"] if prefetches else 0
    return GridSpec(grid, given["in_specs"], given["out_specs"], given["scratch_shapes"], prefetch, origin(call), nodes)


def _missing(call: Call) -> Value:
    """What an argument that is not written stands for: absent, or unknown when ``**kwargs`` may hold it."""
    return ABSENT if call.arguments.exact else Unknown("an argument among unknown keywords", host=True)


@models("jax.ShapeDtypeStruct", "jax.core.ShapedArray")
def _shape_dtype_struct(call: Call) -> Value:
    if call.name == "jax.ShapeDtypeStruct" and misses_arguments(call):
        return call.unknown("a ShapeDtypeStruct that JAX refuses")
    shape, dtype = call.get(0, "shape"), call.get(1, "dtype")
    if is_no_sequence(shape) and call.name == "jax.ShapeDtypeStruct":
        node = call.arguments.node(0, "shape") or call.node
        refuse(call.machine, CallFault(call.machine.where(node, call.frame), "struct-shape", shape))
        return call.unknown("a ShapeDtypeStruct that JAX refuses")
    return ShapeDtype(
        shape_of(shape), dtype_of(dtype), why=cause_of((shape, dtype)), origin=origin(call), wide=wide_dtype(dtype),
        sharding=call.kwargs.get("sharding"), named=dtype_name(dtype),
    )  # fmt: skip


def is_no_sequence(shape: Value) -> bool:
    """Whether a shape is certainly something that cannot be iterated over."""
    return shape is None or isinstance(shape, int | float)


_WIDE = {"float": "float64", "int": "int64", "double": "float64", "complex": "complex128", "float_": "float64", "int_": "int64"}


def wide_dtype(value: Value) -> str | None:
    """The 64-bit dtype that a dtype argument names, which Pallas keeps where the rest of JAX makes 32 bits of it; None for any other."""
    name = value.name if isinstance(value, Library) else value if isinstance(value, str) else ""
    root, _, short = name.rpartition(".")
    wide = _WIDE.get(short, short) if root in ("", "numpy", "jax.numpy") else ""
    return wide if wide in ("float64", "int64", "uint64", "complex128") else None


@models("jax.ShapeDtypeStruct.like", f"{PALLAS}.empty_like")
def _shape_dtype_like(call: Call) -> Value:
    like = call.get(0, "x")
    if isinstance(like, Array | ShapeDtype | Ref):
        return ShapeDtype(like.shape, like.dtype, named=name_of_dtype(like))
    return ShapeDtype(None, None, why=like.why, named=name_of_dtype(like)) if isinstance(like, Unknown) else call.unknown()


@models(*(name for name in SPACES if not name.endswith("DEFAULT")))
def _memory(call: Call) -> Value:
    """``pltpu.VMEM(shape, dtype)``: a piece of memory, as scratch or as an output."""
    shape, dtype = call.get(0, "shape"), call.get(1, "dtype")
    if misses_arguments(call, f"{TPU}.MemorySpace.__call__") or _refuses_shape(call, shape):
        return call.unknown("a piece of memory that JAX refuses")
    words, wide, named = _text(call.node), wide_dtype(dtype), dtype_name(dtype)
    return Scratch(SPACES[call.name], shape_of(shape), dtype_of(dtype), origin(call), words, wide, named)


def _refuses_shape(call: Call, shape: Value) -> bool:
    """Whether the shape of a piece of memory is none: a number, or with a size that is no whole number."""
    wrong = is_no_sequence(shape) or (isinstance(shape, tuple | list) and any(isinstance(size, float | str | None) for size in shape))
    if wrong:
        node = call.arguments.node(0, "shape") or call.node
        refuse(call.machine, CallFault(call.machine.where(node, call.frame), "scratch-shape", shape))
    return wrong


@models(*SEMAPHORES)
def _semaphores(call: Call) -> Value:
    if misses_arguments(call, f"{TPU}.SemaphoreType.__call__"):
        return call.unknown("semaphores that JAX refuses")
    return Scratch("semaphore", shape_of(call.get(0, "shape")), SEMAPHORES[call.name], origin(call), _text(call.node))


def scratch_of(entry: Value, fallback: SpecOrigin) -> Scratch | None:
    """A scratch entry; a bare semaphore type is one semaphore."""
    if isinstance(entry, Scratch):
        return entry
    kind, mesh = (entry.space, entry.mesh) if isinstance(entry, MeshMemory) else (entry, None)
    if isinstance(kind, Library) and kind.name in SEMAPHORES:
        return Scratch("semaphore", (), SEMAPHORES[kind.name], fallback, kind.name.rpartition(".")[2], mesh=mesh)
    return None


def _text(node: ast.AST) -> str:
    return written(node) if isinstance(node, ast.expr) else ""


@models(f"{PALLAS}.ds", f"{PALLAS}.dslice", f"{PALLAS}.Slice")
def _ds(call: Call) -> Value:
    start, size, stride = call.get(0, "start"), call.get(1, "size"), call.get(2, "stride", 1)
    if call.name.endswith(".Slice"):
        return DynamicSlice(start, size, stride)
    if start is None and size is None:
        return slice(None)
    return DynamicSlice(0, start, stride) if size is None else DynamicSlice(start, size, stride if stride is not None else 1)


@models(f"{PALLAS}.Element", f"{PALLAS}.Blocked", f"{PALLAS}.Squeezed", f"{PALLAS}.BoundedSlice", f"{PALLAS}.Indirect")
def _block_dim(call: Call) -> Value:
    return Opaque(call.name, tuple(call.args), call.kwargs)


@models(f"{PALLAS}.Buffered")
def _buffered(call: Call) -> Value:
    if misses_arguments(call):
        return call.unknown("a pipeline mode that JAX refuses")
    return Opaque(call.name, tuple(call.args), call.kwargs)


@models(f"{PALLAS}.CostEstimate")
def _cost_estimate(call: Call) -> Value:
    """All fields are Python ints; whatever else is refused when the object is made."""
    if misses_arguments(call):
        return call.unknown("a cost estimate that JAX refuses")
    for position, name in enumerate(("flops", "transcendentals", "bytes_accessed", "remote_bytes_transferred")):
        value = call.get(position, name)
        if isinstance(value, float | str) or (isinstance(value, Array) and value.shape is not None):
            node = call.arguments.node(position, name) or call.node
            refuse(call.machine, CallFault(call.machine.where(node, call.frame), "cost-estimate", (name, value)))
            return call.unknown("a cost estimate that JAX refuses")
    return Opaque(call.name, tuple(call.args), call.kwargs)


@models(f"{TPU}.CompilerParams")
def _compiler_params(call: Call) -> Value:
    if misses_arguments(call):
        return call.unknown("compiler parameters that JAX refuses")
    return Opaque(call.name, tuple(call.args), call.kwargs, origin(call))


SQUEEZED = "squeezed"
_KINDS = {"Element": "element", "BoundedSlice": "bounded", "Indirect": "indirect", "Squeezed": "squeezed", "Blocked": "blocked"}


def block_dims(shape: tuple[Value, ...]) -> tuple[object, ...]:
    """The entries of a block shape as dims, ``SQUEEZED`` for a squeezed one, None for what is unknown."""
    return tuple(_block_dim_of(entry) for entry in shape)


def block_kinds(shape: tuple[Value, ...]) -> tuple[str, ...]:
    """What kind of dim each entry of a block shape is; ``invalid`` for what JAX makes no dim of, ``unknown`` where that is not known."""
    return tuple(_kind_of(entry) for entry in shape)


def _kind_of(entry: Value) -> str:
    if _is_squeezed(entry):
        return "squeezed"
    if isinstance(entry, Opaque):
        return _KINDS.get(entry.name.rpartition(".")[2], "unknown")
    if isinstance(entry, str) and entry.strip().isdecimal():
        return "blocked"  # JAX asks ``int`` of whatever it does not know
    if isinstance(entry, str | tuple | list | dict | Function | Ref):
        return "invalid"
    return "unknown" if isinstance(entry, Unknown) and entry.poly is None else "blocked"


def _is_squeezed(entry: Value) -> bool:
    return entry is None or (isinstance(entry, Library) and entry.name == f"{PALLAS}.squeezed")


def may_be_squeezed(entry: Value) -> bool:
    """Whether an entry of a block shape is so unknown that it may be None: no number that the program names."""
    if isinstance(entry, Unknown):
        return entry.poly is None
    return not isinstance(entry, int | float | Poly | Opaque | Array | str | tuple | list) and not _is_squeezed(entry)


def _block_dim_of(entry: Value) -> object:
    if _is_squeezed(entry):
        return SQUEEZED
    if isinstance(entry, Opaque):
        if _KINDS.get(entry.name.rpartition(".")[2]) == "squeezed":
            return SQUEEZED
        entry = entry.args[0] if entry.args else entry.kwargs.get("block_size")
    return int(entry) if isinstance(entry, float) and math.isfinite(entry) else as_dim(entry)

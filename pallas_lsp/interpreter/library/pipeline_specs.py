"""What ``emit_pipeline`` refuses of the spec of one operand.

Mirrors ``jax/_src/pallas/mosaic/pipeline.py`` (``_spec_has_trivial_windowing``, ``BufferedRef.create``, ``_make_block_slice``) and
``jax/_src/tpu_info.py`` (``infer_tiling``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...data.versions import parse_version, satisfies
from ...shapes import dims, dtypes
from ...shapes.dims import MaybeDim, Shape, Truth
from ...text.span import Location
from ..calls import run_body
from ..machine import Arguments, Machine
from ..paths import PathEnd
from ..values import Array, BlockSpec, Function, Opaque, Ref, Unknown, Value
from .grids import grid_of
from .index_maps import copied, entries_of, grid_argument
from .running import binding, underlying
from .specs import block_dims, block_kinds, space_of

Fault = tuple[str, Any]
_BUFFERS = ("default", "vmem", "smem", "hbm")
_LANES, _SUBLANES = 128, 8


@dataclass(frozen=True, slots=True)
class Operand:
    """An operand of a pipeline with its spec; ``reads``: it is an input; ``tiled``: the program says which tiling to assume."""

    ref: Ref
    spec: BlockSpec
    reads: bool
    tiled: bool


def spec_fault(machine: Machine, operand: Operand, grid: Value, call: Location) -> Fault | None:
    """The first thing that JAX refuses of an operand's spec, in JAX's order of checks, as ``(kind, detail)``."""
    spec, shape = operand.spec, operand.ref.shape
    if not operand.reads and _argument(spec.pipeline_mode, 1, "use_lookahead") is True:
        return "output-lookahead", operand
    block = spec.shape if isinstance(spec.shape, tuple) else None
    if block is not None and shape is not None and len(block) != len(shape):
        return "block-rank", operand
    space = space_of(spec.space)
    if space is not None and space not in _BUFFERS:
        return "memory-space", (operand, space)
    return _count_fault(machine, operand) or _map_fault(machine, operand, grid, call) or _tiling_fault(machine, operand)


def _argument(mode: Value, position: int, name: str) -> Value:
    """An argument of ``pl.Buffered``."""
    if not isinstance(mode, Opaque) or not mode.name.endswith(".Buffered"):
        return None
    return mode.args[position] if position < len(mode.args) else mode.kwargs.get(name)


def _count_fault(machine: Machine, operand: Operand) -> Fault | None:
    """A number of buffers that the stated JAX does not make."""
    count = _argument(operand.spec.pipeline_mode, 0, "buffer_count")
    version = parse_version(machine.jax_version) if machine.jax_version is not None else None
    none = isinstance(count, int) and count < 1 and satisfies(version, "0.12", None)
    many = isinstance(count, int) and count > 2 and not operand.reads and satisfies(version, None, "0.11")
    return ("buffer-count", (operand, count)) if none or many else None


def _map_fault(machine: Machine, operand: Operand, grid: Value, call: Location) -> Fault | None:
    """What is wrong with how the index map is called and with the number of indices that it returns."""
    sizes, block = grid_of(grid), operand.spec.shape
    if sizes is None:
        return None
    if operand.spec.index_map is None:
        return ("no-map", operand) if _is_part(machine, operand) else None
    received = Arguments([grid_argument() for _ in sizes])
    function, received = underlying(operand.spec.index_map, received)
    if not isinstance(function, Function):
        return None
    scope = binding(machine, function, received, "index map", tuple(f"grid index {axis}" for axis in range(len(sizes))), call)
    if scope is None:
        raise PathEnd("an index map that does not take its grid indices")
    machine.muted += 1
    try:
        result = machine.settle(run_body(machine, function, copied(scope)))
    except PathEnd:
        return None
    finally:
        machine.muted -= 1
    entries = entries_of(result)
    if not isinstance(block, tuple) or isinstance(result, Unknown):
        return None
    if len(entries) != len(block):
        return "map-length", (operand, len(entries), len(block))
    index = next((index for index, entry in enumerate(entries) if _is_fraction(entry)), None)
    return ("map-dtype", (operand, index, entries[index])) if index is not None else None


def _is_fraction(entry: Value) -> bool:
    return isinstance(entry, Array) and entry.shape == () and dtypes.is_floating(entry.dtype)


def _is_part(machine: Machine, operand: Operand) -> bool:
    """Whether the block is certainly another than the whole array."""
    block, shape = operand.spec.shape, operand.ref.shape
    if not isinstance(block, tuple) or shape is None:
        return False
    same = machine.path.facts.same
    pairs = zip(block_kinds(block), block_dims(block), shape, strict=True)
    return any(kind == "blocked" and same(size, dim) is Truth.NO for kind, size, dim in pairs)  # type: ignore[arg-type]


def _tiling_fault(machine: Machine, operand: Operand) -> Fault | None:
    """A block that neither divides the array nor is a whole number of tiles."""
    ref, spec = operand.ref, operand.spec
    if operand.tiled or ref.root.space not in ("any", "hbm", "vmem") or not isinstance(spec.shape, tuple) or ref.shape is None:
        return None
    kinds, block = block_kinds(spec.shape), block_dims(spec.shape)
    for axis, tile in _tiles(ref.shape, ref.dtype).items():
        size: Any = block[axis]
        if kinds[axis] not in ("blocked", "element") or not isinstance(size, int) or size <= 0 or size % tile == 0:
            continue
        if kinds[axis] == "element" or dims.divides(size, machine.path.facts.resolve(ref.shape[axis])) is Truth.NO:
            return "block-tiling", (operand, axis, size, tile)
    return None


def _tiles(shape: Shape, dtype: str | None) -> dict[int, int]:
    """The tile sizes of the last dims that are known, by axis."""
    bits = dtypes.bits(dtype) if dtype is not None else None
    if shape is None or bits is None or not 4 <= bits <= 32:
        return {}
    packing = 8 if dtype == "int4" else 4 // max(1, bits // 8)
    if len(shape) == 1:
        return {-1: packing * _LANES}
    rows: MaybeDim = shape[-2]
    tile = packing
    while isinstance(rows, int) and tile < min(rows, _SUBLANES):
        tile *= 2
    return {-2: tile, -1: _LANES} if isinstance(rows, int) else {-1: _LANES}


def is_plain(operand: Operand, grid: Value) -> bool:
    """Whether the blocks are whole parts of a known array, in VMEM, that an index map counts: it lowers where nothing refuses it."""
    ref, spec = operand.ref, operand.spec
    sizes, block, shape = grid_of(grid), spec.shape, ref.shape
    if sizes is None or shape is None or not isinstance(block, tuple) or len(shape) < 2 or ref.transforms or spec.pipeline_mode is not None:
        return False
    return (
        space_of(spec.space) in ("default", "vmem")
        and ref.root.space in ("any", "hbm")
        and ref.dtype in ("float32", "bfloat16", "int32")
        and isinstance(spec.index_map, Function)
        and all(isinstance(size, int) for size in (*sizes, *block, *shape))
        and all(dim % size == 0 for size, dim in zip(block, shape, strict=True))
    )

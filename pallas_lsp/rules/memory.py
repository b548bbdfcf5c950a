"""Kernels that need more of VMEM or SMEM than a chip has.

The TPU compiler refuses them (``CompileTimeScopedVmemOom``); no file of JAX's says its limits, see ``pallas_lsp/data/chips.toml``.
"""

from __future__ import annotations

from ..data import chips
from ..interpreter.call_events import Footprint, ScratchBuffer, Window
from ..interpreter.values import Opaque, RefRoot
from ..kernels.parameters import field_of, vmem_limit
from ..kernels.vmem import Share, padded_bytes, shares
from ..kernels.windows import visits
from ..shapes import dims, dtypes
from ..shapes.dims import MaybeDim, Truth
from ..text.span import Location
from . import places, words
from .diagnostic import Related
from .options import name_of
from .registry import Context, Finding, rule

_NAMED = 3


@rule("vmem-budget-exceeded", on=Footprint, order=50, stage="compile")
def vmem_budget_exceeded(event: Footprint, context: Context) -> Finding | None:
    """Windows and scratch buffers need more VMEM than the kernel may use."""
    parts = shares(event, "vmem")
    if field_of(event.parameters, "allow_input_fusion") is not None or not parts:
        return None
    names = [context.target] if context.target in chips.load_chips() else list(chips.load_chips())
    limits = {name: vmem_limit(event.parameters, name) for name in names}
    needed = _least(parts)
    if not all(_exceeds(needed, limit) for limit in limits.values()):
        return None
    certain = all(_exceeds(_least(_certain(parts, chips.load_chips()[name]["vmem"])), limit) for name, limit in limits.items())
    name = max(limits, key=lambda chip: limits[chip])
    return _finding(event, parts, limits[name], name if context.target else None, hint=not certain)


def _certain(parts: tuple[Share, ...], capacity: int) -> tuple[Share, ...]:
    """What the compiler cannot keep elsewhere; an array larger than VMEM itself is among it."""
    return tuple(part for part in parts if part.fixed or _exceeds(padded_bytes(part.root.array, part.root.dtype), capacity))


def _least(parts: tuple[Share, ...]) -> MaybeDim:
    found: MaybeDim = 0
    for part in parts:
        found = dims.add(found, part.least)
    return found


def _exceeds(size: MaybeDim, limit: int) -> bool:
    return dims.less(limit, size) is Truth.YES


def _finding(event: Footprint, parts: tuple[Share, ...], limit: int, chip: str | None, hint: bool) -> Finding:
    largest = sorted(parts, key=_known, reverse=True)[:_NAMED]
    needed = _least(parts)
    described = words.listed([_described(part) for part in largest if _known(part)])
    others = len(parts) - len(largest)
    rest = f" and {words.count(others, 'other')}" if others else ""
    amount = f"{words.memory(needed)}" if isinstance(needed, int) else f"{words.dim(needed)} bytes"
    given = isinstance(field_of(event.parameters, "vmem_limit_bytes"), int)
    by = "this call's `vmem_limit_bytes`" if given else "the default limit"
    where = f"{by} on {chip} is" if chip else f"{by} is at most"
    unless = "; it fits only if the compiler keeps operands in VMEM between operations" if hint else ""
    message = f"this kernel needs {amount} of VMEM ({described}{rest}), {where} {words.memory(limit)}{unless or _advice(needed, limit, chip)}"
    jax = "RESOURCE_EXHAUSTED: E1001: CompileTimeScopedVmemOom: Ran out of memory in memory space vmem while allocating on stack for ..."
    return Finding(_place(event, largest[0]), message, _related(event, largest), jax, hint)


def _advice(needed: MaybeDim, limit: int, chip: str | None) -> str:
    """The smallest change that fits."""
    most = chips.load_chips()[chip]["limit"] if chip else 0
    if not isinstance(needed, int):
        return ""
    if limit < needed <= most:
        return f": `vmem_limit_bytes` can raise it up to {words.memory(most)}"
    parts = 2
    while needed > parts * limit:
        parts *= 2
    return f": blocks of 1/{parts} the size fit"


def _known(part: Share) -> int:
    return part.least if isinstance(part.least, int) else 0


def _described(part: Share) -> str:
    """``x (2048, 1024) float32, 2 buffers``."""
    root = part.root
    buffers = f" in {part.buffers} buffers" if part.buffers not in (None, 1) else ""
    return f"`{root.name}` {words.shape(root.shape)} {words.dtype(root.dtype)}{buffers}"


def _place(event: Footprint, part: Share) -> Location:
    return part.root.decided_at if part.root.decided_at is not None else event.where.location


def _related(event: Footprint, largest: list[Share]) -> tuple[Related, ...]:
    first = _place(event, largest[0])
    others = {part.root.decided_at: part for part in largest[1:] if part.root.decided_at not in (None, first)}
    found = [Related(at, f"`{part.root.name}` takes {words.memory(_known(part))}") for at, part in others.items() if at is not None]
    if event.where.location not in (first, *others):
        found.append(Related(event.where.location, "the kernel call"))
    return tuple(found)


@rule("smem-budget-exceeded", on=Footprint, order=51, stage="compile")
def smem_budget_exceeded(event: Footprint, context: Context) -> Finding | None:
    """Prefetched operands, windows and scratch buffers need more SMEM than a core has."""
    parts = shares(event, "smem")
    capacity = chips.at_most(context.target, "smem")
    needed = _least(parts)
    if not _exceeds(needed, capacity) or not parts:
        return None
    largest = sorted(parts, key=_known, reverse=True)[:_NAMED]
    amount = f"{words.memory(needed)}" if isinstance(needed, int) else f"{words.dim(needed)} bytes"
    described = words.listed([_described(part) for part in largest if _known(part)])
    chip = context.target or "a core"
    return Finding(
        _place(event, largest[0]),
        f"this kernel needs {amount} of SMEM ({described}), {chip} has {words.memory(capacity)}: larger tables stay in HBM",
        _related(event, largest),
        f"RESOURCE_EXHAUSTED: Allocation (size={needed}) would exceed memory (size={capacity})",
    )


_WASTE = 8
_WORTH_TELLING = 1 << 16


@rule("block-padding-waste", on=Window, also=(ScratchBuffer,), order=200, stage="run")
def block_padding_waste(event: Window | ScratchBuffer, context: Context) -> Finding | None:
    """Most of a buffer is padding."""
    root = event.root
    resolve = event.where.facts.resolve
    padded = resolve(padded_bytes(event.where.facts.resolve_shape(root.shape), root.dtype))
    dense = resolve(dims.product(root.shape)) if root.shape is not None else None
    bits = dtypes.bits(root.dtype)
    if root.space not in ("vmem", "smem") or not isinstance(padded, int) or not isinstance(dense, int) or bits is None:
        return None
    data = max(dense * bits // 8, 1)
    if padded < _WORTH_TELLING or padded < _WASTE * data:
        return None
    name = words.window(event) if isinstance(event, Window) else f"`{root.name}`"
    return Finding(
        event.where.location,
        f"{name}, {words.shape(root.shape)} {words.dtype(root.dtype)}, takes {words.memory(padded)} of {words.space(root)} for {words.memory(data)} "
        "of data: the last dim is filled up to 128, the one before to its tile",
        hint=True,
    )


@rule("parallel-reduction-axis", on=Footprint, order=10, stage="run")
def parallel_reduction_axis(event: Footprint, context: Context) -> Finding | None:
    """A grid axis is declared parallel, but its steps read back what the others wrote."""
    semantics = field_of(event.parameters, "dimension_semantics")
    if not isinstance(semantics, tuple | list) or chips.at_most(context.target, "cores") < 2:
        return None
    for root in event.roots:
        seen = visits(root.window) if isinstance(root.window, Window) and root.role == "output" and root.read else None
        if seen is None or None in seen.used_axes or len(semantics) != len(seen.grid):
            continue
        used = frozenset[int]().union(*(axes or () for axes in seen.used_axes))
        parallel = [axis for axis, entry in enumerate(semantics) if name_of(entry) in ("parallel", "core_parallel") and axis not in used]
        axis = next((axis for axis in parallel if seen.grid[axis] > 1), None)
        if axis is not None:
            return _raced(event, root, axis, hint=context.target is None)
    return None


def _raced(event: Footprint, root: RefRoot, axis: int, hint: bool) -> Finding:
    place = event.parameters.origin if isinstance(event.parameters, Opaque) else None
    where = places.of_argument(place, 0, "dimension_semantics") if place is not None else event.where.location
    related = (Related(root.decided_at, f"the spec of `{root.name}`"),) if root.decided_at is not None else ()
    return Finding(
        where,
        f"grid axis {axis} is declared parallel, but its steps add to the same block of `{root.name}`: on a chip with two cores per kernel they "
        "run at the same time; an axis that is summed over is `arbitrary`",
        related,
        hint=hint,
    )

"""The functions of ``plsc``: what they ask of refs, indices, masks and vectors.

Mirrors ``jax/_src/pallas/mosaic/sc_primitives.py``, with its order of checks, and ``supported_shapes`` of
``jax/_src/pallas/mosaic/sc_core.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ..data import chips
from ..interpreter.cores import SPARSE
from ..interpreter.events import Where
from ..interpreter.operation_events import AxisAsked, LoopCarry, SubcoreCall
from ..interpreter.refs import same_shape
from ..interpreter.values import ABSENT, Array, Ref, Value
from ..shapes import dtypes
from ..shapes.dims import Shape, Truth
from . import words
from .registry import Context, Finding, rule
from .traced_loops import described

_OF_VIEWS = ("addupdate", "load_expanded", "store_compressed", "addupdate_compressed")
_BY_INDICES = ("load_gather", "store_scatter", "addupdate_scatter")
SCANS = ("cumsum", "cummax", "cummin", "scan_count")
_WIDE = ("uint32", "int32", "float32")


def _name(event: SubcoreCall) -> str:
    return f"`plsc.{event.function}`"


def _found(event: SubcoreCall, what: str, jax: str) -> Finding:
    return Finding(event.where.location, f"{_name(event)} {what}", jax_message=jax)


def _differ(where: Where, a: Shape, b: Shape) -> bool:
    return same_shape(where.facts, a, b) is Truth.NO


@rule("sc-bare-ref", on=SubcoreCall, order=10, stage="trace")
def sc_bare_ref(event: SubcoreCall, context: Context) -> Finding | None:
    """A function of ``plsc`` that takes a view is given a whole ref, or a value."""
    ref = event.given.get("ref")
    if event.function not in _OF_VIEWS:
        return None
    if isinstance(ref, Ref) and not ref.transforms:
        given, instead, kind = words.name(ref), f"`{ref.root.name}.at[...]`", f"Ref<{ref.root.space}>{{...}}"
    elif isinstance(ref, Array):
        given, instead, kind = f"a value, {words.array(ref)}", "`ref.at[...]`", words.array(ref)
    else:
        return None
    return _found(event, f"takes a view of a ref, not {given}: {instead}", f"ref must be an AbstractRef or TransformedRef, got JitTracer({kind})")


@rule("sc-mask", on=SubcoreCall, order=11, stage="trace")
def sc_mask(event: SubcoreCall, context: Context) -> Finding | None:
    """A mask, or the value beside it, does not fit the view that it is for."""
    ref, mask, value = (event.given.get(name) for name in ("ref", "mask", "x"))
    if event.function in _OF_VIEWS and isinstance(ref, Ref):
        return _mask_of(event, ref, mask) or (_value_of(event, ref, value) if isinstance(value, Array) else None)
    if event.function in SCANS and isinstance(event.given.get("x"), Array) and isinstance(mask, Array):
        return _mask_of_values(event, event.given["x"], mask)
    return None


def _mask_of(event: SubcoreCall, ref: Ref, mask: Value) -> Finding | None:
    if not isinstance(mask, Array):
        return None
    if mask.dtype not in (None, "bool"):
        return _found(event, f"is given a mask of {mask.dtype}: a mask is bool, compare first", f"Mask must be a boolean array, got {mask.dtype}")
    if not _differ(event.where, ref.shape, mask.shape):
        return None
    wanted, given = words.shape(ref.shape), words.shape(mask.shape)
    return _found(event, f"has a mask of shape {given} for a view of shape {wanted}", f"Mask must have shape {wanted}, got {given}")


def _value_of(event: SubcoreCall, ref: Ref, value: Array) -> Finding | None:
    if None not in (ref.dtype, value.dtype) and ref.dtype != value.dtype:
        what = f"is given {value.dtype} for {words.name(ref)}, which holds {ref.dtype}: it casts nothing"
        return _found(event, what, f"Ref and value must have the same dtype, got {ref.dtype} and {value.dtype}")
    if not _differ(event.where, ref.shape, value.shape):
        return None
    wanted, given = words.shape(ref.shape), words.shape(value.shape)
    return _found(event, f"is given a value of shape {given} for a view of shape {wanted}", f"Value must have shape {wanted}, got {given}")


def _mask_of_values(event: SubcoreCall, value: Array, mask: Array) -> Finding | None:
    if mask.dtype not in (None, "bool"):
        return _found(event, f"is given a mask of {mask.dtype}: a mask is bool, compare first", f"mask.dtype={mask.dtype} is not a boolean dtype")
    if not _differ(event.where, value.shape, mask.shape):
        return None
    shapes = words.shape(value.shape), words.shape(mask.shape)
    return _found(event, f"has a mask of shape {shapes[1]} for a value of shape {shapes[0]}", f"x.shape={shapes[0]} != mask.shape={shapes[1]}")


def _indices(event: SubcoreCall) -> list[Array] | None:
    """The indices of a gather or scatter, None where they are not all known to be arrays."""
    given = event.given.get("indices")
    if not isinstance(given, tuple | list) or not all(isinstance(index, Array) and index.shape is not None for index in given):
        return None
    return [index for index in given if isinstance(index, Array)]


@rule("sc-load-gather-dtype", on=SubcoreCall, order=20, stage="trace")
def sc_load_gather_dtype(event: SubcoreCall, context: Context) -> Finding | None:
    """A gather or scatter by indices of something else than 32-bit numbers."""
    ref = event.given.get("ref")
    if event.function not in _BY_INDICES or not isinstance(ref, Ref) or ref.dtype in (None, "int32", "float32"):
        return None
    return _found(event, f"of {words.name(ref)}, which holds {ref.dtype}: it takes int32 and float32", f"ref.dtype={ref.dtype} must be int32 or float32")


@rule("sc-load-gather-indices", on=SubcoreCall, order=21, stage="trace")
def sc_load_gather_indices(event: SubcoreCall, context: Context) -> Finding | None:
    """The indices of a gather or scatter are not one vector for each dim, all of one length."""
    ref, indices = event.given.get("ref"), _indices(event)
    if event.function not in _BY_INDICES or not isinstance(ref, Ref) or ref.shape is None or indices is None:
        return None
    if len(indices) != len(ref.shape):
        what = f"is given {words.count(len(indices), 'vector')} of indices for {words.name(ref)}, which has {words.count(len(ref.shape), 'dim')}"
        return _found(event, f"{what}: one for each", f"The number of indices does not match ref.ndim={len(ref.shape)}")
    shapes = [index.shape for index in indices]
    other = next((shape for shape in shapes if shape is not None and len(shape) != 1), None)
    if other is not None:
        jax = f"Indices must be a 1-D array, got an index with shape {words.shape(other)}"
        return _found(event, f"is given indices of shape {words.shape(other)}: indices are vectors", jax)
    for before, after in pairwise(shapes):
        if before is not None and after is not None and _differ(event.where, before, after):
            sizes = f"{words.dim(before[0])} and {words.dim(after[0])}"
            return _found(event, f"is given {sizes} indices: as many for each dim", f"Indices must have the same size, got {sizes}")
    return _value_by_indices(event, ref, shapes[0] if shapes else None)


def _value_by_indices(event: SubcoreCall, ref: Ref, picked: Shape) -> Finding | None:
    """A scattered value, or a mask, that is not as long as the indices; a value of another dtype."""
    value, mask = event.given.get("x"), event.given.get("mask")
    if isinstance(value, Array):
        if _differ(event.where, value.shape, picked):
            shapes = words.shape(value.shape), words.shape(picked)
            what = f"is given a value of shape {shapes[0]} for indices of shape {shapes[1]}"
            return _found(event, what, f"x.shape={shapes[0]} does not match expected shape {shapes[1]}")
        if None not in (value.dtype, ref.dtype) and value.dtype != ref.dtype:
            what = f"is given {value.dtype} for {words.name(ref)}, which holds {ref.dtype}: it casts nothing"
            return _found(event, what, f"val.dtype={value.dtype} != ref.dtype={ref.dtype}")
    if isinstance(mask, Array) and _differ(event.where, mask.shape, picked):
        shapes = words.shape(mask.shape), words.shape(picked)
        return _found(event, f"has a mask of shape {shapes[0]} for indices of shape {shapes[1]}", f"mask.shape={shapes[0]} does not match ...")
    return None


@rule("sc-load-gather-space", on=SubcoreCall, order=23, stage="lower", cores=SPARSE)
def sc_load_gather_space(event: SubcoreCall, context: Context) -> Finding | None:
    """A gather or scatter by indices of a ref that is not in VMEM."""
    ref = event.given.get("ref")
    if event.function not in _BY_INDICES or not isinstance(ref, Ref) or ref.root.space in (None, "vmem"):
        return None
    verb = "Gather only supports loading from" if event.function == "load_gather" else "Scatter only supports storing to"
    finding = _found(
        event,
        f"of {words.name(ref)}, which is in {words.space(ref.root)}: it reaches VMEM only, copy first, `pltpu.sync_copy` copies by indices too",
        f"{verb} VMEM, got {ref.root.space}",
    )
    finding.related = words.decided(ref)
    return finding


@rule("sc-popcount-dtype", on=SubcoreCall, order=31, stage="trace")
def sc_popcount_dtype(event: SubcoreCall, context: Context) -> Finding | None:
    """A count over a mask that is no vector of booleans."""
    value = event.given.get("x")
    if not event.function.startswith("all_reduce_") or not isinstance(value, Array):
        return None
    if value.dtype not in (None, "bool"):
        what = f"of {value.dtype}: it counts in a mask, compare first"
        return _found(event, what, f"Mask all-reduce only supports bool arrays, got {value.dtype}")
    if value.shape is not None and len(value.shape) != 1:
        return _found(event, f"of {words.array(value)}: a mask is a vector", "Mask all-reduce only supports 1D arrays")
    return None


@rule("sc-sort-key-val", on=SubcoreCall, order=32, stage="trace")
def sc_sort_key_val(event: SubcoreCall, context: Context) -> Finding | None:
    """Keys or values that are no register of 32-bit numbers."""
    if event.function != "sort_key_val":
        return None
    what, jax = next(_unsorted(event, context), ("", ""))
    return _found(event, what, jax) if what else None


def _unsorted(event: SubcoreCall, context: Context) -> Iterator[tuple[str, str]]:
    lanes = sorted(chips.lanes(context.target))
    wanted = " or ".join(map(str, lanes))
    for role in ("keys", "values"):
        value = event.given.get(role)
        if not isinstance(value, Array):
            continue
        bits = dtypes.bits(value.dtype) if value.dtype is not None else None
        if role == "keys" and value.dtype not in (None, *_WIDE):
            yield f"has keys of {value.dtype}: they are uint32, int32 or float32", f"sort_key_val: keys dtype {value.dtype} should be ..."
        if role == "values" and bits not in (None, 32):
            yield f"has values of {value.dtype}: they have 32 bits", f"sort_key_val: values dtype {value.dtype} should be 32 bits"
        shape = value.shape
        if shape is not None and all(isinstance(dim, int) for dim in shape) and shape not in [(n,) for n in lanes]:
            jax = f"{role} shape {words.shape(shape)} must be ({lanes[-1]},)"
            yield f"has {role} of shape {words.shape(shape)}: it sorts one register, {wanted} elements", jax


@rule("sc-pack", on=SubcoreCall, order=33, stage="trace")
def sc_pack(event: SubcoreCall, context: Context) -> Finding | None:
    """Vectors are packed that do not go together, or where the compiler chooses layouts."""
    first, second = event.given.get("a"), event.given.get("b")
    if event.function == "pack" and isinstance(first, Array) and isinstance(second, Array):
        found = _unpacked(event, first, second)
        if found is not None:
            return found
    if event.function not in ("pack", "unpack") or event.where.core.registers is not False or not context.jax(since="0.11.2"):
        return None
    return _found(
        event,
        "works with `CompilerParams(needs_layout_passes=False)` only: `.astype` packs and unpacks by itself",
        f"plsc.{event.function} is not supported with needs_layout_passes=True. Use jax.lax.convert_element_type or jax.Array.astype instead.",
    )


def _unpacked(event: SubcoreCall, first: Array, second: Array) -> Finding | None:
    """What keeps two vectors from being packed."""
    if _differ(event.where, first.shape, second.shape):
        shapes = f"{words.shape(first.shape)} and {words.shape(second.shape)}"
        return _found(event, f"packs the shapes {shapes}: they must be equal", f"Packed arrays must have the same shape, got {shapes}")
    if first.shape is not None and len(first.shape) != 1:
        return _found(event, f"packs {words.array(first)}: it packs vectors", f"Packed arrays must be 1-D, got {len(first.shape)}")
    if None not in (first.dtype, second.dtype) and first.dtype != second.dtype:
        pair = f"{first.dtype} and {second.dtype}"
        return _found(event, f"packs {pair}: they must be equal", f"Packed arrays must have the same dtype, got {pair}")
    if first.dtype not in (None, "float32", "int32") and event.given.get("preferred_element_type", ABSENT) in (None, ABSENT):
        what = f"packs {first.dtype}: it packs float32 and int32"
        return _found(event, what, f"Only packing of float32 and int32 is supported, got {first.dtype}")
    return None


@rule("sc-parallel-loop-carry", on=LoopCarry, order=9, stage="trace")
def sc_parallel_loop_carry(event: LoopCarry, context: Context) -> Finding | None:
    """A ``plsc.parallel_loop`` gives back a carry of another structure than it receives, or carries a plain number."""
    if event.loop != "parallel_loop" or event.kind == "type":
        return None
    if event.kind == "number":
        what = f"the loop carries the number {words.literal(event.before)}: `plsc.parallel_loop` carries arrays, `jnp.float32(...)` makes one"
        return Finding(event.where.location, what, jax_message=f"'{type(event.before).__name__}' object has no attribute 'aval'")
    what = f"the loop starts with {described(event.before)}, its body gives back {described(event.after)}: both have the same structure"
    return Finding(event.where.location, what, jax_message="parallel_loop: body result should have same structure as carry: ...")


@rule("sc-parallel-loop-axis", on=AxisAsked, order=20, stage="lower", cores=SPARSE)
def sc_parallel_loop_axis(event: AxisAsked, context: Context) -> Finding | None:
    """The body of a ``plsc.parallel_loop`` asks which core it runs on."""
    if not event.in_parallel_loop or event.function != "jax.lax.axis_index":
        return None
    return Finding(
        event.where.location,
        f"`lax.axis_index` of `{event.name}` in the body of a `plsc.parallel_loop`, where JAX does not find it: ask before the loop",
        jax_message="program id: ... was passed, but user did not provide a grid.",
    )

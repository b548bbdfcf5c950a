"""Loads and stores of a SparseCore: vectors in VMEM, scalars in SMEM, copies for the rest.

Mirrors ``jax/_src/pallas/mosaic/sc_lowering.py``: ``_load_lowering_rule``, ``_store_lowering_rule`` and ``_check_aval_is_supported``, with
its order of checks. Nothing is dropped there, so that loads which nothing uses count too.
"""

from __future__ import annotations

from ..data import chips
from ..interpreter.cores import SPARSE
from ..interpreter.events import Access
from ..interpreter.operation_events import SubcoreCall
from ..interpreter.refs import static_int
from ..interpreter.values import Array, DynamicSlice, Ref, Value
from ..shapes import dtypes
from ..shapes.dims import Shape
from . import words
from .registry import Context, Finding, rule

_FAR = ("hbm", "vmem_shared", "any")


def _verb(event: Access) -> str:
    return "Get" if event.op == "load" else "Swap"


def _last_indexer(event: Access) -> tuple[Shape, list[Value]]:
    """The indexer that JAX sees last, and the shape that it indexes: a whole access of a view reuses the view's own."""
    values = [entry.value for entry in event.entries]
    if event.ref.transforms and event.ref.transforms[-1].kind == "index" and values in ([], [Ellipsis]):
        return event.ref.before, list(event.ref.key or ())
    return event.ref.shape, values


def dims_indexed(event: Access) -> list[tuple[Value, Value]] | None:
    """Each dim with what indexes it, ``slice(None)`` for what is left out; None where that is not known."""
    shape, values = _last_indexer(event)
    if shape is None or event.fault is not None or any(value is None for value in values):
        return None
    if Ellipsis in [value for value in values if value is Ellipsis]:
        at = next(index for index, value in enumerate(values) if value is Ellipsis)
        values[at : at + 1] = [slice(None)] * (len(shape) - len(values) + 1)
    values += [slice(None)] * (len(shape) - len(values))
    return list(zip(shape, values, strict=True)) if len(values) == len(shape) else None


@rule("sc-access-hbm-or-shared", on=Access, order=65, stage="lower", cores=SPARSE)
def sc_access_hbm_or_shared(event: Access, context: Context) -> Finding | None:
    """A subcore reads or writes memory that it does not have for itself."""
    if event.ref.root.space not in _FAR or event.fault is not None:
        return None
    verb, other = ("read", "loading from") if event.op == "load" else ("written", "storing to")
    space = words.space(event.ref.root)
    return Finding(
        event.where.at(words.target(event)),
        f"{words.name(event.ref)} is {verb} directly, but it is in {space}: a subcore reaches its own VMEM and SMEM only, copy to or from it",
        words.decided(event.ref),
        f"{_verb(event)} does not support {other} {space}. Copy the data to a core-local memory space, e.g. VMEM, via `pltpu.async_copy`.",
    )


@rule("sc-int-after-slice", on=Access, order=81, stage="lower", cores=SPARSE)
def sc_int_after_slice(event: Access, context: Context) -> Finding | None:
    """A number indexes a dim after one that is sliced."""
    sliced = False
    for dim, index in dims_indexed(event) or ():
        if sliced and _is_number(index):
            break
        sliced = sliced or _is_long(index, event.where.facts.resolve(dim))
    else:
        return None
    return Finding(
        event.where.at(words.target(event)),
        f"a number indexes {words.name(event.ref)} behind a slice: in the kernel of a SparseCore numbers stand before slices, or index the "
        "loaded value",
        words.shaped(event.ref),
        "Integer indexing of refs that follows a non-trivial slice is not supported on SC",
    )


def _is_number(index: Value) -> bool:
    return static_int(index) is not None or (isinstance(index, Array) and index.shape == ())


def _is_long(index: Value, dim: Value) -> bool:
    """Whether a slice certainly takes another number of elements than one."""
    if isinstance(index, DynamicSlice):
        return isinstance(index.size, int) and index.size != 1
    if not isinstance(index, slice) or not isinstance(dim, int):
        return False
    bounds = [part for part in (index.start, index.stop, index.step) if part is not None]
    return all(isinstance(part, int) for part in bounds) and index.step != 0 and len(range(*index.indices(dim))) != 1


@rule("sc-strided-access", on=Access, order=82, stage="lower", cores=SPARSE)
def sc_strided_access(event: Access, context: Context) -> Finding | None:
    """A subcore reads or writes with a step."""
    slices = [index for _, index in dims_indexed(event) or () if isinstance(index, slice | DynamicSlice)]
    steps = [index.step if isinstance(index, slice) else index.stride for index in slices]
    step = next((step for step in steps if isinstance(step, int) and step != 1), None)
    if step is None:
        return None
    return Finding(
        event.where.at(words.target(event)),
        f"{words.name(event.ref)} is indexed with the step {step}: a subcore takes neighbours only, `plsc.load_gather` takes any",
        jax_message=f"{_verb(event)} only supports slices with stride 1, got {{strides}}",
    )


@rule("sc-vector-in-smem", on=Access, order=83, stage="lower", cores=SPARSE)
def sc_vector_in_smem(event: Access, context: Context) -> Finding | None:
    """A vector is loaded from SMEM or stored to it."""
    if event.ref.root.space != "smem" or not event.shape or event.fault is not None:
        return None
    jax = "Get only supports loading scalars from SMEM. Trying to load" if event.op == "load" else "Swap only supports scalars in SMEM. Trying to swap"
    return Finding(
        event.where.at(words.target(event)),
        f"a vector of shape {words.shape(event.shape)} of {words.name(event.ref)}, which is in SMEM: SMEM is read and written one scalar at a time",
        words.decided(event.ref),
        f"{jax} an array of shape {{out_aval.shape}}.",
    )


@rule("sc-scalar-outside-smem", on=Access, order=84, stage="lower", cores=SPARSE)
def sc_scalar_outside_smem(event: Access, context: Context) -> Finding | None:
    """A scalar is loaded from VMEM or stored to it."""
    if event.ref.root.space != "vmem" or event.shape != () or event.fault is not None:
        return None
    if event.op == "load":
        advice, jax = "load a vector and index it", "Get only supports loading scalars from SMEM. To load a scalar from VMEM, load an array first ..."
    else:
        advice, jax = "store a vector, or keep scalars in SMEM", "Swap only supports scalars in SMEM. Trying to swap a scalar in VMEM."
    return Finding(
        event.where.at(words.target(event)),
        f"a scalar of {words.name(event.ref)}, which is in VMEM: a subcore has only vectors there, {advice}",
        words.decided(event.ref),
        jax,
    )


def registers(dtype: str | None, target: str | None) -> list[tuple[int, ...]]:
    """The shapes of one register of a SparseCore, of the target or of any chip; none where the dtype is not known."""
    bits = dtypes.bits(dtype) if dtype is not None else None
    packing = 32 // max(bits, 8) if bits is not None and bits <= 32 else 0
    shapes = ([(lanes * packing,), (packing, lanes)] if packing > 1 else [(lanes,)] for lanes in sorted(chips.lanes(target)))
    return [shape for found in shapes for shape in found] if packing else []


def listed(shapes: list[tuple[int, ...]]) -> str:
    """Shapes in words: ``(8,) or (16,)``."""
    return " or ".join(map(words.shape, shapes))


@rule("sc-vector-shape", on=Access, also=(SubcoreCall,), order=85, stage="lower", cores=SPARSE)
def sc_vector_shape(event: Access | SubcoreCall, context: Context) -> Finding | None:
    """A load, a store or a gather of another shape than one register."""
    if isinstance(event, SubcoreCall):
        return _of_gather(event, context)
    shape, dtype = event.shape, event.ref.dtype
    allowed = registers(dtype, context.target)
    whole = bool(shape) and all(isinstance(dim, int) for dim in shape or ())
    if event.where.core.registers is not True or not whole or not allowed or shape in allowed or event.fault is not None:
        return None
    verb = "loaded from" if event.op == "load" else "stored to"
    return Finding(
        event.where.at(words.target(event)),
        f"{dtype} of shape {words.shape(shape)} {verb} {words.name(event.ref)}: with `needs_layout_passes=False` it is one register, {listed(allowed)}",
        words.shaped(event.ref),
        f"{_verb(event)} only supports {dtype} arrays of shapes [({allowed[-1][0]},)], got {words.shape(shape)}",
    )


def _of_gather(event: SubcoreCall, context: Context) -> Finding | None:
    """A gather by indices, which always gives one register."""
    ref, indices = event.given.get("ref"), event.given.get("indices")
    first = indices[0] if isinstance(indices, tuple | list) and indices else None
    if event.function != "load_gather" or not isinstance(ref, Ref) or not isinstance(first, Array):
        return None
    shape, allowed = first.shape, registers(ref.dtype, context.target)
    if not allowed or shape is None or len(shape) != 1 or not isinstance(shape[0], int) or shape in allowed:
        return None
    jax = f"Gather only supports {ref.dtype} arrays of shapes [{words.shape(allowed[-1])}], got {words.shape(shape)}"
    what = f"`plsc.load_gather` by {shape[0]} indices: it gives one register, {listed(allowed)}"
    return Finding(event.where.location, what, jax_message=jax)

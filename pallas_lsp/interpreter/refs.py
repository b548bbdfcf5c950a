"""Refs: indexers, views, loads and stores.

The order of an indexer's faults, and what an access sees, mirror ``jax/_src/state/indexing.py`` (``NDIndexer``),
``jax/_src/state/primitives.py`` (``get``/``swap`` abstract evaluation) and ``jax/_src/pallas/mosaic/lowering.py``
(``_load_lowering_rule``, ``_swap_lowering_rule``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ..data.versions import parse_version, satisfies
from ..shapes import dims, dtypes, indexing
from ..shapes.avals import Aval, ShapeError
from ..shapes.dims import MaybeDim, Poly, Shape, Truth
from .events import Access, CopyEvent, CopyRef, IndexEntry, RefAsArray, SemaphoreValue, ViewEvent
from .frames import Frame
from .liveness import arrays_in, mark_live
from .machine import Machine
from .operators import SEMAPHORE_DTYPES
from .paths import PathEnd
from .truth import as_dim
from .values import ABSENT, Array, DynamicSlice, Ref, RefIndexer, RefRoot, RefTransform, Unknown, Value

Fault = tuple[str, Any, ast.AST | None]


def entries_of(index: Value, slice_node: ast.AST | None) -> tuple[IndexEntry, ...]:
    """The entries of an indexer with their nodes, where the program writes them one by one."""
    values = index if isinstance(index, tuple) else (index,)
    nodes: list[ast.AST | None] = [slice_node] * len(values)
    if isinstance(slice_node, ast.Tuple) and isinstance(index, tuple) and not any(isinstance(n, ast.Starred) for n in slice_node.elts):
        nodes = list(slice_node.elts)
    return tuple(IndexEntry(_kind(value), value, node) for value, node in zip(values, nodes, strict=False))


def _kind(value: Value) -> str:
    if value is None:
        return "none"
    if value is Ellipsis:
        return "ellipsis"
    for kinds, name in (
        ((bool,), "bool"),
        ((int, Poly), "int"),
        ((float,), "float"),
        ((str,), "str"),
        ((list,), "list"),
        ((slice,), "slice"),
    ):
        if isinstance(value, kinds):
            return name
    if isinstance(value, DynamicSlice):
        return "ds"
    if isinstance(value, Ref | RefIndexer):
        return "ref"
    if isinstance(value, Array):
        return _array_kind(value)
    if isinstance(value, tuple) and value and all(_kind(part) in ("int", "slice", "ds") for part in value):
        return "tuple"
    return "unknown"


def _array_kind(value: Array) -> str:
    if value.shape is None:
        return "unknown"
    if value.shape:
        return "array" if value.traced else "numpy"
    if value.dtype is not None and dtypes.is_floating(value.dtype):
        return "float"
    return "bool" if value.dtype == "bool" else "int"


def index_fault(
    shape: Shape, entries: tuple[IndexEntry, ...], facts: Any, dynamic_sizes: bool = False, from_zero: bool = True
) -> Fault | None:
    """The first fault JAX finds in an indexer while tracing, as ``(rule id, detail, node)``; None when none is certain.

    ``dynamic_sizes``: a traced size is allowed (copies).
    """
    if any(entry.kind == "unknown" for entry in entries):
        return None
    ellipses = [entry for entry in entries if entry.kind == "ellipsis"]
    if len(ellipses) > 1:
        return "multiple-ellipsis", None, ellipses[1].node
    unsupported = next((entry for entry in entries if entry.kind in ("list", "tuple", "str")), None)
    if unsupported is not None:
        return "unsupported-index-type", unsupported.kind, unsupported.node
    if shape is None or _is_none_alone(entries):
        return _slice_form_fault(entries, dynamic_sizes)
    if len(entries) - len(ellipses) > len(shape):
        return "too-many-indices", (len(entries) - len(ellipses), shape), entries[-1].node
    if len(entries) > 1 and any(entry.kind == "none" for entry in entries):
        return "unsupported-index-type", "none", next(entry.node for entry in entries if entry.kind == "none")
    return _slice_form_fault(entries, dynamic_sizes) or _ref_fault(entries) or _bounds_fault(shape, entries, facts, from_zero)


def _is_none_alone(entries: tuple[IndexEntry, ...]) -> bool:
    """Whether the indexer is a lone None, which selects everything."""
    return len(entries) == 1 and entries[0].kind == "none"


def _slice_form_fault(entries: tuple[IndexEntry, ...], dynamic_sizes: bool) -> Fault | None:
    for entry in entries:
        value = entry.value
        if isinstance(value, slice):
            step = as_dim(value.step) if value.step is not None else 1
            if isinstance(step, int) and step < 1:
                return "slice-step-not-positive", step, entry.node
            if any(isinstance(part, Array) and part.traced for part in (value.start, value.stop, value.step)):
                return "dynamic-python-slice", value, entry.node
        if isinstance(value, DynamicSlice):
            stride = as_dim(value.stride)
            if isinstance(stride, int) and stride < 0:
                return "slice-step-not-positive", stride, entry.node
            if isinstance(value.size, Array) and value.size.traced and not dynamic_sizes:
                return "dynamic-slice-size", value, entry.node
    return None


def _ref_fault(entries: tuple[IndexEntry, ...]) -> Fault | None:
    refs = [entry for entry in entries if entry.kind == "ref"]
    if len(refs) > 1:
        return "ref-indexers", "several", refs[1].node
    if refs and isinstance(refs[0].value, Ref) and refs[0].value.shape and any(entry.kind in ("int", "array") for entry in entries):
        return "ref-indexers", "mixed", refs[0].node
    return None


def _bounds_fault(shape: tuple[MaybeDim, ...], entries: tuple[IndexEntry, ...], facts: Any, from_zero: bool) -> Fault | None:
    """A static ``pl.ds`` beyond its dim; Python slices clamp and ints are not checked. ``from_zero``: JAX may look at one that starts at 0
    too, which it does since 0.12.
    """
    for axis, entry in zip(axes(shape, entries), entries, strict=True):
        if axis is None:
            continue
        if isinstance(entry.value, slice):
            beyond = _empty_beyond(entry.value, facts.resolve(shape[axis]))
            if beyond is not None:
                return "slice-out-of-bounds", (beyond, 0, 1, beyond, axis), entry.node
        if not isinstance(entry.value, DynamicSlice):
            continue
        start, size, stride = (static_int(part) for part in (entry.value.start, entry.value.size, entry.value.stride))
        dim = facts.resolve(shape[axis])
        if start is None or size is None or stride is None or not isinstance(dim, int) or start < 0 or (start == 0 and not from_zero):
            continue
        if start >= dim or start + (size - 1) * stride >= dim:
            return "slice-out-of-bounds", (start, size, stride, dim, axis), entry.node
    return None


def _checks_from_zero(machine: Machine) -> bool:
    """Whether the stated JAX may check a slice that starts at 0."""
    version = parse_version(machine.jax_version) if machine.jax_version is not None else None
    return version is None or satisfies(version, "0.12", None)


def _empty_beyond(value: slice, dim: MaybeDim) -> int | None:
    """The dim, where a Python slice starts beyond it: clamped to nothing at the end, which JAX refuses."""
    bounds = [part for part in (value.start, value.stop, value.step) if part is not None]
    if not isinstance(dim, int) or value.start is None or not all(isinstance(part, int) for part in bounds) or value.step == 0:
        return None
    start, stop, step = value.indices(dim)
    return dim if step > 0 and start >= dim and stop <= start else None


def static_int(value: Value) -> int | None:
    """The value as a Python int, if it is one."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def axes(shape: tuple[MaybeDim, ...], entries: tuple[IndexEntry, ...]) -> list[int | None]:
    """The axis that each entry indexes, None for an ellipsis."""
    result: list[int | None] = []
    axis = 0
    for entry in entries:
        if entry.kind == "ellipsis":
            result.append(None)
            axis += len(shape) - (len(entries) - 1)
        else:
            result.append(axis)
            axis += 1
    return result


def indexed_shape(shape: Shape, entries: tuple[IndexEntry, ...], facts: Any) -> Shape:
    """The shape of what an indexer selects, None when the rank is not known."""
    from .subscripts import key_part

    if shape is not None and any(entry.kind in _GATHERS for entry in entries):
        return _array_indexed_shape(shape, entries, facts)
    if shape is None or any(entry.kind in ("unknown", "numpy", "bool") for entry in entries):
        return _all_scalar_shape(shape, entries)
    if _is_none_alone(entries):
        return shape
    try:
        resolved = facts.resolve_shape(shape)
        return indexing.ref_index(resolved, tuple(key_part(entry.value) for entry in entries))
    except ShapeError:
        return None


_GATHERS = ("array", "ref", "float")


def _array_indexed_shape(shape: tuple[MaybeDim, ...], entries: tuple[IndexEntry, ...], facts: Any) -> Shape:
    """What arrays and scalars of one known shape select: that shape, then the dims that are sliced; None for anything else."""
    if any(entry.kind not in (*_GATHERS, "int", "slice", "ds", "ellipsis") for entry in entries):
        return None
    picked = {entry.value.shape for entry in entries if entry.kind in ("array", "ref")} - {()}
    plain = tuple(IndexEntry("int", 0) if entry.kind in _GATHERS else entry for entry in entries)
    rest = indexed_shape(shape, plain, facts)
    return (*(picked.pop() if picked else ()), *rest) if len(picked) < 2 and rest is not None and None not in picked else None


def _all_scalar_shape(shape: Shape, entries: tuple[IndexEntry, ...]) -> Shape:
    """Where every dim is known to be indexed by a scalar the result is a scalar, whatever else is unknown."""
    if shape is not None and len(shape) == len(entries) and all(entry.kind in ("int", "float", "bool") for entry in entries):
        return ()
    return None


def view(machine: Machine, ref: Ref, index: Value, node: ast.AST, frame: Frame, slice_node: ast.AST | None) -> Value:
    """``ref.at[index]``."""
    entries = entries_of(index, slice_node)
    fault = index_fault(ref.shape, entries, machine.path.facts, True, _checks_from_zero(machine))
    machine.emit(ViewEvent(machine.where(node, frame), "index", ref, entries, fault))
    first = entries[0] if entries and entries[0].kind in ("array", "ref") else None
    if first is not None and first.kind == "ref" and machine.kernel is not None and machine.kernel.core.is_sparse:
        entries = (_by_contents(first), *entries[1:])
    shape = indexed_shape(ref.shape, entries, machine.path.facts) if fault is None else None
    picks = first.value if first is not None else None
    strided, narrow = any(_is_strided(entry.value) for entry in entries), next(filter(None, map(_narrow, entries)), "")
    step = RefTransform("index", strided=strided, picks=picks, narrow=narrow)
    return Ref(ref.root, shape, ref.dtype, (*ref.transforms, step), ref.shape, tuple(entry.value for entry in entries), ref.named)


def _by_contents(entry: IndexEntry) -> IndexEntry:
    """An index that is a ref as the array that it holds: a copy of a SparseCore gathers or scatters by it."""
    ref = entry.value.ref if isinstance(entry.value, RefIndexer) else entry.value
    return IndexEntry("array", Array(Aval(ref.shape, ref.dtype, False)), entry.node) if ref.shape is not None else entry


def _narrow(entry: IndexEntry) -> str:
    """The dtype of a traced scalar of fewer than 32 bits that the index, or a slice, starts at."""
    start = entry.value.start if isinstance(entry.value, DynamicSlice) else entry.value
    if not isinstance(start, Array) or not start.traced or start.constant is not None or start.shape != ():
        return ""
    return start.dtype if start.dtype is not None and dtypes.is_integer(start.dtype) and (dtypes.bits(start.dtype) or 32) < 32 else ""


def _is_strided(value: Value) -> bool:
    step = value.step if isinstance(value, slice) else value.stride if isinstance(value, DynamicSlice) else None
    step = as_dim(step) if step is not None else 1
    return step is not None and step != 1


def transposed(ref: Ref, permutation: tuple[int, ...] | None) -> Ref:
    """``ref.T`` / ``ref.transpose(permutation)``: a view that JAX cannot lower."""
    shape = ref.shape
    if shape is not None:
        order = permutation if permutation is not None and len(permutation) == len(shape) else tuple(reversed(range(len(shape))))
        shape = tuple(shape[axis] for axis in order) if set(order) == set(range(len(shape))) else None
    return Ref(ref.root, shape, ref.dtype, (*ref.transforms, RefTransform("transpose")), ref.shape, named=ref.named)


def load(
    machine: Machine,
    ref: Ref,
    index: Value,
    node: ast.AST,
    frame: Frame,
    api: str = "subscript",
    slice_node: ast.AST | None = None,
    mask: Value = ABSENT,
) -> Value:
    """Read a ref; the result carries the access, so that a use marks it live."""
    entries = () if index is ABSENT else entries_of(index, slice_node)
    if _is_outside(machine, ref):
        return Array(Aval(_outside_shape(machine, ref, entries), ref.dtype, False, ref.named), made_by=node)
    access = _access(machine, "load", api, ref, entries, node, frame)
    access.mask = mask
    access.operands = (*arrays_in(ref.key or ()), *(array for entry in entries for array in arrays_in(entry.value)), *arrays_in(mask))
    machine.emit(access)
    if access.fault is not None:
        return Unknown("an access that JAX refuses")
    held = Aval(access.shape, ref.dtype, False, ref.named)
    access.result = Array(held, (access,), made_by=node, multiple=1 if access.shape == () else None)
    return access.result


def store(
    machine: Machine,
    ref: Ref,
    index: Value,
    value: Value,
    node: ast.AST,
    frame: Frame,
    *,
    op: str = "store",
    api: str = "subscript",
    slice_node: ast.AST | None = None,
    target: ast.AST | None = None,
    value_node: ast.AST | None = None,
    cast: bool = True,
    mask: Value = ABSENT,
) -> Value:
    """Write a ref; gives the old contents for a swap, None for a store."""
    entries = () if index is ABSENT else entries_of(index, slice_node)
    if _is_outside(machine, ref):
        return Array(Aval(_outside_shape(machine, ref, entries), ref.dtype, False, ref.named), made_by=node) if op == "swap" else None
    _kept(machine, ref.root, value, mask, ref, tuple(entry.value for entry in entries))
    machine.effect(ref.root)
    if isinstance(value, Ref | RefIndexer):
        machine.emit(RefAsArray(machine.where(value_node or node, frame), "store", value.ref if isinstance(value, RefIndexer) else value))
        return Unknown("a ref is stored")
    if ref.dtype in SEMAPHORE_DTYPES:
        machine.emit(SemaphoreValue(machine.where(target or node, frame), "=", ref.dtype or ""))
        return Unknown("a semaphore is used as a number")
    access = _access(machine, op, api, ref, entries, node, frame)
    access.value, access.value_node, access.target_node, access.cast, access.mask, access.live = value, value_node, target, cast, mask, True
    machine.emit(access)
    return Array(Aval(access.shape, ref.dtype, False, ref.named), (), made_by=node) if op == "swap" else None


def _is_outside(machine: Machine, ref: Ref) -> bool:
    """Whether a ref of the program's own is used where no mesh kernel runs: on the host it is no kernel's affair, and in a ``pallas_call``
    nobody knows."""
    return ref.root.role == "outside" and (machine.kernel is None or not machine.kernel.in_mesh)


def _outside_shape(machine: Machine, ref: Ref, entries: tuple[IndexEntry, ...]) -> Shape:
    return indexed_shape(ref.shape, entries, machine.path.facts) if entries and not _is_full(entries) else ref.shape


def _kept(machine: Machine, root: RefRoot, *values: Value) -> None:
    """Mark what a store into ``root`` needs as used: JAX keeps a store as long as the scope that its ref lives in."""
    scope = next((scope for scope in reversed(machine.scopes) if id(root) in scope.roots), None)
    if scope is None or scope.region.live:
        mark_live(*values)
    else:
        scope.region.operands += values


def _access(machine: Machine, op: str, api: str, ref: Ref, entries: tuple[IndexEntry, ...], node: ast.AST, frame: Frame) -> Access:
    where = machine.where(node, frame)
    if id(ref.root) in machine.escaped:
        machine.emit(machine.escaped[id(ref.root)])
        raise PathEnd("a scoped ref that comes out of its scope")
    last_is_view = bool(ref.transforms) and ref.transforms[-1].kind == "index"
    if last_is_view and _is_full(entries):
        # A trailing `[...]` after `.at[...]` reuses that indexer.
        transforms, before, shape, fault = ref.transforms[:-1], ref.before, ref.shape, _dynamic_size(ref)
    else:
        fault = index_fault(ref.shape, entries, machine.path.facts, False, _checks_from_zero(machine))
        shape = indexed_shape(ref.shape, entries, machine.path.facts) if fault is None else None
        transforms, before = ref.transforms, ref.shape
    if not transforms:
        before = ref.root.block  # type: ignore[assignment]  # squeezed dims count as dims here
    return Access(where, op, api, ref, entries, shape, fault, before=before, transforms=transforms)


def _dynamic_size(ref: Ref) -> Fault | None:
    """A traced size in the view that is read or written: only copies take one."""
    value = next((v for v in ref.key or () if isinstance(v, DynamicSlice) and isinstance(v.size, Array) and v.size.traced), None)
    return ("dynamic-slice-size", value, None) if value is not None else None


def _is_full(entries: tuple[IndexEntry, ...]) -> bool:
    return not entries or (len(entries) == 1 and entries[0].kind == "ellipsis")


def copied(machine: Machine, role: str, value: Value, node: ast.AST, frame: Frame) -> Iterator[CopyEvent | CopyRef]:
    """Note an operand of a copy, and give its event: it must be a ref."""
    event: CopyEvent | CopyRef
    if isinstance(value, Array | bool | int | float):
        event = CopyEvent(machine.where(node, frame), role, value)
    elif isinstance(value, Ref):
        event = CopyRef(machine.where(node, frame), role, value)
    else:
        return
    machine.emit(event)
    yield event


def same_shape(facts: Any, a: Shape, b: Shape) -> Truth:
    """Whether two shapes are equal; unknown ranks and dims leave it undecided."""
    if a is None or b is None:
        return Truth.MAYBE
    if len(a) != len(b):
        return Truth.NO
    return dims.and_(*(facts.same(x, y) for x, y in zip(a, b, strict=True))) if a else Truth.YES

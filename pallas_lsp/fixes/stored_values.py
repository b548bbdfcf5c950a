"""A stored value gets the shape and the dtype of what it overwrites."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import combinations

from ..interpreter.events import Access
from ..interpreter.values import Array
from ..resolve.project import Project
from ..rules.diagnostic import Applicability, Fix
from ..rules.stored_values import casts_silently, stored_aval
from ..shapes import dims, dtypes
from ..shapes.dims import MaybeDim, Shape, Truth
from ..text.edits import insert_keyword, replace_argument
from ..text.span import Edit
from .access import FULL, One, Written, written
from .code import NUMPY, Code
from .registry import Candidate, fixes, joined, make
from .scalars import full_value, keepdims, ways_out
from .smem import scalar_loop


@fixes("store-shape-mismatch")
def fitting_shape(event: Access, project: Project) -> Iterator[Candidate]:
    """Give the value the shape of the place, or the place that of the value."""
    access, aval = written(event), stored_aval(event)
    if access is None or aval is None or aval.shape is None or event.shape is None:
        return
    if aval.shape == () and event.ref.root.space == "smem":
        yield (*_one_scalar(access), *scalar_loop(access))
        return
    groups = _of_a_vector(access, event.shape, aval.shape) if aval.shape else [(*_kept_dims(access), *_filled(access))]
    casts = () if _has_fitting_dtype(event) else _casts(access)
    for group in groups:
        yield (*group, *(_both(access, fix, cast) for fix in group for cast in casts))


def _both(access: Written, inner: Fix, outer: Fix) -> Fix:
    assert access.value is not None
    return joined(inner, outer, access.code.span(access.value))


def _has_fitting_dtype(event: Access) -> bool:
    """Whether the dtype of the value is no fault, as far as that is known."""
    aval, wanted = stored_aval(event), event.ref.dtype
    return aval is None or wanted is None or aval.dtype in (None, wanted) or (event.cast and casts_silently(wanted, aval))


def _one_scalar(access: Written) -> Iterator[Fix]:
    """The one scalar of a ref in SMEM is stored to by integers."""
    integers = access.integers()
    index = access.write_index(integers) if integers is not None else None
    if index is not None:
        yield make(f"Store to the one scalar of `{access.holder_text}`", "safe", index)


def _kept_dims(access: Written) -> Iterator[Fix]:
    kept = keepdims(access.code, access.value)
    if kept is not None:
        yield make("Keep the dims of the reduction", "safe", kept)


def _filled(access: Written) -> Iterator[Fix]:
    """A store does not broadcast a scalar: say that it goes everywhere."""
    name = access.holder_text
    if access.is_whole and isinstance(access.value, ast.Constant) and access.value.value == 0:
        zeros = access.code.name(f"{NUMPY}.zeros_like")
        if zeros is not None:
            yield make(f"Store zeros to all of `{name}`", "safe", zeros.edits, [access.code.replace(access.value, f"{zeros.text}({name})")])
    filled = _full_of(access)
    if filled is not None:
        where = f"all of `{name}`" if access.is_whole else f"the whole slice of `{name}`"
        yield make(f"Store the scalar to {where}", "safe", filled)


def _full_of(access: Written) -> tuple[Edit, ...] | None:
    """The edits that make an array of the scalar, of the shape and dtype of the place."""
    shape, place = access.shape_text(), access.event.target_node
    if shape is not None and _has_fitting_dtype(access.event):
        return full_value(access, shape)
    # A load that only its shape and dtype are taken of is dropped before lowering.
    name = access.holder_text if access.is_whole else access.code.text(place) if place is not None else None
    like = access.code.name(f"{NUMPY}.full_like")
    value = access.wrap_value(f"{like.text}({name}, ", ")") if like is not None and name is not None else None
    return (*like.edits, *value) if like is not None and value is not None else None


def _of_a_vector(access: Written, wanted: tuple[MaybeDim, ...], given: tuple[MaybeDim, ...]) -> Iterator[tuple[Fix, ...]]:
    same, shape = _Shapes(access), access.shape_text()
    unit_dims = (*_unit_dims(access, same, wanted, given), *_place_of_one(access, wanted, given))
    yield (*_kept_dims(access), *_made_anew(access, shape), *unit_dims)
    index = access.write_index([FULL] * len(access.dims))
    if index is not None and not access.is_whole and same(tuple(axis.size for axis in access.dims), given):
        yield (make(f"Store to all of `{access.holder_text}`", "unsafe", index),)
    yield tuple(_loaded_whole(access, same, wanted))
    if shape is None or unit_dims:
        return
    broadcast = access.code.name(f"{NUMPY}.broadcast_to")
    if broadcast is not None and same.broadcasts(given, wanted):
        edits = access.wrap_value(f"{broadcast.text}(", f", {shape})")
        yield (make("Broadcast the value", "unsafe", broadcast.edits, edits or ()),)
    elif same.same(dims.product(wanted), dims.product(given)):
        yield (make("Reshape the value", "unsafe", access.wrap_value("", f".reshape({shape})") or ()),)


def _made_anew(access: Written, shape: str | None) -> Iterator[Fix]:
    """``jnp.zeros`` and its like are made of the shape of the place."""
    call = access.value
    if isinstance(call, ast.Call) and call.args and shape is not None:
        module, _, short = (access.code.qualified(call.func) or "").rpartition(".")
        if module == NUMPY and short in ("zeros", "ones", "full", "empty") and not isinstance(call.args[0], ast.Starred):
            edit = replace_argument(access.code.module.source, call.args[0], shape)
            yield make(f"Make the value of the shape of `{access.holder_text}`", "safe", [edit])


class _Shapes:
    """Comparing shapes by what the path knows."""

    def __init__(self, access: Written) -> None:
        self._facts = access.event.where.facts

    def __call__(self, a: Shape, b: Shape) -> bool:
        return a is not None and b is not None and len(a) == len(b) and all(map(self.same, a, b))

    def same(self, a: MaybeDim, b: MaybeDim) -> bool:
        return self._facts.same(a, b) is Truth.YES

    def broadcasts(self, given: tuple[MaybeDim, ...], wanted: tuple[MaybeDim, ...]) -> bool:
        if len(given) > len(wanted):
            return False
        return all(self.same(a, 1) or self.same(a, b) for a, b in zip(reversed(given), reversed(wanted), strict=False))

    def unit_dims(self, longer: tuple[MaybeDim, ...], shorter: tuple[MaybeDim, ...]) -> list[bool] | None:
        """For each dim of ``longer``, whether it is one of size 1 that ``shorter`` lacks; None where that is not the difference."""
        units = [position for position, size in enumerate(longer) if self.same(size, 1)]
        for missing in combinations(units, len(longer) - len(shorter)):
            if self(tuple(size for position, size in enumerate(longer) if position not in missing), shorter):
                return [position in missing for position in range(len(longer))]
        return None


def _unit_dims(access: Written, same: _Shapes, wanted: tuple[MaybeDim, ...], given: tuple[MaybeDim, ...]) -> Iterator[Fix]:
    """The shapes differ in dims of size 1 only: the value gets them by ``[None]``, or loses them by ``[0]``."""
    if len(wanted) > len(given):
        missing = same.unit_dims(wanted, given)
        index = access.wrap_value("", f"[{_index_text(missing, 'None')}]") if missing is not None else None
        if index is not None:
            yield make("Give the value the dims of size 1 that it lacks", "safe", index)
    elif len(wanted) < len(given):
        missing = same.unit_dims(given, wanted)
        if missing is None:
            return
        load = _whole_load(access.code, access.value)
        text = _index_text(missing, "0")
        index = access.wrap_value("", f"[{text}]")
        if load is not None:
            yield make("Load without the dims of size 1", "safe", [access.code.replace(load.slice, text)])
        elif index is not None:
            yield make("Take the dims of size 1 from the value", "safe", index)


def _place_of_one(access: Written, wanted: tuple[MaybeDim, ...], given: tuple[MaybeDim, ...]) -> Iterator[Fix]:
    """A vector of one element is stored where integers index: they become slices."""
    parts = access.with_slices(len(given))
    index = access.write_index(parts)
    if wanted == () and index is not None and all(map(access.is_one, given)) and sum(isinstance(part, One) for part in parts) == len(given):
        yield make(f"Store to a slice of one element of `{access.holder_text}`", "safe", index)


def _index_text(missing: list[bool], mark: str) -> str:
    last = max(position for position, is_missing in enumerate(missing) if is_missing)
    return ", ".join(mark if is_missing else ":" for is_missing in missing[: last + 1])


def _whole_load(code: Code, node: ast.expr | None) -> ast.Subscript | None:
    """``ref[...]``, where the value is written so."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value is Ellipsis:
        return node
    return None


def _loaded_whole(access: Written, same: _Shapes, wanted: tuple[MaybeDim, ...]) -> Iterator[Fix]:
    """The value was computed from an indexed ref that has the wanted shape itself: an index too many."""
    loads = [operand for operand in _loads(access.event.value) if operand.api == "subscript" and same(operand.ref.shape, wanted)]
    for load in loads[:1]:
        node = load.where.node
        if isinstance(node, ast.Subscript) and load.entries and load.where.module is access.code.module:
            name = access.code.text(node.value)
            yield make(f"Load all of `{name}`", "unsafe", [access.code.replace(node.slice, "...")])


def _loads(value: object, depth: int = 6) -> list[Access]:
    """The loads that a value was computed from, nearest first."""
    if isinstance(value, Access):
        return [value]
    if isinstance(value, Array) and depth:
        return [load for operand in value.operands for load in _loads(operand, depth - 1)]
    return []


@fixes("store-dtype-mismatch")
def fitting_dtype(event: Access, project: Project) -> Iterator[Candidate]:
    """Cast the value to the dtype of the ref, or make it of that dtype; a scalar in VMEM is no better for it, so make a vector too."""
    access = written(event)
    casts = _casts(access) if access is not None else ()
    scalar = ways_out(event, access) if event.shape == () and event.ref.root.space == "vmem" else ()
    if access is not None:
        yield (*casts, *(_both(access, cast, way) for group in scalar for way in group for cast in casts))


def _casts(access: Written) -> tuple[Fix, ...]:
    """Ways to give the value the dtype of the ref, best first."""
    event, value, aval, wanted = access.event, access.value, stored_aval(access.event), access.event.ref.dtype
    if value is None or aval is None or aval.dtype is None or wanted is None:
        return ()
    lossless = not dtypes.is_floating(aval.dtype) or dtypes.is_floating(wanted)
    applicability: Applicability = "safe" if lossless and wanted != "bool" else "unsafe"
    if isinstance(value, ast.Constant) or (not isinstance(event.value, Array) and event.api != "augmented"):
        return _number(access, value, wanted, applicability)
    name = access.holder_text
    created = _created(access.code, value, f"{name}.dtype")
    cast = access.wrap_value("", f".astype({name}.dtype)") or ()
    made = (make(f"Make the value of the dtype of `{name}`", applicability, created),) if created is not None else ()
    return (*made, make(f"Cast the value to the dtype of `{name}`", applicability, cast))


def _number(access: Written, node: ast.expr, wanted: str, applicability: Applicability) -> tuple[Fix, ...]:
    """A Python number: a literal is written as the other kind, anything else is converted."""
    kind = "float" if dtypes.is_floating(wanted) else "bool" if wanted == "bool" else "int"
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        converted = {"float": float, "bool": bool, "int": int}[kind](node.value)
        exact: Applicability = "safe" if converted == node.value else "unsafe"
        return (make(f"Write {converted!r}", exact, [access.code.replace(node, repr(converted))]),)
    return (make(f"Convert the number by `{kind}`", applicability, access.wrap_value(f"{kind}(", ")") or ()),)


# Which positional argument of a function that makes an array is its dtype.
_DTYPE_ARGUMENT = {"zeros": 1, "ones": 1, "empty": 1, "full": 2, "array": 1, "asarray": 1, "arange": 3}


def _created(code: Code, node: ast.expr, dtype: str) -> tuple[Edit, ...] | None:
    """The edits that give ``jnp.zeros(...)`` and its like the dtype."""
    qualified = code.qualified(node.func) if isinstance(node, ast.Call) else None
    if not isinstance(node, ast.Call) or qualified is None or any(isinstance(argument, ast.Starred) for argument in node.args):
        return None
    module, _, short = qualified.rpartition(".")
    position = _DTYPE_ARGUMENT.get(short)
    if module != NUMPY or position is None or any(keyword.arg is None for keyword in node.keywords):
        return None
    given = next((keyword for keyword in node.keywords if keyword.arg == "dtype"), None)
    argument = given or (node.args[position] if len(node.args) > position else None)
    if argument is not None:
        return (replace_argument(code.module.source, argument, dtype),)
    return (insert_keyword(code.module.source, node, "dtype", dtype),)



"""The functions of ``plsc``: what the subcores of a SparseCore have beside ``jax.numpy``.

Mirrors ``jax/_src/pallas/mosaic/sc_primitives.py``.
"""

from __future__ import annotations

from dataclasses import replace

from ...shapes import dims, dtypes
from ...shapes.avals import Aval
from ..liveness import mark_live
from ..operation_events import SubcoreCall
from ..refs import load, store
from ..truth import dtype_of
from ..values import ABSENT, Array, Library, Ref, Value
from .registry import SPARSE, Call, models


def _note(call: Call, *names: str) -> dict[str, Value]:
    """Say what the function is given, under the names of its positional parameters."""
    given = dict(zip(names, call.args, strict=False)) | call.kwargs
    for name in names:
        given.setdefault(name, ABSENT)
    if call.arguments.exact and call.machine.kernel is not None:
        call.machine.emit(SubcoreCall(call.machine.where(call.node, call.frame), call.name.rpartition(".")[2], given))
    return given


def _like(value: Value, dtype: str | None = None) -> Value | None:
    """An array of the shape of ``value``, computed from it."""
    if not isinstance(value, Array):
        return None
    return Array(replace(value.aval, dtype=dtype or value.dtype, weak=False), (value,))


@models(f"{SPARSE}.load_expanded")
def _load_expanded(call: Call) -> Value:
    ref = _note(call, "ref")["ref"]
    if not isinstance(ref, Ref):
        return call.unknown()
    return load(call.machine, ref, ABSENT, call.node, call.frame, "plsc", mask=call.kwargs.get("mask", ABSENT))


@models(f"{SPARSE}.addupdate", f"{SPARSE}.store_compressed", f"{SPARSE}.addupdate_compressed")
def _store(call: Call) -> Value:
    given = _note(call, "ref", "x")
    ref = given["ref"]
    mark_live(given["x"], call.kwargs.get("mask"))
    if isinstance(ref, Ref):
        op = "addupdate" if "addupdate" in call.name else "store"
        store(call.machine, ref, ABSENT, None, call.node, call.frame, op=op, api="plsc", mask=call.kwargs.get("mask", ABSENT))
    return None


@models(f"{SPARSE}.load_gather")
def _load_gather(call: Call) -> Value:
    given = _note(call, "ref", "indices")
    ref, indices = given["ref"], given["indices"]
    first = indices[0] if isinstance(indices, tuple | list) and indices else None
    shape = first.shape if isinstance(first, Array) else None
    return Array(Aval(shape, ref.dtype if isinstance(ref, Ref) else None, False), tuple(indices) if shape is not None else ())


@models(f"{SPARSE}.store_scatter", f"{SPARSE}.addupdate_scatter")
def _store_scatter(call: Call) -> Value:
    given = _note(call, "ref", "indices", "x")
    call.machine.effect(given["ref"].root if isinstance(given["ref"], Ref) else None)
    mark_live(given["indices"], given["x"], call.kwargs.get("mask"))
    return None


@models(f"{SPARSE}.cumsum", f"{SPARSE}.cummax", f"{SPARSE}.cummin")
def _cumulative(call: Call) -> Value:
    return _like(_note(call, "x")["x"]) or call.unknown()


@models(f"{SPARSE}.scan_count")
def _scan_count(call: Call) -> Value:
    value = _note(call, "x", "mask")["x"]
    return (_like(value, "int32"), _like(value, "bool")) if isinstance(value, Array) else call.unknown()


@models(f"{SPARSE}.sort_key_val")
def _sort_key_val(call: Call) -> Value:
    given = _note(call, "keys", "values")
    found = [_like(given[name]) for name in ("keys", "values")]
    mask = given.get("mask")
    if mask is not None:
        found.append(_like(mask))
    return call.unknown() if None in found else tuple(found)


@models(f"{SPARSE}.all_reduce_population_count", f"{SPARSE}.all_reduce_ffs")
def _all_reduce(call: Call) -> Value:
    value, by = _note(call, "x")["x"], call.kwargs.get("reduce", 1)
    if not isinstance(value, Array) or value.shape is None or len(value.shape) != 1 or not isinstance(by, int) or by < 1:
        return call.unknown()
    return Array(Aval((dims.floordiv(value.shape[0], by),), "int32", False), (value,))


_HALVES, _DOUBLES = {"float32": "bfloat16", "int32": "int16"}, {"bfloat16": "float32", "int16": "int32"}


@models(f"{SPARSE}.pack")
def _pack(call: Call) -> Value:
    first, form = _note(call, "a", "b")["a"], _format(call)
    if not isinstance(first, Array) or first.shape is None or len(first.shape) != 1 or form is None:
        return call.unknown()
    dtype = dtype_of(call.kwargs.get("preferred_element_type")) or _HALVES.get(first.dtype or "")
    shape = (dims.mul(2, first.shape[0]),) if form == "INTERLEAVED" else (first.shape[0], 2)
    return Array(Aval(shape, dtype, False), tuple(call.args))


@models(f"{SPARSE}.unpack")
def _unpack(call: Call) -> Value:
    value = _note(call, "ab")["ab"]
    if not isinstance(value, Array) or value.shape is None or _format(call) is None:
        return call.unknown()
    dtype = dtype_of(call.kwargs.get("preferred_element_type")) or _DOUBLES.get(value.dtype or "")
    half = Aval((dims.floordiv(dims.product(value.shape), 2),), dtype, False)
    return Array(half, (value,)), Array(half, (value,))


def _format(call: Call) -> str | None:
    """The member of ``plsc.PackFormat`` that is given, None where that is not known."""
    given = call.kwargs.get("format")
    name = given.name.rpartition(".")[2] if isinstance(given, Library) else ""
    return name if name in ("INTERLEAVED", "COMPRESSED") else None


@models(f"{SPARSE}.bitcast")
def _bitcast(call: Call) -> Value:
    value, dtype = call.get(0, "x"), dtype_of(call.get(1, "dtype"))
    if not isinstance(value, Array) or not value.shape:
        return call.unknown()
    old, new = (dtypes.bits(name) if name is not None else None for name in (value.dtype, dtype))
    last = dims.floordiv(dims.mul(value.shape[-1], old), new) if old is not None and new is not None else None
    return Array(Aval((*value.shape[:-1], last), dtype, False), (value,))


@models(f"{SPARSE}.subcore_barrier")
def _barrier(call: Call) -> Value:
    call.machine.effect()
    return None


@models(f"{SPARSE}.fetch_and_add")
def _fetch_and_add(call: Call) -> Value:
    call.machine.effect()
    mark_live(call.args, list(call.kwargs.values()))
    return Array(Aval((), "int32", False))

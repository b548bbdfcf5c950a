"""Refs as library functions see them: their methods, ``jax.ref``, ``pltpu.load/store``, ``run_scoped``."""

from __future__ import annotations

import ast
from typing import Any

from ...shapes import dims, dtypes
from ...shapes.dims import Shape, Truth
from ..calls import BindingFault, bind_arguments, innermost
from ..events import CallFault, NotARef, ViewEvent
from ..frames import Frame
from ..liveness import mark_live
from ..machine import Arguments, Machine, Scope
from ..operation_events import ScopedRun
from ..paths import PathEnd
from ..refs import load, store, transposed
from ..truth import as_dim, dtype_name, dtype_of
from ..values import ABSENT, Array, Function, Ref, RefIndexer, RefRoot, RefTransform, Region, SpecOrigin, Unknown, Value
from .containers import RECEIVERS
from .refusals import refuse
from .registry import PALLAS, TPU, Call, models
from .specs import WORDS, scratch_of
from .structure import is_no_scratch, plain_leaves
from .trees import leaves, tree_map

_FULL: Any = ABSENT


def _index_node(node: ast.AST, position: int) -> ast.AST | None:
    args = node.args if isinstance(node, ast.Call) else []
    return args[position] if position < len(args) and not isinstance(args[position], ast.Starred) else None


def _ref_method(machine: Machine, ref: Ref, name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    args = arguments.args
    if name == "get":
        return load(machine, ref, arguments.get(0, "idx", _FULL), node, frame, "method", _index_node(node, 0))
    if name in ("set", "swap", "addupdate") and args:
        op = "store" if name == "set" else name
        index = arguments.get(1, "idx", _FULL)
        value_node = _index_node(node, 0)
        index_node = _index_node(node, 1)
        return store(machine, ref, index, args[0], node, frame, op=op, api="method", slice_node=index_node, value_node=value_node)
    if name == "reshape":
        return _reshaped(machine, ref, args, node, frame)
    if name == "bitcast":
        return _bitcast(machine, ref, arguments.get(0, "dtype"), node, frame)
    if name == "transpose":
        return _transposed(machine, ref, args, node, frame)
    return Unknown(f"`{name}` of a ref")


def _transposed(machine: Machine, ref: Ref, args: list[Value], node: ast.AST, frame: Frame) -> Ref:
    axes = args[0] if len(args) == 1 and isinstance(args[0], tuple | list) else tuple(args)
    machine.emit(ViewEvent(machine.where(node, frame), "transpose", ref, detail=axes))
    return transposed(ref, tuple(axes) if axes and all(isinstance(a, int) for a in axes) else None)


def _reshaped(machine: Machine, ref: Ref, args: list[Value], node: ast.AST, frame: Frame) -> Ref:
    wanted = args[0] if len(args) == 1 and isinstance(args[0], tuple | list) else tuple(args)
    sizes = [as_dim(size) for size in wanted]
    machine.emit(ViewEvent(machine.where(node, frame), "reshape", ref, detail=tuple(sizes)))
    squeezed = ref.root.block is not None and not ref.transforms and "squeezed" in ref.root.block[-2:]
    shape: Shape = tuple(sizes)
    if -1 in sizes:
        rest = dims.product(size for size in sizes if size != -1)
        total = dims.product(ref.shape) if ref.shape is not None else None
        shape = tuple(dims.floordiv(total, rest) if size == -1 else size for size in sizes)
    elif ref.shape is not None and dims.equal(dims.product(sizes), dims.product(ref.shape)) is Truth.NO:
        shape = None  # JAX refuses the view: nothing follows from it
    step = RefTransform("reshape", squeezed=squeezed, rank=len(ref.shape) if ref.shape is not None else None)
    return Ref(ref.root, shape, ref.dtype, (*ref.transforms, step), ref.shape, named=ref.named)


def _bitcast(machine: Machine, ref: Ref, dtype: Value, node: ast.AST, frame: Frame) -> Ref:
    name = dtype_of(dtype)
    machine.emit(ViewEvent(machine.where(node, frame), "bitcast", ref, detail=name))
    old, new = (dtypes.bits(d) if d is not None else None for d in (ref.dtype, name))
    rank = len(ref.shape) if ref.shape is not None else None
    widths = (old, new) if old is not None and new is not None else None
    shape = ref.shape if ref.shape is not None and len(ref.shape) >= 2 else None  # JAX refuses to bitcast fewer dims
    before = shape[-2] if shape is not None else None
    if shape is not None:
        rows = dims.floordiv(dims.mul(before, widths[0]), widths[1]) if widths is not None else None
        shape = (*shape[:-2], rows, shape[-1])
    step = RefTransform("bitcast", rank=rank, rows=machine.path.facts.resolve(before), widths=widths)
    return Ref(ref.root, shape, name, (*ref.transforms, step), ref.shape, named=dtype_name(dtype))


RECEIVERS[Ref] = _ref_method


def _as_ref(call: Call, value: Value, function: str) -> Ref | None:
    """The ref that a ``jax.ref`` function is given; a value that is surely none is an event."""
    if isinstance(value, Ref):
        return value
    if isinstance(value, Array | bool | int | float | RefIndexer):
        call.machine.emit(NotARef(call.machine.where(call.node, call.frame), function, value))
    return None


@models("jax.ref.get")
def _ref_get(call: Call) -> Value:
    ref = _as_ref(call, call.get(0, "ref"), "ref_get")
    if ref is None:
        return call.unknown()
    return load(call.machine, ref, _index(call.get(1, "idx", _FULL)), call.node, call.frame, "jax.ref", call.arguments.node(1, "idx"))


@models("jax.ref.set", "jax.ref.swap", "jax.ref.addupdate")
def _ref_set(call: Call) -> Value:
    short = call.name.rpartition(".")[2]
    ref = _as_ref(call, call.get(0, "ref"), f"ref_{short}")
    if ref is None:
        return call.unknown()
    return store(
        call.machine, ref, _index(call.get(1, "idx", _FULL)), call.get(2, "value"), call.node, call.frame,
        op="store" if short == "set" else short, api="jax.ref",
        slice_node=call.arguments.node(1, "idx"), value_node=call.arguments.node(2, "value"),
    )  # fmt: skip


def _index(index: Value) -> Value:
    """``jax.ref`` functions take ``None`` for the whole ref."""
    return _FULL if index is None or index == () else index


@models(f"{TPU}.load", f"{PALLAS}.load")
def _load(call: Call) -> Value:
    ref = _as_ref(call, call.get(0, "ref"), "load")
    if ref is None:
        return call.unknown()
    old = call.name == f"{PALLAS}.load"
    index = _index(call.get(1, "idx", _FULL)) if old else _FULL
    api = "pl" if old else "pltpu"
    return load(
        call.machine,
        ref,
        index,
        call.node,
        call.frame,
        api,
        call.arguments.node(1, "idx") if old else None,
        call.kwargs.get("mask", ABSENT),
    )


@models(f"{TPU}.store", f"{PALLAS}.store", f"{PALLAS}.swap")
def _store(call: Call) -> Value:
    ref = _as_ref(call, call.get(0, "ref"), "store")
    if ref is None:
        return call.unknown()
    old = call.name != f"{TPU}.store"
    index, position = (_index(call.get(1, "idx", _FULL)), 2) if old else (_FULL, 1)
    return store(
        call.machine, ref, index, call.get(position, "val"), call.node, call.frame,
        op="swap" if call.name.endswith("swap") else "store", api="pl" if old else "pltpu",
        slice_node=call.arguments.node(1, "idx") if old else None,
        value_node=call.arguments.node(position, "val"), cast=False, mask=call.kwargs.get("mask", ABSENT),
    )  # fmt: skip


def scratch_ref(entry: Value, name: str, where: SpecOrigin) -> Value:
    """The ref of a scratch entry; what is no scratch entry gives an unknown."""
    scratch = scratch_of(entry, where)
    if scratch is None:
        return Unknown(entry.why if isinstance(entry, Unknown) else "a scratch entry that is not known")
    words = WORDS.get(scratch.space or "", "")
    origin = scratch.origin
    location = origin.module.source.span_of(origin.node)
    from ...text.span import Location

    root = RefRoot(
        name, "scratch", scratch.shape, scratch.shape, scratch.dtype, scratch.space,
        decided_at=Location(origin.module.path, location), decided_by=f"scratch in {words}", decider=origin,
        wide=scratch.wide, typed=origin, named=scratch.named,
    )  # fmt: skip
    return root.whole()


def _refuse_types(call: Call) -> None:
    """End the path where ``run_scoped`` is asked for something that is no memory."""
    named = {name: entry for name, entry in call.kwargs.items() if name != "collective_axes"}
    nodes = [*call.arguments.arg_nodes[1:], *(call.arguments.kwarg_nodes.get(name) for name in named)]
    for entry, node in zip([*call.args[1:], *named.values()], nodes, strict=False):
        wrong = next((leaf for leaf in plain_leaves(call.machine, entry) if is_no_scratch(leaf)), ABSENT)
        if wrong is not ABSENT:
            refuse(call.machine, CallFault(call.machine.where(node or call.node, call.frame), "scratch-entry", wrong))
            raise PathEnd("a scope of something that is no memory")


@models(f"{PALLAS}.run_scoped")
def _run_scoped(call: Call) -> Value:
    """Call a function on refs that live while it runs; they must not come out of it."""
    if not call.args or not call.arguments.exact:
        return call.unknown()
    here = SpecOrigin(call.frame.module, call.node)  # type: ignore[arg-type]
    machine = call.machine
    _refuse_types(call)
    args = [tree_map(machine, lambda leaf: scratch_ref(leaf, "scoped", here), entry) for entry in call.args[1:]]
    kwargs = {
        name: tree_map(machine, lambda leaf, name=name: scratch_ref(leaf, name, here), entry)
        for name, entry in call.kwargs.items()
        if name not in ("collective_axes",)
    }
    function, received = innermost(call.args[0], Arguments(args, kwargs))
    if isinstance(function, Function):
        try:
            bind_arguments(machine, function, received)
        except BindingFault as fault:
            machine.emit(ScopedRun(machine.where(call.node, call.frame), "arity", str(fault)))
            raise PathEnd("a function that does not take its scoped refs") from None
    mine = {id(leaf.root) for leaf in leaves(machine, [*args, *kwargs.values()]) if isinstance(leaf, Ref)}
    region = Region(machine.region)
    machine.scopes.append(Scope(region, mine))
    try:
        with machine.inside(region):
            result = machine.settle(machine.call(call.args[0], Arguments(args, kwargs), call.node, call.frame))
    finally:
        if machine.scopes.pop().has_effect:
            mark_live(region)
    escaped = next((leaf for leaf in leaves(machine, result) if isinstance(leaf, Ref) and id(leaf.root) in mine), None)
    if escaped is not None:
        # JAX refuses it once something outside uses it.
        machine.escaped[id(escaped.root)] = ScopedRun(machine.where(call.node, call.frame), "escape", escaped)
    return tree_map(machine, lambda leaf: _out_of(region, leaf), result)


def _out_of(region: Region, leaf: Value) -> Value:
    """A result of a scope: whoever uses it keeps the whole scope."""
    return Array(leaf.aval, (leaf, region), leaf.traced, made_by=leaf.made_by) if isinstance(leaf, Array) else leaf

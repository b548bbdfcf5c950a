"""Index maps: how they are called, what they return, what they may use.

Mirrors ``jax/_src/pallas/core.py``, ``BlockSpec.to_block_mapping``; its order of checks.
"""

from __future__ import annotations

from ..interpreter.call_events import ArityFault, Window
from ..interpreter.events import CallFault, TracedBranch
from ..interpreter.operation_events import TracedAsStatic
from ..interpreter.values import Array, DynamicSlice, Ref, Value
from ..text.span import Location
from . import places, words
from .diagnostic import Related
from .registry import Context, Finding, rule


@rule("index-map-arity", on=ArityFault, also=(CallFault,), order=5, stage="trace")
def index_map_arity(event: ArityFault | CallFault, context: Context) -> Finding | None:
    """An index map has other parameters than one for each grid axis and prefetched operand."""
    if isinstance(event, CallFault):
        if event.kind != "index-map-not-callable":
            return None
        kind = words.kind_of(event.detail)
        what = f"the index map is {kind}: it is a function from grid indices to block indices"
        return Finding(event.where.location, what, jax_message=f"'{type(event.detail).__name__}' object is not callable")
    if event.what != "index map":
        return None
    own = event.function.node.args
    taken = [parameter.arg for parameter in (*own.posonlyargs, *own.args)]
    given, prefetched = len(event.given), sum(word.startswith("prefetched") for word in event.given)
    parts = [words.count(given - prefetched, "grid index").replace("indexs", "indices")]
    if prefetched:
        parts.append(words.count(prefetched, "prefetched operand"))
    needed = f"it is called with {' and '.join(parts)}" if given else "the call has no grid, so it is called without arguments"
    names = f" ({', '.join(f'`{name}`' for name in taken)})" if taken else ""
    what = f"this index map takes {words.count(len(taken), 'argument')}{names}, but {needed}"
    related = (Related(event.where.call, "the kernel is called here"),) if event.where.call is not None else ()
    if event.missing:
        return Finding(places.of_parameter(event.function, event.missing[0]), what, related, event.text)
    return Finding(places.of_header(event.function), what, related, event.text)


def _returned(event: Window, index: int | None = None) -> Location:
    return places.of_returned(event.result.function, index) if event.result is not None else event.where.location


def _spec(event: Window) -> tuple[Related, ...]:
    return (Related(event.where.location, f"the spec of {words.window(event)}"),)


def _described(event: Window) -> str:
    return f"Index map function {event.result.function.name if event.result is not None else ''} at ... for {event.place}"


@rule("index-map-returns-ref", on=Window, order=20, stage="trace")
def index_map_returns_ref(event: Window, context: Context) -> Finding | None:
    """An index map returns a prefetched operand itself instead of a number of it."""
    if event.fault is None or event.fault[0] != "index-map-returns-ref":
        return None
    value = event.result.entries[event.fault[1]] if event.result is not None else None
    name = value.root.name if isinstance(value, Ref) else "ref"
    return Finding(
        _returned(event, event.fault[1]),
        f"the index map of {words.window(event)} returns the prefetched ref `{name}` itself: a block index is a number, as `{name}[i]` is",
        _spec(event),
        f"function ... traced for pallas_call index_map returned a mutable array reference of type {words.ref_type(value)}, "
        "but mutable array references cannot be returned.",
    )


@rule("index-map-return-len", on=Window, order=21, stage="trace")
def index_map_return_len(event: Window, context: Context) -> Finding | None:
    """An index map returns another number of indices than its block has dims."""
    if event.fault is None or event.fault[0] != "index-map-return-len":
        return None
    first, second = event.fault[1]
    name = words.window(event)
    if isinstance(second, int) and first != second:
        returned = "None" if event.result is not None and event.result.value is None else words.indices(first)
        what = f"the index map of {name} returns {returned} for a block of {words.count(second, 'dim')} {words.block(event.root)}"
        squeezed = " (a squeezed dim needs an index too)" if event.kinds and "squeezed" in event.kinds and first < second else ""
        jax = f"{_described(event)} must return {second} values to match block_shape={words.jax_block(event)}. "
        jax += f"Currently returning {first} values:"
        return Finding(_returned(event), what + squeezed, _spec(event), jax)
    what = f"index {first} that the index map of {name} returns is {words.kind_of(second)}: it is a number"
    return Finding(_returned(event, first), what, _spec(event), f"'{type(second).__name__}' object has no attribute 'shape'")


@rule("index-map-non-int", on=Window, order=22, stage="trace")
def index_map_non_int(event: Window, context: Context) -> Finding | None:
    """An index map returns something else than 32-bit integers."""
    if event.fault is None or event.fault[0] != "index-map-non-int":
        return None
    index, value = event.fault[1]
    whole = ", `//` divides to whole numbers" if _is_float(value) else ""
    return Finding(
        _returned(event, index),
        f"index {index} that the index map of {words.window(event)} returns is {_kind(value)}: block indices are int32 scalars{whole}",
        _spec(event),
        f"{_described(event)} must return integer scalars. Output[{index}] has type {_aval(value)}.",
    )


def _is_float(value: Value) -> bool:
    return isinstance(value, float) or (isinstance(value, Array) and value.dtype is not None and value.dtype.startswith(("float", "bfloat")))


def _kind(value: Value) -> str:
    if isinstance(value, Array):
        return words.array(value)
    return "a slice" if isinstance(value, DynamicSlice) else words.kind_of(value)


def _aval(value: Value) -> str:
    if isinstance(value, Array):
        dims = "" if not value.shape else words.shape(value.shape)[1:-1].rstrip(",")
        return f"{value.dtype}[{dims}]"
    return {float: "float32[]", bool: "bool[]"}.get(type(value), "...")


@rule("index-map-captures-array", on=Window, order=23, stage="trace")
def index_map_captures_array(event: Window, context: Context) -> Finding | None:
    """An index map uses an array from outside."""
    if event.fault is None or event.fault[0] != "index-map-captures-array":
        return None
    return Finding(
        _returned(event),
        f"the index map of {words.window(event)} uses the array {words.array(event.fault[1])} from outside: "
        "pass it as a scalar-prefetch operand, which index maps receive",
        _spec(event),
        f"{_described(event)} must not capture constants: [...]",
    )


@rule("index-map-python-control-flow", on=TracedBranch, also=(TracedAsStatic,), order=0, stage="trace")
def index_map_python_control_flow(event: TracedBranch | TracedAsStatic, context: Context) -> Finding | None:
    """Python decides or looks something up by a grid index, which JAX does not know yet."""
    if event.where.inside != "index map":
        return None
    if isinstance(event, TracedBranch):
        what = "Python asks whether a grid index fulfils a condition"
        instead = "`jnp.where`, `jnp.minimum` and `jnp.maximum` choose between values"
        jax = "Attempted boolean conversion of traced array with shape bool[]."
    elif event.kind == "numpy":
        what, instead = "NumPy is given a grid index", "tables go into a scalar-prefetch operand"
        jax = "The numpy.ndarray conversion method __array__() was called on traced array with shape int32[]"
    elif event.kind in ("index", "key"):
        what, instead = "Python looks something up by a grid index", "tables go into a scalar-prefetch operand"
        jax = "The __index__() method was called on traced array with shape int32[]"
    else:
        what, instead = "Python makes a number of a grid index", "indices are computed with `jnp` and operators"
        jax = "Abstract tracer value encountered where concrete value is expected: traced array with shape int32[]"
    return Finding(event.where.location, f"{what}, whose value is not known when JAX traces the index map: {instead}", jax_message=jax)

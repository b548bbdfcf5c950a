"""Refs, views and values taken for one another.

Mirrors ``jax/_src/state/types.py`` (``AbstractRef`` has no arithmetic), ``jax/_src/state/primitives.py`` (``get_ref_and_transforms``) and
``jax/_src/pallas/mosaic/primitives.py`` (copies take refs).
"""

from __future__ import annotations

import ast

from ..interpreter.call_events import SignatureFault
from ..interpreter.events import CopyEvent, NotARef, RefAsArray, RemovedName, SemaphoreValue, ValueStore
from ..interpreter.values import Array, Ref
from ..resolve.canonical import exists
from . import words
from .registry import Context, Finding, rule

_TRUTH = "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"


@rule("ref-used-as-array", on=RefAsArray, order=10, stage="trace")
def ref_used_as_array(event: RefAsArray, context: Context) -> Finding | None:
    """A ref stands where an array is needed."""
    ref, name = event.ref, f"`{event.ref.root.name}`"
    if not (ref.root.sure or ref.is_view or event.operation == "store" or event.operation.endswith("()")):
        return None  # a tuple or dict of refs, or None, may be asked for this
    if event.operation == "iter":
        what, jax = f"{name} is iterated over, but it is a ref", "iteration over a 0-d array / 'AbstractRef' object is not iterable"
    elif event.operation == "bool":
        what = f"Python asks whether {name} is true, but it is a ref: `is not None` asks whether there is one"
        return Finding(event.where.location, what, jax_message=_TRUTH)
    elif event.operation == "store":
        what, jax = (
            f"{name} is stored as it is, but it is a ref",
            "Cannot store a Ref into another Ref. Did you forget to load from it using `[...]`?",
        )
    elif event.operation.startswith("."):
        what = f"{name} is a ref, which has no `{event.operation[1:]}`"
        jax = f"'AbstractRef' object has no attribute '{event.operation[1:]}'"
    elif event.operation.endswith("()"):
        function = event.operation[:-2].rpartition(".")[2]
        what = f"{name} is given to `{function}`, but it is a ref"
        jax = f"{function} got a Ref ..., but a Ref can't be passed where an array is expected. Did you forget to read its value with `ref[...]`?"
    else:
        what, jax = f"{name} is an operand of `{event.operation}`, but it is a ref", f"unsupported operand type(s) for {event.operation}"
    read = f"`{ref.root.name}[...]` reads it" if not ref.is_view else "`[...]` after the view reads it"
    return Finding(event.where.location, f"{what}: {read}", jax_message=jax)


@rule("ref-at-item-assignment", on=ValueStore, order=10, stage="trace")
def ref_at_item_assignment(event: ValueStore, context: Context) -> Finding | None:
    """``ref.at[...]`` is assigned to."""
    if not isinstance(event.holder, Ref):
        return None
    return Finding(
        event.where.at(event.target),
        f"`{event.holder.root.name}.at[...]` is a view, not a place to assign to: assign to `{event.holder.root.name}[...]`",
        jax_message="'RefIndexer' object does not support item assignment",
    )


@rule("value-item-assignment", on=ValueStore, order=11, stage="trace")
def value_item_assignment(event: ValueStore, context: Context) -> Finding | None:
    """An item of a value is assigned to."""
    if not isinstance(event.holder, Array) or not event.holder.traced or event.holder.assumed:
        return None
    return Finding(
        event.where.at(event.target),
        f"an item of the value {words.array(event.holder)} is assigned to: values cannot be changed, only refs can",
        jax_message="JAX arrays are immutable and do not support in-place item assignment.",
    )


def _may_be_ref(value: object) -> bool:
    """Whether only an unpacked shape says that the value is an array."""
    return isinstance(value, Array) and value.assumed


@rule("ref-api-on-non-ref", on=NotARef, order=10, stage="trace")
def ref_api_on_non_ref(event: NotARef, context: Context) -> Finding | None:
    """A function that takes a ref is given a value."""
    if not event.function.startswith("ref_") or _may_be_ref(event.value):
        return None
    short = event.function.removeprefix("ref_")
    return Finding(
        event.where.location,
        f"`jax.ref.{short}` is given the value {words.array(event.value)}: it takes a ref",
        jax_message=f"Can only call `{event.function}` on a `Ref`: ...",
    )


@rule("copy-operand-not-ref", on=CopyEvent, order=10, stage="trace")
def copy_operand_not_ref(event: CopyEvent, context: Context) -> Finding | None:
    """A copy is given a value instead of a ref."""
    if not event.live or _may_be_ref(event.value):
        return None
    at = "`.at[...]` makes a view of a ref without loading it"
    return Finding(
        event.where.location,
        f"the {event.role} of this copy is the value {words.array(event.value)}, not a ref: {at}",
        jax_message="DMA source/destination/semaphore arguments must be Refs.",
    )


@rule("semaphore-used-as-value", on=SemaphoreValue, order=10, stage="trace")
def semaphore_used_as_value(event: SemaphoreValue, context: Context) -> Finding | None:
    """A semaphore is read or written as if it were a number."""
    return Finding(
        event.where.location,
        f"a semaphore is used as a number in `{event.operation}`: `pl.semaphore_read`, `semaphore_signal` and `semaphore_wait` work on it",
        jax_message=f"dtype={event.dtype} is not a valid dtype for JAX type promotion.",
    )


_TODAY = {
    "load": "`ref[...]` or `pltpu.load`",
    "store": "`ref[...] = value` or `pltpu.store`",
    "swap": "`ref.swap`",
    "ANY": "`pl.ANY`",
    "TPUMemorySpace": "`pltpu.MemorySpace`",
    "TPUCompilerParams": "`pltpu.CompilerParams`",
    "repeat": "`jnp.repeat` or `jnp.tile`",
}


@rule("removed-api", on=RemovedName, also=(SignatureFault,), order=10, stage="trace")
def removed_api(event: RemovedName | SignatureFault, context: Context) -> Finding | None:
    """A name that the stated JAX does not have."""
    if isinstance(event, SignatureFault):
        return _indexing_mode(event)
    if context.version is None or exists(f"{event.module}.{event.name}", ".".join(map(str, context.version))) is not False:
        return None
    version = ".".join(map(str, context.version))
    short = "pltpu" if event.module.endswith(".tpu") else "pl"
    instead = f": {_TODAY[event.name]} does this today" if event.name in _TODAY else ""
    return Finding(
        event.where.location,
        f"`{short}.{event.name}` does not exist in JAX {version}{instead}",
        jax_message=f"module '{event.module}' has no attribute '{event.name}'",
    )


def _indexing_mode(event: SignatureFault) -> Finding | None:
    if not event.function.endswith(".BlockSpec") or event.fault.names != ("indexing_mode",):
        return None
    node = event.where.node
    keyword = next((k for k in node.keywords if k.arg == "indexing_mode"), None) if isinstance(node, ast.Call) else None
    return Finding(
        event.where.at(keyword),
        "`indexing_mode` of `pl.BlockSpec` does not exist any more: `pl.Element(size)` as a block dim is indexed by elements",
        jax_message="BlockSpec.__init__() got an unexpected keyword argument 'indexing_mode'",
    )

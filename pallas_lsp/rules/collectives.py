"""Collectives over mesh axes, which a TensorCore kernel does not have.

Mirrors ``jax/_src/core.py`` (``axis_size`` of an unbound name) and the table ``lowering_rules`` of ``jax/_src/pallas/mosaic/lowering.py``, which lists none of them.
"""

from __future__ import annotations

from ..interpreter.operation_events import AxisAsked, Operation
from ..interpreter.values import Array
from . import lowered, words
from .registry import Context, Finding, rule

_COLLECTIVES = frozenset(
    f"jax.lax.{name}"
    for name in ("psum", "pmean", "pmax", "pmin", "ppermute", "pshuffle", "pswapaxes", "all_gather", "all_to_all", "psum_scatter")
)


@rule("axis-name-unbound", on=Operation, order=18, also=(AxisAsked,), stage="trace", functions=_COLLECTIVES)
def axis_name_unbound(event: Operation | AxisAsked, context: Context) -> Finding | None:
    """A kernel names a mesh axis that is not around it, or calls a collective over one."""
    if isinstance(event, AxisAsked):
        return _of_asked(event)
    if not lowered.is_used(event.result, event.where, context):
        return None
    axis, operand = event.get(1, "axis_name"), event.get(0, "x")
    if not isinstance(axis, str) or not isinstance(operand, Array) or not operand.traced:
        return None
    short = event.function.rpartition(".")[2]
    return Finding(
        event.where.location,
        f"`lax.{short}` over `{axis}` in a kernel: no collective runs on a TensorCore, call it outside, or copy with `pltpu.make_async_remote_copy`",
        jax_message=f"Found an unbound axis name: {axis}. To fix this, please call {short} under `jax.shard_map`.",
    )


def _of_asked(event: AxisAsked) -> Finding | None:
    """``axis_index`` and ``axis_size`` of an axis that no mesh around the kernel has."""
    if event.axes is None or event.name in event.axes:
        return None
    short = event.function.rpartition(".")[2]
    around = f"the mesh has {words.listed([f'`{axis}`' for axis in event.axes])}" if event.axes else "no `jax.shard_map` is around the kernel"
    jax = f"Found an unbound axis name: {event.name}. To fix this, please call {short} under `jax.shard_map`."
    return Finding(event.where.location, f"`lax.{short}` of the axis `{event.name}`, but {around}", jax_message=jax)

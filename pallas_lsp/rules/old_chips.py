"""What lowers and the TPU compiler refuses for v4 only: what v5 brought for narrow elements and for moving elements between rows and lanes.

Measured with libtpu for every chip; a rule speaks of the forms of which all measured cases were refused.
"""

from __future__ import annotations

from ..interpreter.events import Access
from ..interpreter.values import Array, Value
from ..shapes import dtypes
from ..shapes.dims import Shape
from . import words
from .compiler import refused_on
from .registry import Context, Finding, rule

_V4 = frozenset({"v4"})
_WHOLE = 4 * 128  # 8-bit elements of one row of a register


def _stores_to_vmem(event: Access, context: Context) -> bool:
    known = event.op == "store" and event.fault is None and event.ref.root.space == "vmem" and not event.ref.transforms and not event.transforms
    return known and refused_on(context, _V4)


@rule("i8-mask-v4", on=Access, order=135, stage="compile")
def i8_mask_v4(event: Access, context: Context) -> Finding | None:
    """A part of a row of 8-bit elements is stored to a ref with one dim."""
    if not _stores_to_vmem(event, context) or event.ref.dtype in (None, "bool") or dtypes.bits(event.ref.dtype) != 8:
        return None
    root, shape = event.ref.root, event.shape
    one_dim = root.shape is not None and len(root.shape) == 1 and "squeezed" not in (root.block or ())
    if not one_dim or not shape or not isinstance(shape[0], int) or shape[0] % _WHOLE == 0:
        return None
    return Finding(
        event.where.at(words.target(event)),
        f"{shape[0]} elements of {event.ref.dtype} are stored to {words.name(event.ref)}, which has one dim: v4 stores whole rows of {_WHOLE} "
        "of them only, a ref with two dims is stored by rows",
        words.shaped(event.ref),
        "8-bit subelement masking is only supported for TPU v5+.",
        cause=root.decided_at,
    )


@rule("v4-lane-reduce-to-1d", on=Access, order=136, stage="compile")
def v4_lane_reduce_to_1d(event: Access, context: Context) -> Finding | None:
    """What is left of rows whose lanes were reduced to one, and lost their dim, is stored along the lanes."""
    value, shape = event.value, event.shape
    if not _stores_to_vmem(event, context) or not isinstance(value, Array) or not shape or not _keeps_lanes(event):
        return None
    narrow = event.ref.dtype is None or dtypes.bits(event.ref.dtype) not in (16, 32)
    if (narrow and event.ref.dtype != "bool") or not isinstance(shape[-1], int) or shape[-1] == 1 or not _stands_in_rows(value):
        return None
    return Finding(
        event.where.at(words.target(event)),
        f"the value stored to {words.name(event.ref)} has one number for each row: v4 has no way to put them side by side, `keepdims=True` leaves "
        "them in a column",
        words.shaped(event.ref),
        "Sublane gather not supported by this TPU generation",
    )


def _keeps_lanes(event: Access) -> bool:
    """Whether the last dim of the value goes along the last dim of the ref."""
    return not event.entries or event.entries[-1].kind in ("slice", "ds", "ellipsis") or len(event.entries) < len(event.ref.shape or ())


def _stands_in_rows(value: Value, depth: int = 20) -> bool:
    """Whether a value has an element for each row of a register: what it was made of had lanes, and lost them."""
    if not isinstance(value, Array) or not value.shape or depth == 0:
        return False
    shapes = [_shape(operand) for operand in value.operands]
    if any(_loses_lanes(before, value.shape) for before in shapes):
        return True
    return any(_stands_in_rows(operand, depth - 1) for operand, before in zip(value.operands, shapes, strict=True) if before == value.shape)


def _shape(operand: object) -> Shape:
    """The shape of an operand; of a load the shape of the ref that it reads."""
    return operand.shape if isinstance(operand, Array) else operand.ref.shape if isinstance(operand, Access) else None


def _loses_lanes(before: Shape, after: Shape) -> bool:
    """Whether only the last dim can have gone: no other has its size."""
    if not before or not after or len(before) != len(after) + 1 or before[:-1] != after:
        return False
    return all(isinstance(size, int) for size in before) and before[-1] not in after

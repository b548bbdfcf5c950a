"""How messages speak: names in backticks, shapes and dtypes as users write them, places that decided."""

from __future__ import annotations

import ast

from ..interpreter.events import Access
from ..interpreter.values import Array, Ref, RefRoot, Unknown, Value
from ..shapes.avals import as_aval, shape_text
from ..shapes.dims import MaybeDim, Shape, render
from ..shapes.dtypes import short
from .diagnostic import Related

SPACES = {
    "vmem": "VMEM", "smem": "SMEM", "any": "ANY", "hbm": "HBM", "semaphore": "semaphore memory", "host": "HOST", "cmem": "CMEM",
    "vmem_shared": "VMEM_SHARED",
}  # fmt: skip


def name(ref: Ref) -> str:
    """The ref's name in backticks."""
    return f"`{ref.root.name}`"


def space(root: RefRoot) -> str:
    """The ref's memory space as JAX spells it."""
    return SPACES.get(root.space or "", "an unknown memory space")


def shape(dims: Shape) -> str:
    """A shape as a Python tuple, ``()`` for a scalar."""
    return shape_text(dims)


def dtype(dtype_name: str | None) -> str:
    """A dtype as users name it."""
    return dtype_name or "an unknown dtype"


def array(value: Value) -> str:
    """An array in short: ``f32[8,128]``."""
    aval = as_aval(value.aval if isinstance(value, Array) else value)
    if aval.shape is None:
        return f"{short(aval.dtype)}[?]"
    return f"{short(aval.dtype)}[{','.join(shape_text((dim,))[1:-2] for dim in aval.shape)}]"


def decided(ref: Ref) -> tuple[Related, ...]:
    """The place that decided the ref's memory space, as related information."""
    root = ref.root
    if root.decided_at is None:
        return ()
    if root.role == "prefetch":
        return (Related(root.decided_at, f"{name(ref)} is a scalar-prefetch operand: those are in SMEM"),)
    if root.role == "scratch":
        return (Related(root.decided_at, f"{name(ref)} is in {space(root)} by this scratch entry"),)
    if isinstance(root.decider and root.decider.node, ast.Call) and root.decided_by.startswith("BlockSpec"):
        how = "this BlockSpec, which names no memory space" if root.defaulted else "this BlockSpec"
        return (Related(root.decided_at, f"{name(ref)} is in {space(root)} by {how}"),)
    return (Related(root.decided_at, f"{name(ref)} has no BlockSpec in this call, so it is a whole array in {space(root)}"),)


def target(event: Access) -> ast.AST:
    """The expression that an access is about: the subscript that is stored to, else the access itself."""
    return event.target_node if event.target_node is not None else event.where.node


def source_text(event: Access, node: ast.AST) -> str:
    """The user's own text of a node, on one line and not too long."""
    source = event.where.module.source
    text = " ".join(source.slice(source.span_of(node)).split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def is_unknown(value: Value) -> bool:
    """Whether nothing is known of a value."""
    return isinstance(value, Unknown)


def shaped(ref: Ref) -> tuple[Related, ...]:
    """The place that decided the ref's shape, as related information."""
    root = ref.root
    if root.decided_at is None or root.shape is None:
        return ()
    return (Related(root.decided_at, f"{name(ref)} has shape {shape(root.shape)} here"),)


def count(number: int, noun: str) -> str:
    """``1 dim``, ``2 dims``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def dim(size: MaybeDim) -> str:
    """A dim in the user's names."""
    return render(size)


def last(detail: tuple[int, int, int, int, int]) -> str:
    """The reach of a static slice ``(start, size, stride, ...)`` in words."""
    start, size, stride = detail[:3]
    return f"up to index {start + (size - 1) * stride}" if size > 0 else f"from index {start}"


def stored(value: Value, dtype_name: str) -> str:
    """A stored value with its dtype: a Python number by its own type."""
    kinds = {bool: "a Python bool", int: "a Python int", float: "a Python float"}
    return kinds.get(type(value), f"value of dtype {dtype_name}")

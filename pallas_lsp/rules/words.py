"""How messages speak: names in backticks, shapes and dtypes as users write them, places that decided."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ..interpreter.call_events import Window
from ..interpreter.events import Access, Event
from ..interpreter.values import (
    Array,
    BlockSpec,
    Class,
    Dtype,
    Function,
    GridSpec,
    Iteration,
    Library,
    Opaque,
    PallasCall,
    Ref,
    RefRoot,
    Scratch,
    ShapeDtype,
    Unknown,
    Value,
)
from ..shapes.avals import as_aval, shape_text
from ..shapes.dims import MaybeDim, Poly, Shape, render
from ..shapes.dtypes import short
from .diagnostic import Related

SPACES = {
    "vmem": "VMEM", "smem": "SMEM", "any": "ANY", "hbm": "HBM", "semaphore": "semaphore memory", "host": "HOST", "cmem": "CMEM",
    "vmem_shared": "VMEM_SHARED", "acc": "the accumulators of an MXU",
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
    """An array in short: ``f32[8,128]``, or ``x.dtype[8,128]`` where the dtype is known by name only."""
    aval = as_aval(value.aval if isinstance(value, Array) else value)
    of = short(aval.dtype) if aval.dtype is not None else aval.named or "?"
    return f"{of}[?]" if aval.shape is None else f"{of}[{','.join(shape_text((dim,))[1:-2] for dim in aval.shape)}]"


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


def source_text(event: Event, node: ast.AST) -> str:
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


def indices(number: int) -> str:
    """``1 index``, ``2 indices``."""
    return f"{number} {'index' if number == 1 else 'indices'}"


def axes(number: int) -> str:
    """``1 axis``, ``2 axes``."""
    return f"{number} {'axis' if number == 1 else 'axes'}"


def grid(sizes: tuple[MaybeDim, ...]) -> str:
    """A grid as a Python tuple, ``?`` for a size that is not known."""
    return shape_text(sizes)


def window(event: Window) -> str:
    """The operand or output of a window: by the name of the kernel's parameter, else by its place in the call."""
    name = event.root.name
    if name not in ("input", "output"):
        return f"`{name}`"
    position = event.place.partition("[")[2].partition("]")[0]
    noun = "operand" if event.root.role == "input" else "output"
    return f"{noun} {position}" if position.isdigit() else f"the {noun}"


def block(root: RefRoot) -> str:
    """A block shape as users write it, ``None`` for a squeezed dim."""
    dims = root.block or ()
    texts = ["None" if size == "squeezed" else render(size) if not isinstance(size, str) else size for size in dims]
    return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"


def jax_block(event: Window) -> str:
    """A block shape as JAX prints it."""
    kinds = event.kinds or ()
    names = {"squeezed": "Squeezed()", "element": "Element(block_size={})", "bounded": "BoundedSlice({})"}
    sizes = [size if isinstance(size, str) else render(size) for size in event.root.block or ()]
    texts = [names.get(kind, "Blocked(block_size={})").format(size) for kind, size in zip(kinds, sizes, strict=False)]
    return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"


def ref_type(value: Value) -> str:
    """A ref as JAX prints its type."""
    if not isinstance(value, Ref):
        return "Ref"
    sizes = ",".join(render(size) for size in value.shape or ())
    return f"Ref<{value.root.space}>{{{value.dtype}[{sizes}]}}"


def literal(value: Value) -> str:
    """A value as a program would write it, ``?`` for one that is not plain."""
    if isinstance(value, bool | int | float | str | type(None)):
        return repr(value)
    return render(value) if isinstance(value, Poly) else "?"


def literal_tuple(values: tuple[Value, ...] | list[Value]) -> str:
    """Several values as a program would write them in a tuple."""
    return f"({', '.join(map(literal, values))}{',' if len(values) == 1 else ''})"


def step(numbers: tuple[int, ...]) -> str:
    """A grid step or a block as a tuple of numbers."""
    return f"({', '.join(map(str, numbers))}{',' if len(numbers) == 1 else ''})"


def dim(size: MaybeDim) -> str:
    """A dim in the user's names."""
    return render(size)


def memory(size: int) -> str:
    """A number of bytes in the largest unit that it fills: ``16 MiB``."""
    for unit, bytes_in_unit in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= bytes_in_unit:
            return f"{size / bytes_in_unit:.4g} {unit}"
    return count(size, "byte")


def listed(parts: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(([", ".join(parts[:-1])] if len(parts) > 1 else []) + list(parts[-1:]))


def last(detail: tuple[int, int, int, int, int]) -> str:
    """The reach of a static slice ``(start, size, stride, ...)`` in words."""
    start, size, stride = detail[:3]
    return f"up to index {start + (size - 1) * stride}" if size > 0 else f"from index {start}"


def stored(value: Value, dtype_name: str) -> str:
    """A stored value with its dtype: a Python number by its own type."""
    kinds = {bool: "a Python bool", int: "a Python int", float: "a Python float"}
    return kinds.get(type(value), f"value of dtype {dtype_name}")


def kind_of(value: Value) -> str:
    """What kind of thing a value is, with its article."""
    if value is None or isinstance(value, bool | int | float | str):
        return "None" if value is None else f"the {'string' if isinstance(value, str) else 'number'} `{value!r}`"
    if isinstance(value, tuple | list | dict | range):
        return f"a {type(value).__name__}"
    named = {Function: "a function", ShapeDtype: "a `jax.ShapeDtypeStruct`", Array: "an array", Dtype: "a dtype", Class: "a class", Iteration: "an iterator"}
    named |= {Scratch: "a scratch buffer", BlockSpec: "a BlockSpec", GridSpec: "a grid spec", PallasCall: "a pallas_call without operands"}
    if isinstance(value, Library | Opaque):
        return f"`{value.name.rpartition('.')[2]}`"
    return named.get(type(value), "something else")

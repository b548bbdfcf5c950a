"""What may stand between the brackets of a ref.

Mirrors ``jax/_src/state/indexing.py`` (``NDIndexer.from_indices_and_shape``) and the integer indexers of
``jax/_src/pallas/mosaic/lowering.py`` (``_indexer_to_start_size_stride``, ``_load_lowering_rule``).
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from ..interpreter.cores import EVERY
from ..interpreter.events import Access, IndexEntry, ViewEvent
from ..interpreter.refs import axes
from ..interpreter.values import Array, DynamicSlice, Ref, Value
from ..shapes.dims import Poly, Truth, less, less_equal
from . import words
from .memory_spaces import happens
from .registry import Context, Finding, rule

Indexed = Access | ViewEvent
_UNSUPPORTED: dict[str, str] = {"none": "`None` beside other indices", "list": "a list", "tuple": "a tuple in the indexer", "str": "a string"}


_TREE_MESSAGES: dict[str, str] = {
    "none": "not enough values to unpack (expected 1, got 0)",
    "str": "Argument 'a' of type <class 'str'> is not a valid JAX type",
}


def _fault_rule(
    rule_id: str, speak: Callable[[Indexed, Any], tuple[str, str]], summary: str, checked: Callable[[Any, Context], bool] | None = None
) -> None:
    """Register one trace-time fault of an indexer, for accesses and for ``.at[...]``; ``speak`` gives our sentence and JAX's;
    ``checked``: whether this JAX checks it."""

    def check(event: Indexed, context: Context) -> Finding | None:
        fault = event.fault
        if fault is None or fault[0] != rule_id or (checked is not None and not checked(fault[1], context)):
            return None
        message, jax_message = speak(event, fault[1])
        return Finding(event.where.at(fault[2]), message, _shape_origin(event), jax_message)

    check.__doc__ = summary
    rule(rule_id, on=Access, order=10, stage="trace", also=(ViewEvent,))(check)


def _shape_origin(event: Indexed) -> tuple[Any, ...]:
    return words.shaped(event.ref)


_fault_rule(
    "multiple-ellipsis",
    lambda event, detail: (
        f"two `...` index {words.name(event.ref)}: only one can stand for the dims left out",
        "Only one ellipsis is supported.",
    ),
    "An indexer has more than one ellipsis.",
)
_fault_rule(
    "too-many-indices",
    lambda event, detail: (
        f"{detail[0]} indices for {words.name(event.ref)}, which has {words.count(len(detail[1]), 'dim')} here: {words.shape(detail[1])}",
        f"`indices` must not be longer than `shape`: indices=..., shape={words.shape(detail[1])}",
    ),
    "An indexer has more entries than the ref has dims.",
)
_fault_rule(
    "slice-step-not-positive",
    lambda event, detail: (
        f"step {detail} in an index of {words.name(event.ref)}: a ref can only be sliced forwards",
        f"slice must have a step >= 1 (found: {detail})",
    ),
    "A slice of a ref has a step that is not positive.",
)
_fault_rule(
    "dynamic-python-slice",
    lambda event, detail: (
        f"a Python slice of {words.name(event.ref)} has traced bounds: its size would not be static, `pl.ds(start, size)` has a static size",
        "Attempted boolean conversion of traced array with shape bool[].",
    ),
    "A Python slice of a ref has traced bounds.",
)
_fault_rule(
    "dynamic-slice-size",
    lambda event, detail: (
        f"the size of this `pl.ds` on {words.name(event.ref)} is traced: a load or store has a static size",
        "DShapedArray(shape=...)",
    ),
    "The size of a `pl.ds` is traced.",
)
_fault_rule(
    "slice-out-of-bounds",
    lambda event, detail: (
        f"`pl.ds` reads {words.last(detail)} of {words.name(event.ref)}, whose dim {detail[4]} has size {detail[3]}",
        f"Out of bound slice: start={detail[0]}, size={detail[1]}, stride={detail[2]}, dim={detail[3]}.",
    ),
    "A static `pl.ds` goes beyond its dim.",
    # Up to 0.10 JAX does not look at a slice that starts at 0.
    checked=lambda detail, context: detail[0] != 0 or context.jax(since="0.12"),
)
_fault_rule(
    "unsupported-index-type",
    lambda event, detail: (
        f"{_UNSUPPORTED[detail]} cannot index {words.name(event.ref)}: an index is an int, a slice, `pl.ds` or `...`"
        + (", and `*` unpacks a tuple of them" if detail == "tuple" else ""),
        _TREE_MESSAGES.get(detail, "too many values to unpack (expected 1)"),
    ),
    "An indexer holds something that no ref can be indexed by.",
)
_fault_rule(
    "ref-indexers",
    lambda event, detail: (
        f"{'two refs index' if detail == 'several' else 'a ref and a number index'} {words.name(event.ref)}: load the index first, `idx_ref[i]`",
        "Multiple Ref indexers are not supported" if detail == "several" else "Ref cannot be mixed with other non-slice indexers",
    ),
    "Refs stand among the indices.",
)


def _entry(event: Access, kinds: tuple[str, ...]) -> IndexEntry | None:
    return next((entry for entry in event.entries if entry.kind in kinds), None)


@rule("constant-slice-start", on=Access, order=48, stage="lower")
def constant_slice_start(event: Access, context: Context) -> Finding | None:
    """A slice of a ref starts at a number that JAX or NumPy has made an array of."""
    if event.fault is not None or not happens(event, context):
        return None
    seen = [*((entry.value, entry.node) for entry in event.entries), *((value, None) for value in event.ref.key or ())]
    found = next(((v.start, node) for v, node in seen if isinstance(v, DynamicSlice) and _is_constant(v.start)), None)
    if found is None or (event.api == "pltpu" and not found[0].numpy):  # which folds what JAX knows
        return None
    if found[0].numpy and found[1] is None and any(entry.kind != "ellipsis" for entry in event.entries):
        return None  # the number of a view that is indexed again has been made a plain one
    start, node = found
    if not start.numpy and not _in_one_function(event, start.made_by, event.where.node):
        return None
    return Finding(
        event.where.at(node),
        f"a slice of {words.name(event.ref)} starts at {start.constant} made an array: a start that is known is a plain Python number",
        jax_message="'numpy.int32' object has no attribute 'type'" if start.numpy else "Too many leaves for PyTreeDef; expected ...",
    )


def _is_constant(start: Value) -> bool:
    return isinstance(start, Array) and isinstance(start.constant, int) and (start.traced or start.numpy)


def _in_one_function(event: Access, made_by: ast.AST | None, used_by: ast.AST) -> bool:
    """Whether both nodes stand in the same innermost function: into another one that is traced apart, JAX carries an array as a variable."""
    functions: list[ast.AST | None] = [None, None]
    for function in ast.walk(event.where.module.parsed.tree):  # breadth first: what is further in comes later
        if isinstance(function, ast.FunctionDef | ast.Lambda):
            inside = set(ast.walk(function))
            functions = [function if node in inside else found for node, found in zip((made_by, used_by), functions, strict=True)]
    return functions[0] is functions[1] is not None


@rule("mixed-array-indexers", on=Access, order=49, stage="lower")
def mixed_array_indexers(event: Access, context: Context) -> Finding | None:
    """Array indexers of different shapes, or a number beside one."""
    arrays = [entry for entry in event.entries if entry.kind == "array"]
    scalars = [entry for entry in event.entries if entry.kind == "int"]
    if not arrays or event.fault is not None or not happens(event, context):
        return None
    shapes = {entry.value.shape for entry in arrays}
    if not scalars and len(shapes) == 1:
        return None
    if len(shapes) > 1 and any(not isinstance(dim, int) for shape in shapes for dim in shape):
        return None
    what = "a scalar and an array index" if scalars else "arrays of different shapes index"
    return Finding(
        event.where.at((scalars or arrays)[0].node),
        f"{what} {words.name(event.ref)} together: on TPU a ref is indexed by scalars and slices only",
        jax_message="`broadcast_to` is a Triton-specific primitive. Please consider using `jnp.broadcast_to` instead.",
    )


@rule("integer-array-indexer", on=Access, order=50, stage="lower", cores=EVERY)
def integer_array_indexer(event: Access, context: Context) -> Finding | None:
    """An array of integers indexes a ref."""
    entry = _entry(event, ("array", "ref"))
    if entry is None or event.fault is not None or not happens(event, context):
        return None
    if isinstance(entry.value, Ref) and (entry.value.shape is None or entry.value.shape == ()):
        return None
    what = f"the array {words.array(entry.value)}" if isinstance(entry.value, Array) else f"the ref {words.name(entry.value)}"
    sparse = event.where.core.is_sparse
    advice = ", `plsc.load_gather` reads and `plsc.store_scatter` writes by indices" if sparse else ""
    return Finding(
        event.where.at(entry.node),
        f"{what} indexes {words.name(event.ref)}: on TPU a ref is indexed by scalars and slices only{advice}",
        jax_message="Pallas encountered an internal verification error. ... 'arith.index_cast' op" if sparse else "Cannot do int indexing on TPU",
    )


@rule("float-index", on=Access, order=51, stage="lower")
def float_index(event: Access, context: Context) -> Finding | None:
    """A float indexes a ref."""
    entry = _entry(event, ("float",))
    # A float made by jnp.float32(...) lowers, so only Python's own floats and loaded values are refused.
    if entry is None or event.fault is not None or not happens(event, context):
        return None
    if isinstance(entry.value, Array) and not _comes_from_load(entry.value):
        return None
    return Finding(
        event.where.at(entry.node),
        f"a float indexes {words.name(event.ref)}: an index is a whole number, `//` gives one",
        jax_message="'TypedFloat' object has no attribute 'type'",
    )


def _comes_from_load(value: Array) -> bool:
    return any(isinstance(operand, Access) for operand in value.operands)


@rule("ref-index-bounds", on=Access, order=130, stage="run")
def ref_index_bounds(event: Access, context: Context) -> Finding | None:
    """A static integer index is negative or beyond the block."""
    shape = event.ref.shape
    if shape is None or event.fault is not None or not happens(event, context) or any(e.kind == "unknown" for e in event.entries):
        return None
    for axis, entry in zip(axes(shape, event.entries), event.entries, strict=True):
        value = entry.value
        if axis is None or entry.kind != "int" or not isinstance(value, int | Poly) or isinstance(value, bool):
            continue
        facts = event.where.facts
        index, dim = facts.resolve(value), facts.resolve(shape[axis])
        if less(index, 0) is Truth.YES or less_equal(dim, index) is Truth.YES:
            side = "negative" if less(index, 0) is Truth.YES else "beyond the end"
            return Finding(
                event.where.at(entry.node),
                f"index {words.dim(index)} of {words.name(event.ref)} is {side}: dim {axis} has size {words.dim(dim)}, and JAX neither wraps nor checks it",
                words.shaped(event.ref),
            )
    return None

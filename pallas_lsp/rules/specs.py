"""Specs, grid specs and scratch entries as arguments: of the right type, of the structure of what they are for.

Mirrors ``jax/_src/pallas/pallas_call.py`` (``pallas_call``) and ``jax/_src/pallas/core.py`` (``GridSpec.__init__``, ``get_grid_mapping``).
"""

from __future__ import annotations

from ..interpreter.call_events import SignatureFault, StructureFault
from ..interpreter.events import CallFault
from ..interpreter.values import ABSENT, Array, BlockSpec, Dtype, Instance, Iteration, Library, Value
from . import signatures, words
from .diagnostic import Related
from .registry import Context, Finding, rule


@rule("in-specs-not-sequence", on=CallFault, order=40, stage="trace")
def in_specs_not_sequence(event: CallFault, context: Context) -> Finding | None:
    """``in_specs`` is neither a tuple nor a list."""
    if event.kind != "in-specs-type":
        return None
    one = "one BlockSpec" if isinstance(event.detail, BlockSpec) else words.kind_of(event.detail)
    return Finding(
        event.where.location,
        f"`in_specs` is {one}: it is a tuple or list with one spec for each operand, even for a single one",
        jax_message="`in_specs` must be a tuple or a list. Found: ...",
    )


@rule("in-specs-tree-mismatch", on=StructureFault, order=10, stage="trace")
def in_specs_tree_mismatch(event: StructureFault, context: Context) -> Finding | None:
    """The structure of ``in_specs`` is not that of the operands."""
    if event.side != "in_specs":
        return None
    if event.arrays is ABSENT:
        return _no_spec(event)
    before = f", besides {words.count(event.prefetched, 'prefetched operand')}" if event.prefetched else ""
    if not event.path and isinstance(event.specs, tuple) and isinstance(event.arrays, tuple):
        specs, operands = words.count(len(event.specs), "spec"), words.count(len(event.arrays), "operand")
        what = f"`in_specs` has {specs}, but the call gives the kernel {operands}{before}"
    else:
        what = f"{_at('in_specs', event.path)} is {_node(event.specs, 'spec')}, but the operand there is {_node(event.arrays, 'array')}"
    return Finding(event.where.location, what, (Related(event.arrays_at, "the operands are given here"),), _mismatch(event, "inputs"))


@rule("out-specs-tree-mismatch", on=StructureFault, order=11, stage="trace")
def out_specs_tree_mismatch(event: StructureFault, context: Context) -> Finding | None:
    """The structure of ``out_specs`` is not that of ``out_shape``."""
    if event.side != "out_specs":
        return None
    if event.arrays is ABSENT:
        return _no_spec(event)
    if not event.path and isinstance(event.specs, tuple) and isinstance(event.arrays, tuple):
        what = f"`out_specs` has {words.count(len(event.specs), 'spec')}, but `out_shape` has {words.count(len(event.arrays), 'output')}"
    else:
        specs, shapes = _node(event.specs, "spec"), _node(event.arrays, "shape")
        what = f"{_at('out_specs', event.path)} is {specs}, but {_at('out_shape', event.path)} is {shapes}"
    return Finding(event.where.location, what, (Related(event.arrays_at, "the outputs are described here"),), _mismatch(event, "out_shape"))


def _no_spec(event: StructureFault) -> Finding:
    is_class = isinstance(event.specs, Library) and event.specs.name.endswith(".BlockSpec")
    if is_class:
        what = f"{_at(event.side, event.path)} is the class `pl.BlockSpec` itself: `pl.BlockSpec()` makes one"
        return Finding(event.where.location, what, jax_message="replace() missing 1 required positional argument: 'obj'")
    is_space = isinstance(event.specs, Library)
    instead = f", a memory space stands in one: `pl.BlockSpec(memory_space={words.kind_of(event.specs).strip('`')})`" if is_space else ""
    return Finding(
        event.where.location,
        f"{_at(event.side, event.path)} is {words.kind_of(event.specs)}, not a BlockSpec{instead}",
        jax_message="'super' object has no attribute '__getattr__'" if is_space else f"'{type(event.specs).__name__}' object has no attribute 'memory_space'",
    )


def _at(argument: str, path: str) -> str:
    return f"`{argument}{path}`"


def _mismatch(event: StructureFault, other: str) -> str:
    quoted = f"`{other}`"
    return f"Pytree for `{event.side}` and {quoted} do not match. There are 1 mismatches, including: ..."


def _node(value: Value, leaf: str) -> str:
    """A node of a pytree in words."""
    if isinstance(value, tuple | list):
        kind = type(value).__name__
        return f"an empty {kind}" if not value else f"a {kind} of {len(value)}"
    if isinstance(value, dict):
        return f"a dict with the keys {', '.join(map(repr, value))}" if value else "an empty dict"
    if isinstance(value, Instance):
        return f"a `{value.cls.name}`"
    return words.kind_of(value) if value is None or isinstance(value, Iteration) else f"a single {leaf}"


@rule("grid-not-int", on=CallFault, order=45, stage="trace")
def grid_not_int(event: CallFault, context: Context) -> Finding | None:
    """A grid has a size that is no whole number."""
    if event.kind != "grid":
        return None
    grid = event.detail
    sizes = grid if isinstance(grid, tuple | list) else (grid,)
    wrong = next(size for size in sizes if not isinstance(size, int) or isinstance(size, bool))
    if isinstance(wrong, tuple) and len(wrong) == 2:
        wrong = wrong[1]
    divided = ", `//` and `pl.cdiv` give whole numbers" if isinstance(wrong, float) else ""
    what = "a size of this grid" if isinstance(grid, tuple | list) else "the grid"
    if isinstance(grid, Array):
        whose, jax = ("NumPy's", "invalid index to scalar variable.") if grid.numpy else ("JAX's", "Attempted boolean conversion of traced array")
        what = f"the grid is a number of {whose}, which is no Python int: a tuple takes it as it is"
        return Finding(event.where.location, what, jax_message=jax)
    python = "NoneType" if grid is None else type(grid).__name__
    jax = f"Grid must be a tuple of integers or jax.Array, got {words.literal_tuple(grid)}" if isinstance(grid, tuple | list) else (
        f"'{python}' object is not {'iterable' if grid is None else 'subscriptable'}"
    )  # fmt: skip
    return Finding(event.where.location, f"{what} is {words.kind_of(wrong)}: sizes are whole numbers{divided}", jax_message=jax)


@rule("grid-spec-conflict", on=CallFault, order=41, stage="trace")
def grid_spec_conflict(event: CallFault, context: Context) -> Finding | None:
    """An argument is given both by itself and with a ``grid_spec``."""
    if event.kind != "grid-spec-conflict":
        return None
    default = "`no_block_spec`" if event.detail.endswith("specs") else "`()`"
    return Finding(
        event.where.location,
        f"`{event.detail}` is given beside `grid_spec`: a grid spec brings its own, so it belongs inside",
        jax_message=f"If `grid_spec` is specified, then `{event.detail}` must be {default}. It is ...",
    )


@rule("grid-spec-type", on=CallFault, order=42, stage="trace")
def grid_spec_type(event: CallFault, context: Context) -> Finding | None:
    """``grid_spec`` is no grid spec."""
    if event.kind != "grid-spec-type":
        return None
    return Finding(
        event.where.location,
        f"`grid_spec` is {words.kind_of(event.detail)}, not a grid spec: sizes alone are given as `grid`",
        jax_message=f"'{type(event.detail).__name__}' object has no attribute 'grid'",
    )


@rule("scratch-not-sequence", on=CallFault, order=50, stage="trace")
def scratch_not_sequence(event: CallFault, context: Context) -> Finding | None:
    """``scratch_shapes`` is neither a sequence nor a dict."""
    if event.kind != "scratch-sequence":
        return None
    what = "None" if event.detail is None else "a single entry"
    return Finding(
        event.where.location,
        f"`scratch_shapes` is {what}: it is a list with an entry for each scratch buffer",
        jax_message=f"'{'NoneType' if event.detail is None else 'AbstractRef'}' object is not iterable",
    )


@rule("scratch-dict-in-grid-spec", on=CallFault, order=51, stage="trace")
def scratch_dict_in_grid_spec(event: CallFault, context: Context) -> Finding | None:
    """A grid spec is given a dict of scratch buffers."""
    if event.kind != "scratch-dict":
        return None
    return Finding(
        event.where.location,
        "a dict `scratch_shapes` in a grid spec: only `pl.pallas_call(..., scratch_shapes=...)` takes a dict",
        jax_message="'str' object has no attribute 'get_ref_aval'",
    )


@rule("scratch-invalid-type", on=CallFault, also=(SignatureFault,), order=52, stage="trace")
def scratch_invalid_type(event: CallFault | SignatureFault, context: Context) -> Finding | None:
    """A scratch entry is no piece of memory, or one without shape or dtype."""
    if isinstance(event, SignatureFault):
        if not event.function.endswith(".__call__"):
            return None
        found = signatures.finding(event, context)
        owner = event.function.split(".")[-2]
        names = " and ".join(repr(name) for name in event.fault.names)
        found.jax_message = f"{owner}.__call__() missing {len(event.fault.names)} required positional argument: {names}"
        return found
    if event.kind == "scratch-shape":
        what = f"the shape of this scratch buffer is {_shape(event.detail)}: it is a tuple of whole numbers"
        jax = "Shapes must be 1D sequences of concrete values of integer type, got ..." if isinstance(event.detail, tuple | list) else (
            f"'{type(event.detail).__name__}' object is not iterable"
        )  # fmt: skip
        return Finding(event.where.location, what, jax_message=jax)
    if event.kind != "scratch-entry":
        return None
    kind = _entry(event.detail)
    name = {Iteration: "generator", Dtype: "dtype", Library: "MemorySpace"}.get(type(event.detail), type(event.detail).__name__)
    name = {"ShapeDtype": "ShapeDtypeStruct", "Array": "DynamicJaxprTracer"}.get(name, name)
    return Finding(
        event.where.location,
        f"a scratch entry is {kind}: an entry names its memory too, as in `pltpu.VMEM(shape, dtype)`",
        jax_message=f"'{name}' object has no attribute 'get_ref_aval'",
    )


def _entry(value: Value) -> str:
    return f"{words.kind_of(value)} without shape and dtype" if isinstance(value, Library) else words.kind_of(value)


def _shape(value: Value) -> str:
    if isinstance(value, tuple | list):
        return f"({', '.join(words.literal(size) for size in value)})"
    return words.kind_of(value)

"""Which blocks a grid visits: silent mistakes, which lower and compile and give wrong results.

They speak only of grids, blocks and index maps that are known as numbers. JAX says nothing of them outside its TPU interpreter
(``jax/_src/pallas/mosaic/interpret/interpret_pallas_call.py``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ..interpreter.call_events import Window
from ..interpreter.values import Function
from ..interpreter.written import free_names
from ..kernels.windows import Visits, block_sizes, is_whole, step_count, visits
from ..shapes import dims
from ..shapes.dims import MaybeDim, Truth
from ..text.span import Location
from . import places, words
from .diagnostic import Related
from .registry import Context, Finding, rule


def _is_plain(event: Window) -> bool:
    """Whether the window is one of blocks, and nothing is wrong with it that JAX would say."""
    return event.fault is None and event.spec is not None and event.root.space in ("vmem", "smem")


def _spec_place(event: Window) -> Location:
    assert event.spec is not None
    return places.of_argument(event.spec.origin, 0, "block_shape")


@rule("index-map-late-binding", on=Window, order=100, stage="run")
def index_map_late_binding(event: Window, context: Context) -> Finding | None:
    """An index map made in a loop uses the loop's variable, which by then has its last value."""
    if not _is_plain(event) or event.result is None or event.spec is None or not event.siblings:
        return None
    function = event.result.function
    name = _loop_variable(function)
    if name is None:
        return None
    return Finding(
        places.of_header(function) if isinstance(function.node, ast.Lambda) else places.of_returned(function),
        f"this index map is made in a loop over `{name}` and called after it, when `{name}` has its last value: all specs of the loop read "
        f"the same block, `{name}={name}` as a last parameter keeps each value",
        (Related(event.call, "the specs are used in this call"),),
    )


def _loop_variable(function: Function) -> str | None:
    """A variable of a loop around the function that the function reads from outside itself."""
    spec = function.node.args
    own = {p.arg for p in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs, *filter(None, (spec.vararg, spec.kwarg)))}
    own |= {n.id for n in ast.walk(function.node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    free = [name for name in free_names(function.node) if name not in own]
    if not free:
        return None
    place = function.module.source.span_of(function.node)
    for loop in function.module.parsed.loops:
        targets = [loop.target] if isinstance(loop, ast.For) else [g.target for g in loop.generators]
        body: list[ast.stmt] | list[ast.expr] = loop.body if isinstance(loop, ast.For) else [loop.elt]
        first, last = function.module.source.span_of(body[0]), function.module.source.span_of(body[-1])
        names = [n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)]
        found = next((name for name in names if name in free), None)
        if found is not None and first.start <= place.start and place.end <= last.end:
            return found
    return None


@rule("index-map-default-param", on=Window, order=101, stage="run")
def index_map_default_param(event: Window, context: Context) -> Finding | None:
    """A parameter of an index map that is to keep a value (``k=k``) receives a grid index instead."""
    if not _is_plain(event) or event.result is None or event.grid is None:
        return None
    function = event.result.function
    spec = function.node.args
    positional = [*spec.posonlyargs, *spec.args]
    received = len(event.grid) + event.prefetched
    first = len(positional) - len(spec.defaults)
    for index, default in enumerate(spec.defaults, first):
        if index < received and isinstance(default, ast.Name) and default.id == positional[index].arg:
            name = default.id
            return Finding(
                places.of_parameter(function, name),
                f"`{name}={name}` is to keep a value, but this index map is called with {received} arguments, so that `{name}` is grid index "
                f"{index}: a parameter behind those of the grid keeps it",
                (Related(event.call, "the kernel is called here"),),
            )
    return None


@rule("missing-index-map", on=Window, order=110, stage="run")
def missing_index_map(event: Window, context: Context) -> Finding | None:
    """An output's block is a part of the array, but no index map says which part a step writes."""
    if not _is_plain(event) or event.mapped or not event.grid or is_whole(event) is not Truth.NO or event.root.role != "output":
        return None
    steps, blocks = step_count(event), _block_count(event)
    if steps is None or dims.less(1, steps) is not Truth.YES or blocks is None or dims.less(1, blocks) is not Truth.YES:
        return None
    return Finding(
        event.where.location,
        f"block {words.block(event.root)} of {words.window(event)} has no index map, so every step of the grid {words.grid(event.grid)} "
        f"writes the same block of the array {words.shape(event.root.array)} and the rest stays unwritten",
        (Related(event.call, "the grid is given in this call"),),
    )


def _block_count(event: Window) -> MaybeDim:
    sizes, array = block_sizes(event), event.root.array
    if sizes is None or array is None or len(sizes) != len(array):
        return None
    return dims.product(event.where.facts.resolve(dims.cdiv(a, b)) for a, b in zip(array, sizes, strict=True))


def _reach(event: Window, seen: Visits) -> tuple[int, int, tuple[int, ...], int] | None:
    """A dim, an index beyond its blocks, the first step that takes it, and how many blocks there are; the largest index counts."""
    for axis, blocks in enumerate(seen.blocks):
        taken = seen.along(axis)
        if taken is None or not isinstance(blocks, int):
            continue
        lowest, highest = min(taken), max(taken)
        if highest >= blocks:
            return axis, highest, taken[highest], blocks
        if lowest < 0:
            return axis, lowest, taken[lowest], blocks
    return None


@rule("index-map-element-offset", on=Window, order=120, stage="run")
def index_map_element_offset(event: Window, context: Context) -> Finding | None:
    """An index map returns an offset in elements, where the number of a block is asked for."""
    found = _beyond(event)
    if found is None or event.result is None or event.result.formula is None:
        return None
    axis, index, step, blocks = found
    size = (block_sizes(event) or ())[axis]
    formula = event.where.facts.resolve(event.result.formula[axis])
    if not isinstance(size, int) or size < 2 or isinstance(formula, int) or dims.divides(size, formula) is not Truth.YES:
        return None
    name = words.window(event)
    return Finding(
        places.of_returned(event.result.function, axis),
        f"index {axis} of {name} is an offset in elements: at step {words.step(step)} it is {index}, but it counts blocks of {size}, of which "
        f"there are {blocks}",
        (Related(event.where.location, f"the spec of {name}"),),
    )


@rule("index-map-out-of-range", on=Window, order=121, stage="run")
def index_map_out_of_range(event: Window, context: Context) -> Finding | None:
    """A step of the grid asks for a block that the array does not have."""
    found = _beyond(event)
    if found is None or event.spec is None:
        return None
    axis, index, step, blocks = found
    size = (block_sizes(event) or ())[axis]
    name = words.window(event)
    return Finding(
        places.of_returned(event.result.function, axis) if event.result is not None else event.where.location,
        f"at step {words.step(step)} the index map of {name} asks for block {index} along dim {axis}, but the array "
        f"{words.shape(event.root.array)} has {words.count(blocks, 'block')} of {words.dim(size)} there",
        (Related(event.grid_at, f"the grid is {words.grid(event.grid or ())}"),),
    )


def _beyond(event: Window) -> tuple[int, int, tuple[int, ...], int] | None:
    seen = visits(event) if _is_plain(event) and event.mapped else None
    return _reach(event, seen) if seen is not None else None


@rule("output-not-covered", on=Window, order=130, stage="run")
def output_not_covered(event: Window, context: Context) -> Finding | None:
    """Some blocks of an output are written by no step of the grid."""
    if event.root.role != "output" or not _is_plain(event) or not event.mapped or event.root.aliased:
        return None
    seen = visits(event)
    if seen is None:
        return None
    for axis, blocks in enumerate(seen.blocks):
        taken = seen.along(axis)
        if taken is None or not isinstance(blocks, int):
            continue
        missed = blocks - len([index for index in taken if 0 <= index < blocks])
        if missed > 0:
            return _not_covered(event, axis, blocks, missed)
    return None


def _not_covered(event: Window, axis: int, blocks: int, missed: int) -> Finding:
    size, whole = (block_sizes(event) or ())[axis], (event.root.array or ())[axis]
    ragged = isinstance(size, int) and isinstance(whole, int) and whole % size != 0
    hint = ", `pl.cdiv` counts the last partial block too" if ragged and missed == 1 else ""
    return Finding(
        event.grid_at,
        f"the grid {words.grid(event.grid or ())} writes {blocks - missed} of the {blocks} blocks of {words.window(event)} along dim {axis} "
        f"(blocks of {words.dim(size)}, the array is {words.shape(event.root.array)}): the rest stays unwritten{hint}",
        (Related(event.where.location, f"the spec of {words.window(event)}"),),
    )


@rule("output-revisited", on=Window, order=140, stage="run")
def output_revisited(event: Window, context: Context) -> Finding | None:
    """A kernel reads back an output block that it left in between."""
    if event.root.role != "output" or not _is_plain(event) or not event.mapped or not event.root.read:
        return None
    seen = visits(event)
    steps = seen.steps() if seen is not None else None
    again = _returned_to(steps) if steps is not None else None
    if again is None or seen is None:
        return None
    used = frozenset[int]().union(*(axes or () for axes in seen.used_axes))
    outer = next((axis for axis, size in enumerate(seen.grid) if axis not in used and size > 1), None)
    order = f": grid axis {outer}, which its index ignores, belongs behind the others" if outer is not None else ""
    return Finding(
        event.grid_at,
        f"block {words.step(again)} of {words.window(event)} is left and visited again, but the kernel reads it back: what a step wrote is there "
        f"only for the steps that follow at once{order}",
        (Related(event.where.location, f"the spec of {words.window(event)}"),),
    )


def _returned_to(steps: Iterable[tuple[int, ...]]) -> tuple[int, ...] | None:
    """The first block that is visited again after another one."""
    left: set[tuple[int, ...]] = set()
    current: tuple[int, ...] | None = None
    for block in steps:
        if block != current:
            if block in left:
                return block
            if current is not None:
                left.add(current)
            current = block
    return None



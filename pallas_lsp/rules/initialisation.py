"""Reading what nobody has written: output and scratch buffers hold anything before the first store. Silent on a TPU."""

from __future__ import annotations

import ast

from ..interpreter.call_events import FirstRead, NeverWritten, Window
from ..kernels.windows import visits
from . import places, words
from .diagnostic import Related
from .registry import Context, Finding, rule


@rule("accumulator-not-initialised", on=FirstRead, order=10, stage="run")
def accumulator_not_initialised(event: FirstRead, context: Context) -> Finding | None:
    """A kernel adds to a buffer in which nothing was stored."""
    root = event.access.ref.root
    if root.role not in ("output", "scratch") or root.aliased or root.space not in ("vmem", "smem") or not event.accumulates:
        return None
    if event.guards:
        return _started_elsewhere(event)
    what = "an output" if root.role == "output" else "a scratch buffer"
    return Finding(
        event.where.location,
        f"{words.name(event.access.ref)}, {what}, is added to before anything is stored in it: it holds no zeros at first, a store on the "
        "first step of the sum starts it",
        words.decided(event.access.ref) if root.role == "scratch" else (),
    )


def _started_elsewhere(event: FirstRead) -> Finding | None:
    """A sum whose start is guarded by an axis along which the output has other blocks: those are never started."""
    window = event.access.ref.root.window
    seen = visits(window) if isinstance(window, Window) and event.access.ref.root.role == "output" else None
    if seen is None or None in seen.used_axes:
        return None
    used = frozenset[int]().union(*(axes or () for axes in seen.used_axes))
    wrong = sorted(axis for axis in event.guards & used if seen.grid[axis] > 1)
    if not wrong or any(axis >= len(seen.grid) for axis in event.guards):
        return None
    others = [axis for axis, size in enumerate(seen.grid) if axis not in used and size > 1]
    hint = f": the sum runs over grid axis {others[0]}" if len(others) == 1 else ""
    return Finding(
        event.where.location,
        f"{words.name(event.access.ref)} is started only where `pl.program_id({wrong[0]}) == 0`, but its block changes along grid axis {wrong[0]}, "
        f"so that most blocks are added to what was in memory{hint}",
        (Related(window.where.location, f"the spec of {words.name(event.access.ref)}"),),
    )


@rule("uninitialised-output", on=FirstRead, order=11, stage="run")
def uninitialised_output(event: FirstRead, context: Context) -> Finding | None:
    """A kernel reads an output before it has stored anything to it."""
    root = event.access.ref.root
    if root.role != "output" or root.aliased or root.space not in ("vmem", "smem") or event.accumulates or event.guards:
        return None
    return Finding(
        event.where.location,
        f"{words.name(event.access.ref)} is read before anything is stored in it: an output holds nothing yet, "
        "`input_output_aliases` gives it an operand's values",
    )


@rule("output-never-written", on=NeverWritten, order=10, stage="run")
def output_never_written(event: NeverWritten, context: Context) -> Finding | None:
    """A kernel stores nothing to one of its outputs."""
    name = event.root.name
    if _is_unused_on_purpose(event.function.node, name):
        return None
    spec = event.function.node.args
    own = {p.arg for p in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)}
    kernel = "this lambda" if isinstance(event.function.node, ast.Lambda) else f"kernel `{event.function.name}`"
    related = (Related(event.where.call, "the kernel is called here"),) if event.where.call is not None else ()
    return Finding(
        places.of_parameter(event.function, name) if name in own else places.of_header(event.function),
        f"{kernel} stores nothing to its output `{name}`, which comes back with whatever was in memory",
        related,
    )


def _is_unused_on_purpose(function: ast.AST, name: str) -> bool:
    """Whether the kernel says itself that it does not use the output: ``del o_ref``, or a name that begins with an underscore."""
    deleted = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Del)}
    return name in deleted or name.startswith(("_", "unused"))

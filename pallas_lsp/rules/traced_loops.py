"""Loops and branches that JAX traces: what goes round, what comes out, what decides.

Mirrors ``jax/_src/lax/control_flow/loops.py`` (``_check_carry_type``), ``jax/_src/lax/control_flow/conditionals.py``
(``_check_branch_outputs``) and ``jax/_src/pallas/mosaic/lowering.py`` (``_scan_lowering_rule``) with ``jax/_src/pallas/utils.py``
(``pattern_match_scan_to_fori_loop``).
"""

from __future__ import annotations

from ..interpreter.events import Computed
from ..interpreter.operation_events import BranchResults, LoopCarry, ScanMade
from ..interpreter.values import Array, Value
from . import words
from .lowered import is_live, is_used
from .registry import Context, Finding, rule


def described(value: Value) -> str:
    """A value or a structure in short words."""
    if value is None:
        return "None"
    if isinstance(value, tuple | list):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return f"a {kind} of {len(value)}"
    return "a dict" if isinstance(value, dict) else words.array(value)


@rule("loop-carry-mismatch", on=LoopCarry, order=10, stage="trace")
def loop_carry_mismatch(event: LoopCarry, context: Context) -> Finding | None:
    """A loop's body gives back a carry of another structure or type than it receives."""
    if event.loop == "parallel_loop":
        return None
    before, after = described(event.before), described(event.after)
    what = "must have the same pytree structure" if event.kind == "structure" else "must have equal types"
    forgotten = event.kind == "structure" and event.after is None
    hint = "the body has no `return`" if forgotten else "make the start value the same type as what the body returns"
    return Finding(
        event.where.location,
        f"the loop starts with {before}, its body gives back {after}: {hint}",
        jax_message=f"{event.loop} body function carry input and carry output {what}, but they differ:",
    )


@rule("cond-branch-mismatch", on=BranchResults, order=10, stage="trace")
def cond_branch_mismatch(event: BranchResults, context: Context) -> Finding | None:
    """Branches of a traced condition give different structures or types."""
    first, other = described(event.first), described(event.other)
    if event.function == "when":
        message = f"this block gives back {first}: `pl.when` takes a function without a result"
    else:
        message = f"one branch gives {first}, another {other}: all must give the same"
    jax = (
        "branches must have equal output types but they differ."
        if event.kind == "type"
        else "branch outputs must have the same pytree structure, but they differ:"
    )
    name = "switch" if event.function == "switch" else "cond"
    return Finding(event.where.location, message, jax_message=f"{name} {jax}")


@rule("predicate-not-scalar", on=Computed, order=5, stage="trace")
def predicate_not_scalar(event: Computed, context: Context) -> Finding | None:
    """What decides a branch or a loop is no scalar truth value."""
    value = event.source
    if event.kind == "predicate" and value.shape:
        message = f"the condition is {words.array(value)}, a vector: a branch is taken by a scalar"
        jax = f"Pred must be a scalar, got ... of shape {words.shape(value.shape)}."
    elif event.kind == "while-predicate":
        reduce = ", `jnp.any` or `jnp.max` make one of a vector" if value.shape else ", compare it with something"
        message = f"the loop's condition is {words.array(value)}: it must be one truth value{reduce}"
        jax = "cond_fun must return a boolean scalar, but got output type(s) ..."
    else:
        return None
    return Finding(event.where.location, message, jax_message=jax)


@rule("scan-form", on=ScanMade, order=10, stage="lower")
def scan_form(event: ScanMade, context: Context) -> Finding | None:
    """A scan walks over arrays, stacks outputs or runs backwards."""
    if not (event.effects or is_used((event.carry, event.stacked), event.where, context)):
        return None
    kept = event.where.dead_code_kept
    rows = [row for row in event.rows if kept or is_live(row)]
    stacked = kept or is_live(event.stacked)
    if event.reverse:
        what, jax = "runs backwards", ""
    elif rows:
        what, jax = "walks over an array", "Scan with {n} extensive argument(s) is not supported. Found {c} consts and {k} carry arguments."
    elif stacked and _arrays(event.stacked):
        what, jax = "stacks what its body gives", "Scan with {n} extensive output(s) is not supported."
    else:
        return None
    return Finding(
        event.where.location,
        f"this scan {what}, which the TPU lowering does not know: `lax.fori_loop` over the rows of a ref does the same",
        jax_message=jax,
    )


def _arrays(value: Value) -> bool:
    return isinstance(value, Array) or (isinstance(value, tuple | list) and any(map(_arrays, value)))

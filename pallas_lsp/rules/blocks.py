"""What a block may look like. Mirrors ``jax/_src/pallas/mosaic/lowering.py``: ``_check_block_mappings``."""

from __future__ import annotations

from ..interpreter.events import KernelRun
from ..interpreter.values import Ref
from ..shapes import dtypes
from . import words
from .registry import Context, Finding, rule


@rule("block-rank-zero", on=KernelRun, order=10, stage="lower")
def block_rank_zero(event: KernelRun, context: Context) -> Finding | None:
    """An operand or output without dims is outside SMEM."""
    for _, value in event.refs:
        if (
            not isinstance(value, Ref)
            or value.root.role not in ("input", "output")
            or value.root.block != ()
            or value.root.space in (None, "smem")
        ):
            continue
        if value.dtype is None or dtypes.kind(value.dtype) == "extended":  # a key has dims of its own
            continue
        side = "operand" if value.root.role == "input" else "output"
        return Finding(
            value.root.decided_at or event.where.location,
            f"{words.name(value)} is an {side} of shape () in {words.space(value.root)}: outside SMEM a block needs at least one dim",
            words.decided(value),
            "The Pallas TPU lowering currently supports only blocks of rank >= 1.",
        )
    return None

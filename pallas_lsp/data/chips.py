"""What TPU chips have: cores and memory."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=1)
def load_chips() -> dict[str, dict[str, int]]:
    """The table of chips, by the name that ``--target`` takes."""
    return tomllib.loads(Path(__file__).with_name("chips.toml").read_text(encoding="utf-8"))


def at_most(target: str | None, what: str) -> int:
    """How much of ``what`` (``cores``, ``vmem`` …) the target has; without one, the most that any chip has."""
    chips = load_chips()
    return chips[target][what] if target in chips else max(chip[what] for chip in chips.values())


def lanes(target: str | None) -> frozenset[int]:
    """How many numbers of 32 bits a register of a SparseCore may hold: the target's, or without one that has SparseCores any chip's."""
    chips = load_chips()
    own = chips[target]["lanes"] if target in chips else 0
    return frozenset((own,)) if own else frozenset(filter(None, (chip["lanes"] for chip in chips.values())))

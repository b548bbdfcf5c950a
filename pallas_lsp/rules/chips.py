"""Which chips a finding about the TPU compiler holds for."""

from __future__ import annotations

from .registry import Context

ALL = frozenset({"v4", "v5e", "v5p", "v6e", "tpu7x"})
"""The chips that were asked. libtpu compiles for each of them without one."""


def refused_on(context: Context, chips: frozenset[str]) -> bool:
    """Whether the chip that is stated refuses it; without one, whether all chips do."""
    return context.target in chips if context.target is not None else chips >= ALL


def where(context: Context, chips: frozenset[str]) -> str:
    """The chips in words, for the message of a finding."""
    if chips >= ALL:
        return "no TPU"
    return f"not {context.target}" if context.target is not None else f"not {', '.join(sorted(chips))}"

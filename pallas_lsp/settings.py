"""What a user may choose: the same keys for options, configuration and editors."""

from __future__ import annotations

from dataclasses import dataclass

from .given import GivenCall

TARGETS = ("v4", "v5e", "v5p", "v6e", "tpu7x")


@dataclass(frozen=True, slots=True)
class Settings:
    """Choices that one analysis obeys.

    ``select``: rule ids to report, None for all. ``ignore``: rule ids never to report.
    ``jax_version``: the JAX whose rules hold, None to take the environment's, or where there is none
    only what all known versions agree on. ``target``: one of ``TARGETS``, None for every chip. ``shapes``: calls of functions with shapes
    that the source does not tell.
    """

    select: frozenset[str] | None = None
    ignore: frozenset[str] = frozenset()
    jax_version: str | None = None
    target: str | None = None
    shapes: tuple[GivenCall, ...] = ()

"""Many random kernels judged: each one, and what is left of it when the statement that JAX refuses is taken out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import jax
from random_kernels.compare import Comparison, Outcome, compare, without
from random_kernels.families import ACCESSES, Family

REST_AFTER = 200  # kernels, after which JAX may forget what it has traced


@dataclass
class Tally:
    """What was found: outcomes, and for each rule how many of JAX's refusals it explains were caught."""

    kernels: int = 0
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    caught: Counter[str] = field(default_factory=Counter)
    other: Counter[str] = field(default_factory=Counter)
    disagreements: list[tuple[str, Comparison]] = field(default_factory=list)

    def add(self, seed: str, made: Comparison) -> None:
        self.outcomes[made.outcome] += 1
        if made.rules and made.outcome != "other family":
            self.refused[made.rules[0]] += 1
            self.caught[made.rules[0]] += made.outcome == "caught"
        elif made.outcome == "other family":
            self.other[f"{made.verdict.exc}: {made.verdict.message[:90]}"] += 1
        if not made.is_agreement:
            self.disagreements.append((seed, made))

    def merge(self, other: Tally) -> None:
        self.kernels += other.kernels
        self.outcomes += other.outcomes
        self.refused += other.refused
        self.caught.update(other.caught)
        self.other += other.other
        self.disagreements += other.disagreements

    @property
    def recall(self) -> float:
        """The share of JAX's refusals of the family that have an error of a fitting rule on the right line."""
        return self.caught.total() / max(self.refused.total(), 1)


def judge(seeds: Iterable[object], family: Family = ACCESSES) -> Tally:
    """The tally over the kernels of these seeds."""
    tally = Tally()
    for seed in seeds:
        tally.kernels += 1
        for made in judged(seed, family):
            tally.add(str(seed), made)
        if tally.kernels % REST_AFTER == 0:
            jax.clear_caches()
    return tally


def judged(seed: object, family: Family = ACCESSES) -> Iterator[Comparison]:
    """The kernel of a seed, then without what JAX refused of it, and so on until JAX takes it."""
    kernel = family.make(seed)
    text: str | None = kernel.text
    for _ in range(family.layers):
        assert text is not None
        made = compare(text, kernel.stated, family)
        yield made
        text = None if made.verdict.ok else without(text, made.verdict.line)
        if text is None:
            return

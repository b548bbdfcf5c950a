"""What is said of a program's kernel calls beside what JAX says of the program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from checker import analysis_of
from referee import lower


def verdict_of(text: str) -> str:
    """``fails`` where a call of the program does, ``lowers`` where one does and none fails, else ``undecided``."""
    words = {site.verdict for site in analysis_of(text).sites}
    return "fails" if "fails" in words else "lowers" if "lowers" in words else "undecided"


@dataclass
class Tally:
    """Verdicts by what JAX says, and the texts of those that contradict it."""

    accepted: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, text: str) -> None:
        """Judge one program."""
        jax_says, word = lower(text), verdict_of(text)
        (self.accepted if jax_says.ok else self.refused)[word] += 1
        if word == ("fails" if jax_says.ok else "lowers"):
            self.wrong.append(f"{word}; JAX: {jax_says.message[:300] or 'lowers'}\n{text}")

    @property
    def decided(self) -> float:
        """The share of all programs whose verdict is one."""
        return 1 - (self.accepted["undecided"] + self.refused["undecided"]) / max(self.accepted.total() + self.refused.total(), 1)


def tally_of(texts: Iterable[str]) -> Tally:
    """The tally of these programs."""
    tally = Tally()
    for text in texts:
        tally.add(text)
    return tally

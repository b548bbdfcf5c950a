"""One path through a program whose conditions are not all known, and the exploring of the others.

Law: run a function from its start with a list of decisions; a condition met for the first time takes its
default answer and queues the other one; the same condition met again follows the remembered answer. No joins.
"""

from __future__ import annotations

import ast
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..shapes import dims
from ..shapes.dims import Atom, Dim, MaybeDim, Poly, Shape, Symbol, Truth
from .modules import Place
from .values import Array, Value

HOST_PATHS = 16
KERNEL_PATHS = 8
STEPS = 20_000
GIVEN_STEPS = 10 * STEPS  # a call that somebody gives may compute what it likes first
_LONGEST_NAME = 40
# How the keys of conditions begin that are decided once for the whole path.
_SURE = ("eq0:", "lt0:", "eq:", "truth:")


class PathEnd(Exception):
    """This path goes no further: it raises, JAX would raise, or a budget is spent. ``reason`` says which; ``exception``: what is
    raised, where that is known."""

    def __init__(self, reason: str, exception: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.exception = exception


def lone_symbol(dim: MaybeDim) -> Symbol | None:
    """The symbol that the dim consists of, when it is nothing else."""
    if isinstance(dim, Poly) and len(dim.terms) == 1:
        ((monomial, coefficient),) = dim.terms
        if coefficient == 1 and len(monomial) == 1 and monomial[0][1] == 1 and isinstance(monomial[0][0], Symbol):
            return monomial[0][0]
    return None


@dataclass(slots=True)
class Facts:
    """What a path has learned of unknowns: which are None, their ranks, their values, and symbols equal to something simpler."""

    none: dict[str, bool] = field(default_factory=dict)
    rank: dict[str, int] = field(default_factory=dict)
    constant: dict[str, Value] = field(default_factory=dict)
    equal: dict[Atom, Dim] = field(default_factory=dict)
    arrays: dict[str, Array] = field(default_factory=dict)
    resolved: dict[Poly, Dim] = field(default_factory=dict)
    sizes: set[Poly] = field(default_factory=set)  # dims of arrays, none of which is empty
    of_refs: dict[int, tuple[MaybeDim, ...]] = field(default_factory=dict)  # shapes, by the id of the RefRoot

    def copy(self) -> Facts:
        """An independent copy, for a kernel's own paths."""
        known = (dict(self.none), dict(self.rank), dict(self.constant), dict(self.equal), dict(self.arrays))
        return Facts(*known, of_refs=dict(self.of_refs), sizes=set(self.sizes))

    def resolve(self, dim: MaybeDim) -> MaybeDim:
        """The dim with every learned equality put in."""
        if not self.equal or not isinstance(dim, Poly):
            return dim
        known = self.resolved.get(dim)
        if known is None:
            known = self.resolved[dim] = dims.substitute(dim, self.equal)
        return known

    def resolve_shape(self, shape: Shape) -> Shape:
        """The shape with every learned equality put in."""
        return tuple(map(self.resolve, shape)) if shape and self.equal else shape

    def learn_rank(self, key: str, rank: int) -> None:
        """Record an unknown array's rank; its dims asked for from the end are the same as from the start."""
        self.rank.setdefault(key, rank)
        self.resolved.clear()
        for axis in range(rank):
            self.equal.setdefault(Symbol(f"{key}.shape[{axis - rank}]", 1), dims.symbol(f"{key}.shape[{axis}]", 1))

    def same(self, a: MaybeDim, b: MaybeDim) -> Truth:
        """Whether two dims are equal, given what was learned."""
        return dims.equal(self.resolve(a), self.resolve(b))

    def less(self, a: MaybeDim, b: MaybeDim) -> Truth:
        """Whether ``a < b``, given what was learned."""
        if isinstance(b, int) and b <= 1 and a in self.sizes:
            return Truth.NO
        if isinstance(a, int) and a <= 0 and b in self.sizes:
            return Truth.YES
        return dims.less(self.resolve(a), self.resolve(b))

    def learn_equal(self, a: MaybeDim, b: MaybeDim) -> None:
        """Record ``a == b`` where one side is a lone symbol that the other does not contain."""
        a, b = self.resolve(a), self.resolve(b)
        for symbol, other in ((a, b), (b, a)):
            atom = lone_symbol(symbol)
            if atom is None or other is None or (isinstance(other, Poly) and dims.substitute(other, {atom: 0}) != other):
                continue
            for known, value in list(self.equal.items()):
                if isinstance(value, Poly):
                    self.equal[known] = dims.substitute(value, {atom: other})
            self.equal[atom] = other
            self.resolved.clear()
            if atom.name.endswith(".ndim") and isinstance(other, int):
                self.learn_rank(atom.name.removesuffix(".ndim"), other)
            return


@dataclass(frozen=True, slots=True)
class Decision:
    """An answer to an undecided condition; ``words`` name it for the user, ``chosen`` unless it was the declared default."""

    key: str
    answer: bool
    words: str
    chosen: bool

    @property
    def is_guess(self) -> bool:
        """Whether another decision of the path may contradict it.

        That an optional argument is given, or is of some type, is decided for each by itself, though programs take some of them together
        only; and what has no name is decided anew at each place. Sizes and flags are decided once.
        """
        return self.chosen and ("@" in self.key or not self.key.startswith(_SURE))


class Path:
    """The state of one path: decisions taken, facts learned, steps spent."""

    __slots__ = (
        "answers", "budget", "computed", "explorer", "facts", "given", "met", "named", "repeated", "said", "steps", "trail", "visits",
    )  # fmt: skip

    def __init__(self, explorer: Explorer, given: tuple[tuple[str, bool], ...] = (), parent: Path | None = None) -> None:
        self.explorer = explorer
        self.given = dict(given)
        self.trail: list[Decision] = list(parent.trail) if parent else []
        self.answers: dict[str, bool] = dict(parent.answers) if parent else {}
        self.facts: Facts = parent.facts.copy() if parent else Facts()
        self.steps = 0
        self.budget = explorer.steps
        self.computed = 0  # elements of NumPy's arrays
        self.repeated = 0  # loops around what runs whose other turns are not run
        self.met: list[Any] = []  # the events of the host that belong to no kernel call
        self.said: tuple[str, ...] | None = None
        self.visits: Counter[Place] = Counter()
        self.named: Counter[str] = Counter(parent.named) if parent else Counter()

    def name(self, words: str | ast.AST) -> str:
        """A name for something that nothing else on this path is called: its words, with a number from the second on."""
        if isinstance(words, ast.AST):
            try:
                words = ast.unparse(words)
            except RecursionError:
                words = "a long expression"
        words = words if len(words) <= _LONGEST_NAME else f"{words[:_LONGEST_NAME]}…"
        self.named[words] += 1
        return words if self.named[words] == 1 else f"{words} #{self.named[words]}"

    def visit(self, place: Place) -> str:
        """A key for a condition without a name: the place, and how often this path has passed it. Replaying the path gives it again."""
        self.visits[place] += 1
        _, unit, line0, column = place
        return f"@{unit.number if unit else 0}:{line0}:{column}.{self.visits[place]}"

    def decide(self, key: str, place: Place, default: bool, words: tuple[str, str], declared: bool) -> bool:
        """The answer to an undecided condition.

        ``key``: its normal form; ``place``: where it is tested; ``words``: how to say that it holds, and that it does not;
        ``declared``: the default answer is the program's own (a parameter's default), so it is no assumption.
        """
        if key in self.answers:
            self.explorer.cover(place, self.answers[key])
            return self.answers[key]
        answer = self.given.get(key, default)
        self.explorer.cover(place, answer)
        if key not in self.given:
            self.explorer.offer(place, not answer, (*((d.key, d.answer) for d in self.trail), (key, not answer)))
        self.answers[key] = answer
        self.said = None
        self.trail.append(Decision(key, answer, words[0] if answer else words[1], chosen=not (declared and answer == default)))
        return answer

    def conditions(self) -> tuple[str, ...]:
        """The assumptions this path rests on, as words."""
        if self.said is None:
            self.said = tuple(d.words for d in self.trail if d.chosen)
        return self.said



class Covered(Protocol):
    """The outcomes that were taken, by place."""

    def __contains__(self, outcome: object, /) -> bool: ...
    def add(self, outcome: tuple[Place, bool], /) -> None: ...


class Explorer:
    """Breadth-first over single flips: every undecided outcome of a place is tried once, the rest at their defaults."""

    def __init__(self, limit: int, covered: Covered | None = None, steps: int = STEPS) -> None:
        self.limit = limit
        self.steps = steps
        self.covered: Covered = covered if covered is not None else set()
        self.queue: deque[tuple[tuple[Place, bool], tuple[tuple[str, bool], ...]]] = deque()
        self.cut = 0

    def cover(self, place: Place, answer: bool) -> None:
        """Note that the outcome was taken at the place."""
        self.covered.add((place, answer))

    def offer(self, place: Place, answer: bool, given: tuple[tuple[str, bool], ...]) -> None:
        """Queue the other outcome unless the place has seen it."""
        if (place, answer) not in self.covered:
            self.queue.append(((place, answer), given))

    def paths(self, parent: Path | None = None) -> Iterator[Path]:
        """Paths to run, one after the other, until every outcome is covered or the limit is reached; ``cut`` counts what is left."""
        yield Path(self, (), parent)
        count = 1
        while self.queue:
            outcome, given = self.queue.popleft()
            if outcome in self.covered:
                continue
            if count >= self.limit:
                self.cut += 1
                continue
            count += 1
            yield Path(self, given, parent)

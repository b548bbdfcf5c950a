"""Mutants of real kernels: what JAX says of each in the calls that run the changed place, and what the checker says."""

from __future__ import annotations

import ast
import functools
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import jax
from real_kernels.calls import RealCall
from real_kernels.comparing import path_of
from real_kernels.kept import Kept, key_of
from real_kernels.lowering import Refusal, lowered
from real_kernels.mutating import Mutant, mutants
from real_kernels.ran import Ran

from pallas_lsp.analysis import analyze
from pallas_lsp.given import GivenCall, read_call
from pallas_lsp.resolve.project import Project
from pallas_lsp.settings import Settings

Outcome = Literal["silent", "false alarm", "conditional", "another call", "own check", "caught", "elsewhere", "missed"]


@dataclass(frozen=True)
class Finding:
    """An error of the checker's: ``lines`` are all that it underlines or relates to, the first is where it is; ``of_call``: whether it was
    asked about the call, and not about the file."""

    rule: str
    path: str
    lines: tuple[int, ...]
    message: str
    of_call: bool


@dataclass(frozen=True)
class Trial:
    """A mutant in one call. ``outcome``: ``silent`` and ``caught`` are agreement (in the statement that JAX names, of which its line is only
    the start or the end of a call: its lines are ``named``; or on the changed line, which is the cause);
    ``elsewhere``: an error on another line; ``conditional``: under a condition that the checker cannot decide; ``another call``: an error in
    the file, though not in this call, which JAX lowers; ``own check``: the program itself refuses it."""

    mutant: Mutant
    call: RealCall
    refusal: Refusal | None
    named: range
    findings: tuple[Finding, ...]

    @property
    def outcome(self) -> Outcome:
        if self.refusal is None:
            if not self.findings:
                return "silent"
            if not self.findings[0].of_call:
                return "another call"
            return "conditional" if all("(when " in finding.message for finding in self.findings) else "false alarm"
        if self.refusal.own:
            return "own check"
        if not self.findings:
            return "missed"
        return "caught" if any(map(self._is_at_the_place, self.findings)) else "elsewhere"

    def _is_at_the_place(self, finding: Finding) -> bool:
        assert self.refusal is not None
        named = {(self.refusal.path, line) for line in self.named} | {(self.mutant.path, self.mutant.line)}
        return not named.isdisjoint((finding.path, line) for line in finding.lines)


@dataclass(frozen=True)
class Planned:
    """A mutant, and the calls that run the changed place."""

    mutant: Mutant
    calls: tuple[RealCall, ...]


def planned(ran: dict[RealCall, Ran], seed: int, number: int, most_calls: int) -> list[Planned]:
    """``number`` mutants drawn with ``seed``, evenly from the files and the kinds of change, each with at most ``most_calls`` calls."""
    draw = random.Random(seed)
    groups: dict[tuple[str, str], list[Planned]] = {}
    for path in sorted({path for one in ran.values() for path in one.lines}):
        executed = set[int]().union(*(one.lines.get(path, set()) for one in ran.values()))
        inside = set[int]().union(*(one.inside.get(path, set()) for one in ran.values()))
        for mutant in mutants(path, Path(path).read_text(), executed, inside):
            calls = [call for call, one in ran.items() if mutant.line in one.lines.get(path, ())]
            if calls:
                chosen = tuple(draw.sample(calls, min(most_calls, len(calls))))
                groups.setdefault((path, mutant.kind), []).append(Planned(mutant, chosen))
    for group in groups.values():
        draw.shuffle(group)
    order: list[Planned] = []
    while groups and len(order) < number:
        for key in list(groups):
            order.append(groups[key].pop())
            if not groups[key]:
                del groups[key]
    return order[:number]


def trials(plan: Sequence[Planned], folder: Path, kept: Kept, files: bool = False) -> Iterator[Trial]:
    """Try each mutant in its calls; JAX is asked what is not in ``kept``. ``files``: the checker is asked about the changed file too where
    JAX lowers the call and there is nothing wrong with it."""
    pairs = [(one.mutant, call) for one in plan for call in one.calls]
    texts = {mutant: mutant.of(Path(mutant.path).read_text()) for mutant, _ in pairs}

    def key(mutant: Mutant, call: RealCall) -> str:
        return key_of(str(Path(mutant.path).relative_to(folder)), texts[mutant], call.module, call.text)

    requests = (
        {"path": mutant.path, "text": texts[mutant], "module": call.module, "call": call.text}
        for mutant, call in pairs
        if key(mutant, call) not in kept
    )
    answers = lowered(folder, requests)
    for mutant, call in pairs:
        if key(mutant, call) not in kept:
            refusal = next(answers)
            kept.put(key(mutant, call), asdict(_moved(refusal, folder, None)) if refusal is not None else None)
        said = kept[key(mutant, call)]
        refusal = _moved(Refusal(**said), None, folder) if said is not None else None
        found = findings_of(mutant, call, folder, files or refusal is not None)
        yield Trial(mutant, call, refusal, _named(refusal, mutant, texts[mutant]), found)


def _named(refusal: Refusal | None, mutant: Mutant, text: str) -> range:
    """The lines of the simple statement that JAX's line is in."""
    if refusal is None or refusal.path is None or refusal.line is None:
        return range(0)
    tree = ast.parse(text if refusal.path == mutant.path else Path(refusal.path).read_text())
    around = [n for n in ast.walk(tree) if isinstance(n, ast.stmt) and not hasattr(n, "body") and n.lineno <= refusal.line <= (n.end_lineno or 0)]
    return next((range(n.lineno, (n.end_lineno or 0) + 1) for n in around), range(refusal.line, refusal.line + 1))


def _moved(refusal: Refusal, before: Path | None, after: Path | None) -> Refusal:
    """The same with its place under ``after``, no more under ``before``."""
    if refusal.path is None:
        return refusal
    path = Path(refusal.path).relative_to(before) if before is not None else Path(refusal.path)
    return replace(refusal, path=str(after / path if after is not None else path))


def findings_of(mutant: Mutant, call: RealCall, folder: Path, file: bool) -> tuple[Finding, ...]:
    """The errors that the checker finds in the call of the mutant; where there are none, those that are new in the changed ``file``."""
    project = Project([str(folder)], overlay={mutant.path: mutant.of(Path(mutant.path).read_text())})
    found = _errors(project, str(path_of(call)), read_call(call.text))
    if found or not file:
        return found
    return tuple(error for error in _errors(project, mutant.path, None) if (error.rule, error.message) not in _before(folder, mutant.path))


@functools.cache
def _before(folder: Path, path: str) -> frozenset[tuple[str, str]]:
    return frozenset((error.rule, error.message) for error in _errors(Project([str(folder)]), path, None))


def _errors(project: Project, path: str, call: GivenCall | None) -> tuple[Finding, ...]:
    source = project.read(path)
    assert source is not None
    return tuple(
        Finding(d.rule, d.location.path, _lines(project, d.location, *(related.location for related in d.related)), d.message, call is not None)
        for d in analyze(source, project, Settings(jax_version=jax.__version__), call=call).diagnostics
        if d.severity == "error"
    )


def _lines(project: Project, *places: Any) -> tuple[int, ...]:
    found: list[int] = []
    for place in places:
        source = project.read(place.path)
        assert source is not None
        found += range(source.line_of(place.span.start) + 1, source.line_of(place.span.end) + 2)
    return tuple(dict.fromkeys(found))

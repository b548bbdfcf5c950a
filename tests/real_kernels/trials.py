"""Mutants of real kernels: what JAX says of each in the calls that run the changed place, and what the checker says."""

from __future__ import annotations

import random
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Literal

import jax
from real_kernels.calls import RealCall
from real_kernels.comparing import path_of
from real_kernels.jax_calls import traceable
from real_kernels.lowering import Refusal, lowered
from real_kernels.mutating import Mutant, mutants
from referee import on_chip

from pallas_lsp.analysis import analyze
from pallas_lsp.given import read_call
from pallas_lsp.resolve.project import Project
from pallas_lsp.settings import Settings

Outcome = Literal["silent", "false alarm", "conditional", "own check", "caught", "elsewhere", "missed"]
Lines = dict[str, set[int]]


@dataclass(frozen=True)
class Finding:
    """An error of the checker's: ``lines`` are all that it underlines or relates to, the first is where it is."""

    rule: str
    path: str
    lines: tuple[int, ...]
    message: str


@dataclass(frozen=True)
class Trial:
    """A mutant in one call. ``outcome``: ``silent`` and ``caught`` are agreement (on JAX's line, or on the changed one, which is the cause);
    ``elsewhere``: an error on another line; ``conditional``: under a condition that the checker cannot decide; ``own check``: the program
    itself refuses it."""

    mutant: Mutant
    call: RealCall
    refusal: Refusal | None
    findings: tuple[Finding, ...]

    @property
    def outcome(self) -> Outcome:
        if self.refusal is None:
            if not self.findings:
                return "silent"
            return "conditional" if all("(when " in finding.message for finding in self.findings) else "false alarm"
        if self.refusal.own:
            return "own check"
        if not self.findings:
            return "missed"
        return "caught" if any(map(self._is_at_the_place, self.findings)) else "elsewhere"

    def _is_at_the_place(self, finding: Finding) -> bool:
        places = {(finding.path, line) for line in finding.lines}
        assert self.refusal is not None
        return bool(places & {(self.refusal.path, self.refusal.line), (self.mutant.path, self.mutant.line)})


def executed_lines(calls: Iterable[RealCall], folder: Path) -> dict[RealCall, Lines]:
    """The lines of files in ``folder`` that run while JAX lowers each call; calls that it refuses are left out."""
    found = {}
    for call in calls:
        lines: Lines = defaultdict(set)
        jax.clear_caches()
        try:
            with on_chip("v5e"), _tracing(folder, lines):
                traceable(call).lower()
        except Exception:
            continue
        found[call] = dict(lines)
    return found


class _tracing:
    """Around what runs: notes each line of a file in the folder."""

    def __init__(self, folder: Path, lines: Lines) -> None:
        self.prefix, self.lines = str(folder), lines

    def __enter__(self) -> None:
        sys.settrace(self._enter)

    def __exit__(self, *error: object) -> None:
        sys.settrace(None)

    def _enter(self, frame: FrameType, event: str, argument: object) -> Any:
        return self._line if frame.f_code.co_filename.startswith(self.prefix) else None

    def _line(self, frame: FrameType, event: str, argument: object) -> Any:
        self.lines[frame.f_code.co_filename].add(frame.f_lineno)
        return self._line


@dataclass(frozen=True)
class Planned:
    """A mutant, and the calls that run the changed place."""

    mutant: Mutant
    calls: tuple[RealCall, ...]


def planned(ran: dict[RealCall, Lines], seed: int, number: int, most_calls: int) -> list[Planned]:
    """``number`` mutants drawn with ``seed``, evenly from the files and the kinds of change, each with at most ``most_calls`` calls."""
    draw = random.Random(seed)
    groups: dict[tuple[str, str], list[Planned]] = {}
    for path in sorted({path for lines in ran.values() for path in lines}):
        executed = set[int]().union(*(lines.get(path, set()) for lines in ran.values()))
        for mutant in mutants(path, Path(path).read_text(), executed):
            calls = [call for call, lines in ran.items() if mutant.line in lines.get(path, ())]
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


def trials(plan: Sequence[Planned], folder: Path) -> Iterator[Trial]:
    """Try each mutant in its calls."""
    pairs = [(one.mutant, call) for one in plan for call in one.calls]
    requests = (
        {"path": mutant.path, "text": mutant.of(Path(mutant.path).read_text()), "module": call.module, "call": call.text} for mutant, call in pairs
    )
    for (mutant, call), refusal in zip(pairs, lowered(folder, requests), strict=True):
        yield Trial(mutant, call, refusal, findings_of(mutant, call, folder))


def findings_of(mutant: Mutant, call: RealCall, folder: Path) -> tuple[Finding, ...]:
    """The errors that the checker finds in the call of the mutant."""
    project = Project([str(folder)], overlay={mutant.path: mutant.of(Path(mutant.path).read_text())})
    source = project.read(str(path_of(call)))
    assert source is not None
    analysis = analyze(source, project, Settings(jax_version=jax.__version__), call=read_call(call.text))
    return tuple(
        Finding(d.rule, d.location.path, _lines(project, d.location, *(related.location for related in d.related)), d.message)
        for d in analysis.diagnostics
        if d.severity == "error"
    )


def _lines(project: Project, *places: Any) -> tuple[int, ...]:
    found: list[int] = []
    for place in places:
        source = project.read(place.path)
        assert source is not None
        found += range(source.line_of(place.span.start) + 1, source.line_of(place.span.end) + 2)
    return tuple(dict.fromkeys(found))

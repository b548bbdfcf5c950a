"""Which candidates are offered: those after which their finding is gone and nothing new is found, by analysing the edited texts."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice

from ..interpreter.events import Access, CallFault, Event, KernelRun, ShapeFault, UnmodelledCall
from ..interpreter.machine import Cancelled
from ..resolve.project import Project
from ..rules.diagnostic import Fix
from ..rules.registry import RuleTable
from ..rules.stored_values import stored_aval
from ..text.edits import apply, conflict
from ..text.source import Source
from ..text.span import Edit, Location
from .registry import candidates

MOST_FIXES = 3
"""How many fixes a finding is offered."""

_MOST_TRIED = 12
_MOST_ANALYSES = 60
# A file with more findings than this has their first candidates tried together.
_MANY = 3
_INSTALLED = frozenset({"site-packages", "dist-packages"})

Place = tuple[str, str, int]
"""A rule (or ``refused``, or ``undecided``), a file and a 0-based line: what stays the same of a finding while text around it changes."""

_REFUSED, _UNDECIDED = "refused", "undecided"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the rules, all of them, find in the events of a run, with how sure the run was.

    ``findings`` also has what JAX refuses without a rule of ours; ``undecided``: calls of functions that no model describes, and stores
    of which no path knows both the shape and that of the value; ``kernels``: how many kernel calls were understood.
    """

    findings: frozenset[tuple[str, Location]]
    undecided: frozenset[tuple[str, Location]]
    kernels: int


@dataclass(frozen=True, slots=True, eq=False)
class _Finding:
    """A finding of the analysis, and the events it is about."""

    rule: str
    location: Location
    events: Sequence[Event]


def judge(events: Iterable[Event], table: RuleTable) -> Judgement:
    """Look at the events of a run."""
    findings, undecided, stores, kernels = set(), set(), dict[Location, bool](), 0
    for event in events:
        found = table.first(event)
        kernels += isinstance(event, KernelRun)
        if found is not None:
            findings.add((found[0].id, found[1].location))
        if isinstance(event, ShapeFault | CallFault):
            findings.add((_REFUSED, event.where.location))
        elif isinstance(event, UnmodelledCall):
            undecided.add((_UNDECIDED, event.where.location))
        elif isinstance(event, Access) and event.op != "load":
            place = event.where.location
            stores[place] = stores.get(place, False) or found is not None or _is_decided(event)
    undecided.update((_UNDECIDED, place) for place, decided in stores.items() if not decided)
    return Judgement(frozenset(findings), frozenset(undecided), kernels)


def _is_decided(event: Access) -> bool:
    aval = stored_aval(event)
    return event.shape is not None and aval is not None and aval.shape is not None


class Verifier:
    """Tries the fixes of one analysis.

    ``texts``: what the analysis read, by path. ``before`` gives what was found in the texts as they are, ``after`` analyses what the
    project holds then: both for the document and these other files.
    """

    def __init__(
        self,
        project: Project,
        texts: Mapping[str, Source],
        before: Callable[[frozenset[str]], Judgement],
        after: Callable[[frozenset[str]], Judgement],
    ) -> None:
        self._project = project
        self._texts = texts
        self._before = before
        self._after = after
        self._findings: list[_Finding] = []
        self._tried: dict[frozenset[Edit], tuple[Judgement, Judgement] | None] = {}
        self._known: set[tuple[_Finding, frozenset[Edit]]] = set()

    def fixes(self, rule: str, location: Location, events: Sequence[Event]) -> Iterator[Fix]:
        """The fixes of a finding, worked out as they are asked for: best first, and safe ones before unsafe ones.

        There are none where the texts are no longer those of the analysis.
        """
        finding = _Finding(rule, location, events)
        self._findings.append(finding)
        return self._fixes_of(finding)

    def _fixes_of(self, finding: _Finding) -> Iterator[Fix]:
        unsafe: list[Fix] = []
        offered: dict[frozenset[Edit], str] = {}
        try:
            if len(self._findings) > _MANY:
                self._try_together(self._findings)
                self._findings.clear()
            for group in islice(self._candidates(finding), _MOST_TRIED):
                if len(offered) == MOST_FIXES:
                    break
                fix = next((fix for fix in group if self._helps(finding, fix)), None)
                # Of two that are called alike the first is the better one, and nobody could tell them apart.
                if fix is None or frozenset(fix.edits) in offered or fix.title in offered.values():
                    continue
                offered[frozenset(fix.edits)] = fix.title
                if fix.applicability == "unsafe":
                    unsafe.append(fix)
                else:
                    yield fix
            yield from unsafe
        except Cancelled:
            return

    def _candidates(self, finding: _Finding) -> Iterator[tuple[Fix, ...]]:
        """The candidates that all events of the finding have: what fits the ref of one caller may not be what is meant for another's."""
        first, *others = finding.events
        shared: set[frozenset[Edit]] | None = None
        for event in others:
            edits = {frozenset(fix.edits) for group in candidates(finding.rule, event, self._project) for fix in group}
            shared = edits if shared is None else shared & edits
            if not shared:
                return
        for group in candidates(finding.rule, first, self._project):
            yield tuple(fix for fix in group if shared is None or frozenset(fix.edits) in shared)

    def _try_together(self, findings: Sequence[_Finding]) -> None:
        """Try the first candidates of many findings in one analysis: where all of them help together, none is tried alone."""
        chosen: dict[_Finding, Fix] = {}
        edits: dict[Edit, None] = {}
        for finding in findings:
            fix = next((group[0] for group in self._candidates(finding) if group), None)
            new = [edit for edit in fix.edits if edit not in edits] if fix is not None else []
            if fix is not None and not conflict(new, edits):
                chosen[finding] = fix
                edits.update(dict.fromkeys(new))
        if len(chosen) < 2:
            return
        if self._help(tuple(edits), chosen):
            self._known.update((finding, frozenset(fix.edits)) for finding, fix in chosen.items())
        elif len(chosen) > _MANY:
            half = list(chosen)[: len(chosen) // 2]
            self._try_together(half)
            self._try_together([finding for finding in chosen if finding not in half])

    def _helps(self, finding: _Finding, fix: Fix) -> bool:
        return (finding, frozenset(fix.edits)) in self._known or self._help(fix.edits, [finding])

    def _help(self, edits: tuple[Edit, ...], findings: Iterable[_Finding]) -> bool:
        """Whether the findings go with the edits, and none comes."""
        key = frozenset(edits)
        if not edits or not self._is_current():
            return False
        if key not in self._tried and len(self._tried) < _MOST_ANALYSES:
            self._tried[key] = self._try(edits)
        judged = self._tried.get(key)
        if judged is None:
            return False
        (before, after), shift = judged, _Shift(edits, self._texts)
        gone = Counter(shift.old((finding.rule, finding.location)) for finding in findings)
        found, was = Counter(map(shift.new, after.findings)), Counter(map(shift.old, before.findings))
        if found - was or any(found[place] > was[place] - count for place, count in gone.items()):
            return False
        if after.kernels < before.kernels:
            return False
        # What the rules cannot judge is no fix.
        lines = {place[1:] for place in gone}
        undecided = Counter(map(shift.new, after.undecided)) - Counter(map(shift.old, before.undecided))
        return all(place[1:] not in lines for place in undecided)

    def _is_current(self) -> bool:
        return all(self._project.read(path) == source for path, source in self._texts.items())

    def _try(self, edits: tuple[Edit, ...]) -> tuple[Judgement, Judgement] | None:
        """What is found before and after the edits; None where they cannot be made, or what comes is not Python any more."""
        paths = frozenset(edit.path for edit in edits)
        if not all(self._is_editable(path) for path in paths):
            return None
        try:
            texts = {path: apply(self._texts[path].text, [edit for edit in edits if edit.path == path]) for path in paths}
        except ValueError:  # two edits of one place
            return None
        broken = {path for path in paths if self._is_broken(path)}
        before = self._before(paths)
        with edited(self._project, texts):
            if any(self._is_broken(path) for path in paths - broken):
                return None
            return before, self._after(paths)

    def _is_editable(self, path: str) -> bool:
        """Whether the file was read, can be written back, and is not an installed one."""
        source = self._texts.get(path)
        return source is not None and source.encoding is not None and not any(part in _INSTALLED for part in path.split(os.sep))

    def _is_broken(self, path: str) -> bool:
        parsed = self._project.parsed(path)
        return parsed is None or parsed.error is not None


@contextmanager
def edited(project: Project, texts: Mapping[str, str]) -> Iterator[None]:
    """Let the texts stand for their files for a while."""
    opened = {path: source.text for path in texts if project.is_open(path) and (source := project.read(path)) is not None}
    try:
        for path, text in texts.items():
            project.set_overlay(path, text)
        yield
    finally:
        for path in texts:
            project.set_overlay(path, opened.get(path))


class _Shift:
    """Where findings before the edits and findings after them are the same: both as lines of the edited texts."""

    def __init__(self, edits: Iterable[Edit], texts: Mapping[str, Source]) -> None:
        by_path: dict[str, list[Edit]] = {}
        for edit in edits:
            by_path.setdefault(edit.path, []).append(edit)
        self._edits = {path: sorted(group, key=lambda edit: edit.span) for path, group in by_path.items()}
        self._texts = texts
        self._edited = {path: Source(path, apply(texts[path].text, group)) for path, group in self._edits.items()}

    def old(self, finding: tuple[str, Location]) -> Place:
        """The place of a finding of the original texts."""
        rule, location = finding
        offset = location.span.start
        moved = offset
        for edit in self._edits.get(location.path, ()):
            if edit.span.end <= offset:
                moved += len(edit.content) - (edit.span.end - edit.span.start)
            elif edit.span.start < offset:
                moved += edit.span.start - offset
        return rule, location.path, self._line(location.path, moved)

    def new(self, finding: tuple[str, Location]) -> Place:
        """The place of a finding of the edited texts."""
        rule, location = finding
        return rule, location.path, self._line(location.path, location.span.start)

    def _line(self, path: str, offset: int) -> int:
        source = self._edited.get(path) or self._texts.get(path)
        return source.line_of(offset) if source is not None else offset

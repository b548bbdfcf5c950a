"""The one pure function: ``analyze(source, project, settings) -> Analysis``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property

from .data.versions import KNOWN
from .given import GivenCall
from .glimpse import Told, first_findings
from .interpreter.events import Event
from .interpreting import Interpreter, Memory, Run, verifier
from .kernels.site import KernelSite, sites_of
from .kernels.verdict import Judge as VerdictJudge
from .notes import Notes
from .resolve.project import Project
from .rules.certain import doubt_about
from .rules.diagnostic import Diagnostic, Fix
from .rules.findings import Offer, SuppressionComments, diagnostics_of, unused_suppressions
from .rules.registry import Finding, Rule, RuleTable
from .settings import Settings
from .text.parse import Parsed, parse
from .text.source import Source
from .text.span import Location
from .text.suppressions import find_suppressions

# A file that says none of these holds neither a kernel nor a spec, whoever imports it.
_SIGNS = ("pallas", "_ref", "BlockSpec", "VMEM", "SMEM")


@dataclass(frozen=True)
class Analysis:
    """All that is known of a document: its findings (those in other files too), its kernel calls, its values for hover.

    ``depends_on``: the files that were read; ``unresolved``: names of installed packages that were not looked up; ``cut``: what budgets
    left out, by kind; ``wrong_calls``: what is wrong with calls that the settings give; ``find_sites`` and ``find_uses`` work out
    ``sites`` and ``uses``.
    """

    source: Source
    parsed: Parsed
    diagnostics: list[Diagnostic]
    notes: Notes
    find_sites: Callable[[], list[KernelSite]] = list
    find_uses: Callable[[], list[KernelSite]] = list
    depends_on: frozenset[str] = frozenset()
    unresolved: frozenset[str] = frozenset()
    cut: dict[str, int] = field(default_factory=dict)
    wrong_calls: tuple[str, ...] = ()

    @cached_property
    def sites(self) -> list[KernelSite]:
        """The kernel calls, each configuration once, in the order of the text."""
        return self.find_sites()

    @cached_property
    def uses(self) -> list[KernelSite]:
        """The calls in other files of kernels that are in this one."""
        return self.find_uses()


def analyze(
    source: Source,
    project: Project,
    settings: Settings,
    cancelled: Callable[[], bool] | None = None,
    *,
    lookup: bool = True,
    callers: bool = True,
    call: GivenCall | None = None,
    memory: Memory | None = None,
    details: bool = True,
    early: Callable[[list[Diagnostic]], None] | None = None,
) -> Analysis:
    """Parse, interpret, judge. Reads files of the project and its environment only; never runs the user's code.

    ``cancelled`` is asked now and then; once it says yes, ``interpreter.machine.Cancelled`` is raised. ``lookup``: look up names of
    installed packages (jedi, slow the first time). ``callers``: interpret the project's files that import this one too, for a kernel
    or a spec is judged where it is called; their findings elsewhere are left to their own analysis. ``call``: interpret nothing but this
    call of a function of the document; `given.WrongCall` is raised where that cannot be. ``memory``: of earlier analyses of the document;
    it saves time, and makes no other difference. ``details``: notes, sites and uses are wanted beside the diagnostics. ``early`` is
    called, at most once, with the first findings of what was edited since the last analysis that ``memory`` knows (`glimpse`), while the
    rest is still worked out.
    """
    parsed = project.parsed(source.path) if project.read(source.path) == source else parse(source.text)
    if parsed is None or (call is None and not any(sign in source.text for sign in _SIGNS)):
        parsed = parsed or parse(source.text)
        return Analysis(source, parsed, [], Notes.empty(source, parsed))
    interpreter = Interpreter(project, settings, lookup, cancelled, details)
    comments = find_suppressions(source, parsed)
    suppressions = SuppressionComments(project, comments)

    def glimpsed(events: list[Event]) -> None:
        if early is not None and memory is not None and memory.told is not None:
            early(first_findings(memory.told, source, parsed, events, interpreter.table, settings, suppressions))

    if call is None:
        run = interpreter.run(source, parsed, callers, memory, glimpsed if early is not None else None)
    else:
        run = interpreter.trace(source, parsed, call)

    def anew() -> Analysis:
        return analyze(source, project, settings, cancelled, lookup=lookup, callers=callers)

    offer = verifier(interpreter, run).fixes if run.is_new else _offered_by(anew)
    diagnostics = diagnostics_of(run.judged(interpreter.table), settings, suppressions, offer, run.machine.called)
    diagnostics += unused_suppressions(comments, settings) if call is None else ()
    if memory is not None:
        memory.told = Told(source, parsed.layout, diagnostics)
    machine, judging = run.machine, _judging(interpreter.table, run)
    return Analysis(
        source,
        parsed,
        diagnostics,
        Notes(source, parsed, run.module, cache(lambda: run.noted)),
        cache(lambda: sites_of(run.events, judging, run.site)) if details else list,
        cache(lambda: sites_of(run.calls_elsewhere(), judging, run.site)) if details else list,
        run.files,
        frozenset(machine.unresolved),
        machine.cut,
        tuple(machine.wrong_calls),
    )


def _offered_by(anew: Callable[[], Analysis]) -> Offer:
    """Fixes by an analysis of the same text of which nothing is kept from another one, made when they are first asked for."""
    again = cache(anew)

    def offer(rule: str, location: Location, events: Sequence[Event]) -> Iterator[Fix]:
        for one in again().diagnostics:
            if (one.rule, one.location) == (rule, location):
                yield from one.fixes

    return offer


class Remembering:
    """`analyze` as a function that remembers its documents, the latest ``most`` of them."""

    def __init__(self, most: int = 16) -> None:
        self._most = most
        self._memories: dict[str, Memory] = {}

    def __call__(
        self,
        source: Source,
        project: Project,
        settings: Settings,
        cancelled: Callable[[], bool] | None = None,
        *,
        lookup: bool = True,
        early: Callable[[list[Diagnostic]], None] | None = None,
    ) -> Analysis:
        if project.read(source.path) != source:  # a text that is only tried
            return analyze(source, project, settings, cancelled, lookup=lookup)
        memory = self._memories.pop(source.path, None) or Memory()
        self._memories[source.path] = memory
        while len(self._memories) > self._most:
            del self._memories[next(iter(self._memories))]
        return analyze(source, project, settings, cancelled, lookup=lookup, memory=memory, early=early)


def _judging(table: RuleTable, run: Run) -> VerdictJudge:
    """What the verdicts of kernel calls rest on: the rules, and what is certain where no rule speaks."""

    def refused(event: Event, found: tuple[Rule, Finding] | None) -> Location | None:
        if found is None or found[0].severity != "error" or found[1].hint:
            return None
        return run.moved(event, found[1].location)

    context = table.context
    others = [RuleTable.of(replace(context, version=version)) for version in KNOWN] if context.version is None else []
    return VerdictJudge(
        refused=lambda event: refused(event, run.first(event, table)),
        may_refuse=lambda event: any(refused(event, each.first(event)) is not None for each in others),
        doubt=lambda event: doubt_about(event, context),
    )

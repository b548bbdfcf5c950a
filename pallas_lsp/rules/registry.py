"""How a rule is declared and found."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from ..data.versions import Version, satisfies
from ..interpreter.cores import EVERY
from ..interpreter.events import Event
from ..interpreter.operation_events import Operation
from ..text.span import Location
from .diagnostic import Related, Severity


@dataclass(frozen=True, slots=True)
class Context:
    """What a rule may ask beside its event: the JAX version (None: unknown) and the chip (None: every chip)."""

    version: Version | None = None
    target: str | None = None

    def jax(self, since: str | None = None, until: str | None = None) -> bool:
        """Whether the stated JAX is at least ``since`` and older than ``until``; without one, whether every known JAX is."""
        return satisfies(self.version, since, until)


@dataclass(slots=True)
class Finding:
    """What a rule found: where, in words.

    ``hint``: it tells something worth knowing, which need not be wrong. ``cause``: the place that is to blame for this and others of the
    rule: only the first of them is told.
    """

    location: Location
    message: str
    related: tuple[Related, ...] = ()
    jax_message: str | None = None
    hint: bool = False
    cause: Location | None = None


Check = Callable[[Any, Context], Finding | None]
Functions = Collection[str] | Callable[[str], bool]
"""The public names of functions, or what tells whether a name is one of them."""


@dataclass(slots=True)
class Rule:
    """A registered rule. ``order``: JAX's order of checks on one event; the first finding of an event is the one JAX would raise.

    ``stage``: ``trace``, ``lower``, ``compile`` or ``run``: when JAX, the TPU compiler or nobody notices. ``cores``: the kinds of cores
    whose kernels it speaks of. ``functions``: the only ones of whose operations it has something to say, None for all.
    """

    id: str
    severity: Severity
    events: tuple[type[Event], ...]
    order: int
    stage: str
    check: Check
    since: str | None = None
    until: str | None = None
    cores: tuple[str, ...] = EVERY
    functions: Functions | None = None

    def is_about(self, function: str) -> bool:
        """Whether the rule may have something to say of the operations of a function."""
        if self.functions is None:
            return True
        return self.functions(function) if callable(self.functions) else function in self.functions

    @property
    def summary(self) -> str:
        """The first sentence of the rule's docstring."""
        return (self.check.__doc__ or "").strip().split("\n")[0]


RULES: dict[str, Rule] = {}
_Function = TypeVar("_Function", bound=Check)
_SEVERITY: dict[str, Severity] = {"trace": "error", "lower": "error", "compile": "warning", "run": "warning"}


def rule(
    rule_id: str,
    *,
    on: type[Event],
    order: int,
    stage: str,
    since: str | None = None,
    until: str | None = None,
    also: tuple[type[Event], ...] = (),
    cores: tuple[str, ...] | None = None,
    functions: Functions | None = None,
) -> Callable[[_Function], _Function]:
    """Register the decorated function as a rule on one type of event (and on those of ``also``).

    Tracing is the same for every core; what is lowered is told apart, so that such a rule speaks of TensorCores unless it says otherwise.
    ``functions``: the rule is asked about operations of these only; there are so many operations that it matters. Tables are read when it is
    first asked whether a name is one of them.
    """
    spoken = cores if cores is not None else EVERY if stage == "trace" else ("tensor",)

    def register(function: _Function) -> _Function:
        if rule_id in RULES:
            raise ValueError(f"two rules are called {rule_id}")
        RULES[rule_id] = Rule(rule_id, _SEVERITY[stage], (on, *also), order, stage, function, since, until, spoken, functions)
        return function

    return register


@cache
def load_rules() -> None:
    """Import every family of this package, once a process."""
    package = importlib.import_module(__package__ or "")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{__package__}.{module.name}")


class RuleTable:
    """The rules that speak in a context, by event type, in JAX's order."""

    def __init__(self, context: Context) -> None:
        load_rules()
        self.context = context
        table: dict[type[Event], list[Rule]] = {}
        for entry in RULES.values():
            if not (entry.since or entry.until) or context.jax(entry.since, entry.until):
                for event in entry.events:
                    table.setdefault(event, []).append(entry)
        self._by_event = {event: sorted(entries, key=lambda entry: entry.order) for event, entries in table.items()}
        self._asked: dict[tuple[type[Event], str, bool, str], list[Rule]] = {}

    @staticmethod
    @cache
    def of(context: Context) -> RuleTable:
        """The table of a context, made once a process: what it has found for one file is of use for all."""
        return RuleTable(context)

    def first(self, event: Event) -> tuple[Rule, Finding] | None:
        """The finding that JAX would raise for this event, None when it raises none."""
        for entry in self.asked(event):
            finding = entry.check(event, self.context)
            if finding is not None:
                return entry, finding
        return None

    def asked(self, event: Event) -> list[Rule]:
        """The rules that may have something to say of the event, found once for all that are alike."""
        where, function = event.where, event.function if isinstance(event, Operation) else ""
        key = type(event), where.core.kind, where.dropped, function
        entries = self._asked.get(key)
        if entries is None:
            entries = self._asked[key] = [entry for entry in self.speaking(event) if not function or entry.is_about(function)]
        return entries

    def speaking(self, event: Event) -> list[Rule]:
        """The rules on such events where this one happened, whatever functions they are about."""
        core, dropped = event.where.core.kind, event.where.dropped
        entries = self._by_event.get(type(event), [])
        return [entry for entry in entries if core in entry.cores and (entry.stage == "trace" or not dropped)]

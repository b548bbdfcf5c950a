"""What all tests share: JAX looks for no accelerator, hypothesis draws the same examples in every run, and no rule is left out in vain."""

from __future__ import annotations

import os

from hypothesis import settings
from hypothesis.internal.conjecture import providers

from pallas_lsp.interpreter.events import Event
from pallas_lsp.rules import Rule
from pallas_lsp.rules.registry import Finding, RuleTable

os.environ.setdefault("JAX_PLATFORMS", "cpu")

settings.register_profile("suite", derandomize=True, deadline=None, database=None)
settings.load_profile("suite")

# Hypothesis also draws from the literals of every module imported so far, so that the same test would see other examples
# alone, in the whole suite and after any change of the source: a run could fail that no change has caused.
providers._get_local_constants = lambda: providers._local_constants

# Rules that speak of any call of their functions, and so do not look at the name themselves.
OF_ANY_CALL = {
    "axis-name-unbound", "bitcast-width", "checkpoint", "debug-print-form", "gather-wide", "jnp-empty", "power-integer-exponent",
    "reciprocal-dtype", "roll-args", "select-n-cases", "top-k",
}  # fmt: skip
first_of_asked = RuleTable.first


def first_of_all(table: RuleTable, event: Event) -> tuple[Rule, Finding] | None:
    """As `RuleTable.first`. Rules that it leaves out, for their ``functions`` are others than the event's, must have nothing to say of it."""
    asked = {rule.id for rule in table.asked(event)}
    for rule in table.speaking(event):
        if rule.id not in asked and rule.id not in OF_ANY_CALL:
            assert rule.check(event, table.context) is None, f"the functions of {rule.id} lack {event.function}"  # type: ignore[attr-defined]
    return first_of_asked(table, event)


RuleTable.first = first_of_all  # type: ignore[method-assign]

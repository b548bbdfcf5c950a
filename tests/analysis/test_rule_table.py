"""Which rules are asked about an operation."""

from __future__ import annotations

import jax
import pytest

from pallas_lsp.data.versions import KNOWN
from pallas_lsp.interpreter.operation_events import Operation
from pallas_lsp.resolve.canonical import exists
from pallas_lsp.rules import RULES, Rule

OF_FUNCTIONS = [rule for rule in RULES.values() if rule.functions is not None]
LISTED = [rule for rule in OF_FUNCTIONS if not callable(rule.functions)]


@pytest.mark.parametrize("rule", LISTED, ids=lambda rule: rule.id)
def test_the_functions_of_a_rule_are_names_that_some_jax_has(rule: Rule) -> None:
    assert not callable(rule.functions)
    for name in rule.functions or ():
        listed = any(exists(name, ".".join(map(str, version))) is not False for version in KNOWN)
        assert listed or hasattr(jax.Array, name.removeprefix("jax.numpy.")), name  # a method goes by the name of such a function


def test_only_operations_are_of_functions() -> None:
    assert all(Operation in rule.events for rule in OF_FUNCTIONS)


def test_few_rules_are_asked_about_a_plain_operation() -> None:
    asked = {rule.id for rule in RULES.values() if Operation in rule.events and rule.is_about("jax.numpy.subtract") and "tensor" in rule.cores}
    assert asked == {"complex-dtype", "cast-unsupported", "i8-arithmetic"}

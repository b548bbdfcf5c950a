"""Which rules are asked about an operation."""

from __future__ import annotations

import jax
import pytest

from pallas_lsp.data.versions import KNOWN
from pallas_lsp.interpreter.operation_events import Operation
from pallas_lsp.resolve.canonical import exists
from pallas_lsp.rules import RULES, Rule

OF_FUNCTIONS = [rule for rule in RULES.values() if rule.functions is not None]


@pytest.mark.parametrize("rule", OF_FUNCTIONS, ids=lambda rule: rule.id)
def test_the_functions_of_a_rule_are_names_that_some_jax_has(rule: Rule) -> None:
    assert Operation in rule.events
    for name in rule.functions or ():
        listed = any(exists(name, ".".join(map(str, version))) is not False for version in KNOWN)
        assert listed or hasattr(jax.Array, name.removeprefix("jax.numpy.")), name  # a method goes by the name of such a function

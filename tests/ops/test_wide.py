"""Whether 64-bit dtypes are on. JAX is asked about them in a context (see ``lowering_cases``): its configuration would stay for other tests."""

from __future__ import annotations

import pytest
from checker import findings
from ops.modules import unary

ON = 'jax.config.update("jax_enable_x64", True)'


@pytest.mark.parametrize(
    ("top", "rules"),
    [
        ("", []),
        (ON, ["cast-unsupported"]),
        (ON.replace("True", "False"), []),
        (f"{ON}\n{ON.replace('True', 'False')}", []),
        (f"if len(jax.devices()) > 1:\n    {ON}", []),
        ("with jax.enable_x64(True):\n    SIZES = [1]\n", []),
    ],
)  # fmt: skip
def test_only_what_is_certainly_on_counts(top: str, rules: list[str]) -> None:
    assert [finding.rule for finding in findings(unary("x.astype(jnp.float64).astype(jnp.float32)", top=top))] == rules

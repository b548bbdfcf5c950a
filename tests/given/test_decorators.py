"""Decorators that check the types of a function's arguments leave it what it is."""

from __future__ import annotations

import pytest
from given.against_jax import known_kernels
from given.kernels import OPS

IMPORTS = "import beartype, jaxtyping, pydantic, typeguard\n"


@pytest.mark.parametrize(
    "decorator",
    [
        "jaxtyping.jaxtyped",
        "jaxtyping.jaxtyped(typechecker=beartype.beartype)",
        "beartype.beartype",
        "beartype.beartype(conf=None)",
        "typeguard.typechecked",
        "pydantic.validate_call",
    ],
)
def test_the_function_is_still_called(decorator: str) -> None:
    text = IMPORTS + OPS + f"\n\n@{decorator}\ndef doubled(x):\n    return scale(2 * x)\n"
    assert known_kernels(text, "doubled(f32[16,128])") == ["_scale_kernel"]

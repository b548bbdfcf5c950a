"""JAX's own kernels, as installed, have no error."""

from __future__ import annotations

from pathlib import Path

import jax
import pytest
from corpus.silence import errors_in

OPS = Path(jax.__file__).parent / "experimental/pallas/ops"


@pytest.mark.parametrize("core", ["tpu", "gpu"])
def test_the_kernels_that_come_with_jax_have_no_error(core: str) -> None:
    files, errors = errors_in(OPS / core)
    assert files >= 10
    assert errors == []

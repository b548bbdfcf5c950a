"""JAX's own kernels, as installed, have no error and no warning."""

from __future__ import annotations

from pathlib import Path

import jax
import pytest
from corpus.silence import faults_in

OPS = Path(jax.__file__).parent / "experimental/pallas/ops"


@pytest.mark.parametrize("core", ["tpu", "gpu"])
def test_the_kernels_that_come_with_jax_have_no_error(core: str) -> None:
    files, faults = faults_in(OPS / core)
    assert files >= 10
    assert faults == []

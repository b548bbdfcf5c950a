"""What all tests share: JAX looks for no accelerator, and hypothesis draws the same examples in every run."""

from __future__ import annotations

import os

from hypothesis import settings
from hypothesis.internal.conjecture import providers

os.environ.setdefault("JAX_PLATFORMS", "cpu")

settings.register_profile("suite", derandomize=True, deadline=None, database=None)
settings.load_profile("suite")

# Hypothesis also draws from the literals of every module imported so far, so that the same test would see other examples
# alone, in the whole suite and after any change of the source: a run could fail that no change has caused.
providers._get_local_constants = lambda: providers._local_constants

"""What all tests share: JAX looks for no accelerator, and hypothesis draws the same examples in every run."""

from __future__ import annotations

import os

from hypothesis import settings

os.environ.setdefault("JAX_PLATFORMS", "cpu")

settings.register_profile("suite", derandomize=True, deadline=None, database=None)
settings.load_profile("suite")

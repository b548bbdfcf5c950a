"""A workspace on disk to resolve names in, and environments with and without JAX."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest
from resolve.workspace import Workspace

from pallas_lsp.resolve.environment import Environment


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """An empty project: a folder with a ``pyproject.toml``."""
    made = Workspace(tmp_path / "work")
    made.write("pyproject.toml", "")
    return made


@pytest.fixture(params=["jax installed", "jax not installed"])
def environment(request: pytest.FixtureRequest, tmp_path: Path) -> Environment:
    """An environment with an empty site-packages of its own, before the one of this Python, which has JAX, or alone."""
    own = tmp_path / "env" / "lib" / "python3.11" / "site-packages"
    own.mkdir(parents=True)
    return Environment((str(own), sysconfig.get_path("purelib")) if request.param == "jax installed" else (str(own),))

"""Released kernels of other projects have no error, but for names that the installed JAX does not have either."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest
from corpus.silence import Found, errors_in

CORPORA = Path(__file__).parents[2] / ".corpora"

pytestmark = pytest.mark.corpus


def is_gone(found: Found) -> bool:
    """Whether the underlined name of a Pallas module does not exist in the installed JAX."""
    alias, _, name = found.text.rpartition(".")
    text = Path(found.file).read_text()
    imported = re.search(rf"^(?:from (jax\.\S+) )?import (\S+) as {alias}$", text, re.MULTILINE)
    module = imported and ".".join(filter(None, imported.groups()))
    assert module, f"{found.file}: what is {alias}?"
    return not hasattr(importlib.import_module(module), name)


@pytest.mark.parametrize("name", ["tokamax-0.0.15", "ejkernel-0.0.80.3"])
def test_only_removed_names_are_reported(name: str) -> None:
    if not (CORPORA / name).is_dir():
        pytest.skip("`make test-corpora` downloads it")
    files, errors = errors_in(CORPORA / name)
    assert files >= 20
    assert [found for found in errors if found.rule != "removed-api" or not is_gone(found)] == []

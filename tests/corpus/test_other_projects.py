"""Released kernels of other projects have no error and no warning, but for what JAX refuses too: names that it does not have, and what was
examined.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest
from corpus.silence import Found, faults_in
from referee import lower

CORPORA = Path(__file__).parents[2] / ".corpora"

pytestmark = pytest.mark.corpus

# The packages, and how many of their files speak of Pallas at least.
PACKAGES = {
    "tokamax-0.0.15": 20,
    "ejkernel-0.0.80.3": 20,
    "atomic-ops-0.2.0": 10,
    "deltanet-tpu-0.3.0": 1,
    "gdn2-pallas-0.1.1": 5,
    "pallas-forge-0.1.2": 8,
    "qwix-0.1.8": 5,
    "maxtext-0.2.5": 20,
    "tpu-inference-0.32.0": 100,
}

# What stands there is refused: for other widths than 4 and 8 bits the words are gathered (`test_what_was_examined_is_refused`).
EXAMINED = {("gather-form", "words[:, word_idx.astype(jnp.int32)]")}

GATHERED = """
import jax, jax.numpy as jnp
from jax.experimental import pallas as pl

def kernel(words_ref, o_ref):
    words = words_ref[...]
    word_idx = jnp.arange(words.shape[1] * 32 // 2, dtype=jnp.uint32) * jnp.uint32(2) // jnp.uint32(32)
    o_ref[...] = words[:, word_idx.astype(jnp.int32)]

def run(words):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((8, 2048), jnp.uint32))(words)

ARGS = [jax.ShapeDtypeStruct((8, 128), jnp.uint32)]

if __name__ == "__main__":
    jax.jit(run).lower(*ARGS)
"""


def is_gone(found: Found) -> bool:
    """Whether the underlined name of a Pallas module does not exist in the installed JAX."""
    alias, _, name = found.text.rpartition(".")
    text = Path(found.file).read_text()
    imported = re.search(rf"^(?:from (jax\.\S+) )?import (\S+) as {alias}$", text, re.MULTILINE)
    module = imported and ".".join(filter(None, imported.groups()))
    assert module, f"{found.file}: what is {alias}?"
    return not hasattr(importlib.import_module(module), name)


@pytest.mark.parametrize("name", PACKAGES)
def test_only_removed_names_are_reported(name: str) -> None:
    if not (CORPORA / name).is_dir():
        pytest.skip("`make test-corpora` downloads it")
    files, faults = faults_in(CORPORA / name)
    assert files >= PACKAGES[name]
    faults = [found for found in faults if (found.rule, found.text) not in EXAMINED]
    assert [found for found in faults if found.rule != "removed-api" or not is_gone(found)] == []


def test_what_was_examined_is_refused() -> None:
    verdict = lower(GATHERED)
    assert not verdict.ok and verdict.line == 8, verdict

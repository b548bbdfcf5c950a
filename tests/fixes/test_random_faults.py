"""Fixes of random kernels that have one fault each: whatever is offered and leaves nothing to report is lowered by JAX."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from itertools import pairwise

from fixes.kernels import analysed, fixed
from random_kernels.judging import judged
from referee import lower

from pallas_lsp.rules.diagnostic import Diagnostic, Fix

KERNELS = 100


@functools.cache
def single_faults() -> list[str]:
    """Kernels that JAX refuses, and lowers once the one statement that it blames is taken out."""
    texts = []
    for seed in range(KERNELS):
        texts += [made.text for made, rest in pairwise(judged(seed)) if made.outcome == "caught" and rest.verdict.ok]
    return texts


def errors(text: str) -> list[Diagnostic]:
    return [found for found in analysed(text).diagnostics if found.severity == "error"]


def offered() -> Iterator[tuple[str, Fix]]:
    """The texts after every fix of every kernel."""
    for text in single_faults():
        for found in errors(text):
            yield from ((fixed(text, fix), fix) for fix in found.fixes)


def test_jax_lowers_what_fixes_make_of_them() -> None:
    made = [(text, fix.title) for text, fix in offered() if not errors(text)]
    assert len(made) >= 15
    assert [(title, text) for text, title in made if not lower(text).ok] == []

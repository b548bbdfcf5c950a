"""What the parts of a kernel call take: the table against the installed JAX, and against what is known of others."""

from __future__ import annotations

import importlib
import inspect
import os
from functools import reduce

import jax
import pytest
from resolve.generate_signatures import FUNCTIONS, table_of

from pallas_lsp.data.names import version_key
from pallas_lsp.data.signatures import _load, _parsed, argument_fault

PL, TPU = "jax.experimental.pallas", "jax.experimental.pallas.tpu"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_installed_jax_takes_what_the_table_says(name: str) -> None:
    module = next(m for m in (TPU, PL, "jax") if name.startswith(f"{m}."))
    found = reduce(getattr, name.removeprefix(f"{module}.").split("."), importlib.import_module(module))
    parameters = [p for p in inspect.signature(found).parameters.values() if p.name != "self"]
    versions, table = _load()
    listed = table[name][versions.index(version_key(jax.__version__))]
    assert listed is not None
    assert listed.positional == tuple(p.name for p in parameters if p.kind is not inspect.Parameter.KEYWORD_ONLY)
    assert listed.keyword_only == tuple(p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY)
    assert listed.required == {p.name for p in parameters if p.default is inspect.Parameter.empty}


def test_the_table_is_what_the_generator_reads_of_the_installed_jax() -> None:
    versions, table = _load()
    for function, generated in table_of([os.path.dirname(os.path.dirname(jax.__file__))]).items():
        text = generated[jax.__version__]
        assert table[function][versions.index(version_key(jax.__version__))] == (_parsed(text) if text is not None else None)


@pytest.mark.parametrize(
    ("name", "count", "keywords", "version", "kind"),
    [
        (f"{PL}.pallas_call", 1, {"grid"}, "0.10.2", "missing"),
        (f"{PL}.pallas_call", 3, set(), "0.10.2", "too many"),
        (f"{PL}.pallas_call", 2, {"backend"}, "0.9.0", None),
        (f"{PL}.pallas_call", 2, {"backend"}, "0.9.2", "unexpected"),
        (f"{PL}.pallas_call", 2, {"backend"}, "0.9.1", None),  # between two that differ
        (f"{PL}.kernel", 1, {"mesh", "out_shape"}, "0.10.0", None),
        (f"{PL}.kernel", 1, {"mesh", "out_shape"}, "0.10.2", "unexpected"),
        (f"{TPU}.CompilerParams", 0, {"opt_level"}, "0.12.0.1", None),
        (f"{TPU}.CompilerParams", 0, {"opt_level"}, None, None),  # some known version has it
        (f"{TPU}.CompilerParams", 0, {"num_warps"}, None, "unexpected"),
        (f"{TPU}.MemorySpace.__call__", 1, set(), "0.10.2", "missing"),
        (f"{PL}.BlockSpec", 2, {"indexing_mode"}, "0.7.0", None),
        (f"{PL}.BlockSpec", 2, {"indexing_mode"}, "9.9", None),  # newer than what was read
        (f"{PL}.no_such_function", 2, set(), "0.10.2", None),
    ],
)
def test_faults(name: str, count: int, keywords: set[str], version: str | None, kind: str | None) -> None:
    fault = argument_fault(name, count, keywords, version)
    assert (fault.kind if fault else None) == kind

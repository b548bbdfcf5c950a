"""The data tables of operations against the installed JAX and libtpu."""

from __future__ import annotations

import importlib.metadata
import tomllib
import warnings
from pathlib import Path

import jax
import pytest
from ops import generate_compiled
from ops.generate_operations import SHAPES, answers_of, calls
from referee import libtpu_installed, on_chip

import pallas_lsp.data
from pallas_lsp.data.chips import load_chips
from pallas_lsp.data.operations import MISSING, load_compiled, load_operations
from pallas_lsp.data.versions import parse_version

FOLDER = Path(pallas_lsp.data.__file__).parent
TABLE = tomllib.loads((FOLDER / "operations.toml").read_text(encoding="utf-8"))
ROWS = [
    (name, row["reason"], row["dtypes"])
    for row in TABLE["refused"]
    if jax.__version__ in row["versions"].split()
    for name in row["functions"].split()
]
COMPILED = tomllib.loads((FOLDER / "compiled.toml").read_text(encoding="utf-8"))


def test_the_installed_jax_was_asked() -> None:
    assert jax.__version__ in TABLE["versions"]


@pytest.mark.parametrize(("name", "reason", "dtypes"), ROWS)
def test_jax_refuses_the_function_for_the_reason(name: str, reason: str, dtypes: str) -> None:
    asked = ("float32", "int32") if dtypes == "*" else (dtypes.split()[0],)
    with on_chip("v5e"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answers = answers_of(calls()[name], asked, SHAPES[1:2]).of_dtype
    assert answers and all(reasons - {"scalar"} in ({reason}, set()) for reasons in answers.values()), answers


def test_what_is_between_two_versions_is_refused_by_both() -> None:
    table = load_operations("tensor")
    lookup = lambda function, version: table.reason(function, "float32", parse_version(version), lambda *_: MISSING)  # noqa: E731
    assert lookup("jax.lax.conv", "0.10.2") is not None
    assert lookup("jax.lax.conv", "0.11.0") is None
    assert lookup("jax.lax.conv", "0.12.0.1") is None
    assert lookup("jax.numpy.sort", "0.11.0") == "primitive sort"
    assert lookup("jax.numpy.sort", "1.0.0") == "primitive sort"
    assert lookup("jax.numpy.sort", "0.9.0") == "primitive sort"


def test_the_chips_of_the_compiler_are_those_of_the_table() -> None:
    chips = set(load_chips())
    assert all(covered <= chips for rows in load_compiled().values() for _, covered in rows)


@pytest.mark.libtpu
@pytest.mark.skipif(not libtpu_installed(), reason="libtpu is not installed")
@pytest.mark.parametrize("chip", ["v5e", "tpu7x"])
def test_the_compiler_refuses_the_functions(chip: str) -> None:
    if importlib.metadata.version("libtpu") not in COMPILED["libtpu"]:
        pytest.skip("another compiler than those asked")
    known = {(name, dtype) for name, rows in load_compiled().items() for dtypes, chips in rows if chip in chips for dtype in dtypes}
    functions = {name: call for name, call in generate_compiled.functions().items() if name in load_compiled()}
    refused = {cell for cell, chips in generate_compiled.refused(functions, chips=(chip,)).items() if chip in chips}
    assert known <= refused

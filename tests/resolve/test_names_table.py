"""Which JAX has which name: the table against the installed JAX, and against what is known of others."""

from __future__ import annotations

import importlib
import os
import warnings
from importlib.util import find_spec
from types import ModuleType

import jax
import pytest
from resolve.generate_names import LISTED_MODULES, facts_of

from pallas_lsp.data.names import load_names, version_key
from pallas_lsp.resolve.canonical import exists

PL = "jax.experimental.pallas"
PLTPU = "jax.experimental.pallas.tpu"


def _is_submodule(package: ModuleType, name: str) -> bool:
    """Submodules become attributes only when they are imported, which for those of other chips needs more than JAX."""
    return hasattr(package, "__path__") and find_spec(f"{package.__name__}.{name}") is not None


@pytest.mark.parametrize("module", [PL, PLTPU, f"{PLTPU}_sc", "jax.numpy", "jax.lax", "jax.nn", "jax.random"])
def test_the_installed_jax_has_exactly_the_listed_names(module: str) -> None:
    imported = importlib.import_module(module)
    for name in load_names().present[module]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            there = hasattr(imported, name) or _is_submodule(imported, name)
        assert exists(f"{module}.{name}", jax.__version__) is there, name
    assert exists(f"{module}.no_such_name", jax.__version__) is False


def test_the_table_is_what_the_generator_reads_of_the_installed_jax() -> None:
    facts = facts_of(os.path.dirname(os.path.dirname(jax.__file__)))
    version = version_key(jax.__version__)
    assert version in load_names().versions
    for module in LISTED_MODULES:
        listed = {name for name, having in load_names().present[module].items() if version in having}
        assert listed == facts.present.get(module, set())


@pytest.mark.parametrize(
    ("name", "version", "expected"),
    [
        (f"{PL}.load", "0.8.3", True),
        (f"{PL}.load", "0.9.0", False),
        (f"{PL}.swap", "0.8.3", True),
        (f"{PL}.atomic_add", "0.9.0", False),
        (f"{PLTPU}.load", "0.7.0", False),
        (f"{PLTPU}.load", "0.7.1", True),
        (f"{PLTPU}.swap", "0.10.2", False),
        (f"{PLTPU}.ANY", "0.9.2", True),
        (f"{PLTPU}.ANY", "0.10.0", False),
        (f"{PLTPU}.TPUMemorySpace", "0.6.2", True),
        (f"{PLTPU}.TPUMemorySpace", "0.7.1", True),
        (f"{PLTPU}.TPUMemorySpace", "0.7.2", False),
        (f"{PLTPU}.TPUCompilerParams", "0.10.2", False),
        (f"{PLTPU}.repeat", "0.10.2", False),
        (f"{PLTPU}.TensorCoreMesh", "0.10.2", False),
        (f"{PLTPU}.TensorCoreMesh", "0.12.0.1", True),
        (f"{PLTPU}.DeviceIdType", "0.10.2", True),
        (f"{PLTPU}.DeviceIdType", "0.12.0.1", False),
        (f"{PLTPU}.HOST", "0.12.0.1", False),
        (f"{PL}.dot", "0.10.2", True),
        (f"{PL}.dot", "0.12.0.1", False),
        (f"{PL}.core_map", "0.12.0.1", True),
        (f"{PLTPU}.matmul_pop_fifo", "0.10.2", False),
        (f"{PLTPU}.matmul_pop_fifo", "0.12.0.1", True),
        (f"{PL}.Unblocked", "0.10.2", False),
    ],
)
def test_names_that_came_and_went(name: str, version: str, expected: bool) -> None:
    assert exists(name, version) is expected


def test_between_versions_only_agreement_counts() -> None:
    assert exists(f"{PL}.BlockSpec", "0.11.7") is True
    assert exists(f"{PL}.load", "0.8.9") is None
    assert exists(f"{PL}.no_such_name", "0.11.7") is False


def test_outside_what_was_read_nothing_is_known() -> None:
    assert exists(f"{PL}.BlockSpec", "0.4.1") is None
    assert exists(f"{PL}.BlockSpec", "99.0") is None
    assert exists("flax.linen.Dense", "0.10.2") is None
    assert exists("jax", "0.10.2") is None


def test_versions() -> None:
    assert version_key("0.10.0") == version_key("0.10") == version_key("0.10.0.dev20260101") == (0, 10)
    assert version_key("0.12.0.1") > version_key("0.12.0") > version_key("0.9.2")
    with pytest.raises(ValueError, match="not a version"):
        version_key("newest")

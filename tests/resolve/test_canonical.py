"""One public name for each thing of JAX. The installed JAX is the referee: names made one must be one object in it."""

from __future__ import annotations

import importlib
import re
from typing import Any

import pytest

from pallas_lsp.data.names import load_names
from pallas_lsp.resolve.canonical import canonical, public_names

PL = "jax.experimental.pallas"
PLTPU = "jax.experimental.pallas.tpu"
MODULES = [PL, PLTPU, "jax.numpy", "jax.lax"]

# Other functions that do the same: there is no one object to compare.
WRAPPERS = re.compile(r"jax\.(_src\.)?tree_util\.tree_\w+")


def load(dotted: str) -> Any:
    """The object of a dotted name; AttributeError where the installed JAX has none such."""
    parts = dotted.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        for part in parts[count:]:
            found = getattr(found, part)
        return found
    raise AttributeError(dotted)


@pytest.mark.parametrize(
    ("spelled", "name"),
    [
        ("jax._src.pallas.core.BlockSpec", f"{PL}.BlockSpec"),
        ("jax._src.pallas.mosaic.core.MemorySpace.SMEM", f"{PLTPU}.SMEM"),
        ("jax._src.pallas.mosaic.core.TPUMemorySpace.SMEM", f"{PLTPU}.SMEM"),
        ("jax._src.pallas.mosaic.core.TPUMemorySpace.ANY", f"{PL}.ANY"),
        ("jax._src.pallas.core.MemorySpace.ANY", f"{PL}.ANY"),
        ("jax._src.numpy.reductions.sum", "jax.numpy.sum"),
        ("jax._src.numpy.lax_numpy.where", "jax.numpy.where"),
        ("jax._src.lax.lax.dot_general", "jax.lax.dot_general"),
        ("jax._src.lax.control_flow.loops.fori_loop", "jax.lax.fori_loop"),
        ("jax._src.api.ShapeDtypeStruct", "jax.ShapeDtypeStruct"),
        ("jax._src.state.indexing.dslice", f"{PL}.ds"),
        (f"{PL}.dslice", f"{PL}.ds"),
        (f"{PL}.tpu.MemorySpace.VMEM", f"{PLTPU}.VMEM"),
        (f"{PL}.tpu.core.MemorySpace.VMEM", f"{PLTPU}.VMEM"),
        (f"{PL}.tpu.TPUMemorySpace.VMEM", f"{PLTPU}.VMEM"),
        (f"{PL}.tpu.MemorySpace.ANY", f"{PL}.ANY"),
        (f"{PL}.tpu.ANY", f"{PL}.ANY"),
        (f"{PL}.MemorySpace.ANY", f"{PL}.ANY"),
        (f"{PL}.tpu.HOST", f"{PL}.HOST"),
        (f"{PL}.tpu.TPUCompilerParams", f"{PLTPU}.CompilerParams"),
        (f"{PL}.tpu.semaphore_wait", f"{PL}.semaphore_wait"),
        (f"{PL}.tpu.GridDimensionSemantics.PARALLEL", f"{PLTPU}.PARALLEL"),
        (f"{PL}.tpu.SemaphoreType.DMA", f"{PLTPU}.SemaphoreType.DMA"),
        ("jax.tree_map", "jax.tree.map"),
        ("jax.tree_util.tree_map", "jax.tree.map"),
        ("jax.tree.map", "jax.tree.map"),
        ("jax.numpy.float_", "jax.numpy.float64"),
        ("jax.numpy.bool", "jax.numpy.bool_"),
        ("jax.numpy.ndarray", "jax.Array"),
        ("jax.new_ref", "jax.ref.new_ref"),
        ("jax.scipy.special.logsumexp", "jax.nn.logsumexp"),
    ],
)
def test_other_names(spelled: str, name: str) -> None:
    assert canonical(spelled) == name


@pytest.mark.parametrize(
    "name",
    [
        *(f"{PL}.{name}" for name in ("load", "BlockSpec", "CompilerParams")),
        *(f"{PLTPU}.{name}" for name in ("CompilerParams", "load", "make_async_copy", "async_copy")),
        *("jax.numpy.concat", "jax.numpy.concatenate", "jax.numpy.dtype", "jax.numpy.add", "jax.lax.add", "jax.ref.get", "jax.ref.swap"),
        *("numpy.sum", "numpy.bool", "functools.partial", "jaxtyping.Float", "jax", "jax._src.core.no_such_thing", "", ".jax.x"),
    ],
)
def test_names_of_their_own(name: str) -> None:
    assert canonical(name) == name


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_names_made_one_are_one_object() -> None:
    different, compared = [], 0
    for spelled in load_names().canonical:
        name = canonical(spelled)
        if WRAPPERS.fullmatch(spelled):
            continue
        try:
            one, other = load(spelled), load(name)
        except AttributeError:
            continue  # a name of other versions
        compared += 1
        if one is not other and one != other:
            different.append((spelled, name))
    assert compared > 1200
    assert not different


def test_a_canonical_name_is_its_own() -> None:
    for name in map(canonical, load_names().canonical):
        assert canonical(name) == name


@pytest.mark.parametrize("module", MODULES)
def test_the_private_name_of_every_public_one_leads_back(module: str) -> None:
    """``__module__`` and ``__qualname__`` give the private name, as jedi does."""
    lost, compared = [], 0
    for name in dir(importlib.import_module(module)):
        value = getattr(importlib.import_module(module), name)
        owner, qualified = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
        if name.startswith("_") or not isinstance(owner, str) or not qualified or not owner.startswith("jax"):
            continue
        private = f"{owner}.{qualified}"
        try:
            if load(private) is not value:
                continue
        except AttributeError:
            continue
        compared += 1
        if canonical(private) != canonical(f"{module}.{name}"):
            lost.append((private, name))
    assert compared > 20
    assert not lost


@pytest.mark.parametrize("enumeration", [f"{PLTPU}.MemorySpace", f"{PLTPU}.GridDimensionSemantics", f"{PL}.MemorySpace"])
def test_members_of_enumerations_are_what_the_module_calls_them(enumeration: str) -> None:
    module = enumeration.rpartition(".")[0]
    members = {member.name: member for member in load(enumeration)}
    named = {name: getattr(importlib.import_module(module), name, None) for name in members}
    for name, member in members.items():
        if named[name] is member:
            assert canonical(f"{enumeration}.{name}") == f"{module}.{name}"
            assert canonical(f"{type(member).__module__}.{type(member).__qualname__}.{name}") == f"{module}.{name}"


def test_wrappers_take_what_the_wrapped_take() -> None:
    import jax

    tree = {"a": 1, "b": (2, 3)}
    pairs = [key for key in load_names().canonical if WRAPPERS.fullmatch(key) and hasattr(jax.tree_util, key.rpartition(".")[2])]
    assert len(pairs) >= 10
    assert jax.tree.map(lambda x: x + 1, tree) == jax.tree_util.tree_map(lambda x: x + 1, tree)
    assert jax.tree.leaves(tree) == jax.tree_util.tree_leaves(tree)
    assert jax.tree.structure(tree) == jax.tree_util.tree_structure(tree)


def test_public_names_hold_every_name_of_the_installed_jax() -> None:
    for module in MODULES:
        imported = importlib.import_module(module)
        names = {name for name in dir(imported) if not name.startswith("_")}
        assert names <= public_names(module)
    assert public_names("flax.linen") == frozenset()

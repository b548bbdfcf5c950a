"""Lists that get an unknown number of items: their start is known, their length is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysis.projects import HEAD, analysed, write

TEXT = """
from elsewhere import more


def kernel(x_ref, y_ref, z_ref, o_ref):
    o_ref[...] = x_ref[...] + y_ref[...] + z_ref[...]


def add(specs):
    specs.extend(more())


class Specs:
    def __init__(self, spec):
        self.all = [spec]
        for other in more():
            self.all.append(other)


def run(x, y, z):
    spec = pl.BlockSpec((8, 128), lambda i: (i, 0), memory_space=pltpu.SMEM)
    specs = [spec]
    {grow}
    call = pl.pallas_call(kernel, grid=(4,), in_specs=specs, out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32))
    return call(x, y, z)


run(jnp.zeros((32, 128)), jnp.zeros((32, 128)), jnp.zeros((32, 128)))
"""

# What grows the list, and whether the ref of its first item is still known: it is in SMEM, where no vector is loaded.
GROWN = {
    "specs.extend(more())": True,
    "specs += more()": True,
    "other = specs; other.extend(more())": True,
    "other = specs; other += more()": True,
    "specs = specs + more()": True,
    "specs = [*specs, *more()]": True,
    "[specs.append(other) for other in ()]\n    for other in more():\n        specs.append(other)": True,
    "for other in more():\n        specs += [other]": True,
    "for other in more():\n        specs.insert(0, other)": False,
    "specs = Specs(spec).all": True,
    "add(specs)": False,
    "(lambda: specs)().extend(more())": True,
}


@pytest.mark.parametrize("grow", GROWN)
def test_only_the_length_of_a_list_that_grows_is_unknown(tmp_path: Path, grow: str) -> None:
    write(tmp_path, kernels=HEAD + TEXT.format(grow=grow))
    found = [diagnostic.rule for diagnostic in analysed(tmp_path, "kernels.py").diagnostics]
    assert found == (["load-vector-from-smem"] if GROWN[grow] else [])


@pytest.mark.parametrize("shrink", ["specs.append(spec); specs.remove(spec)", "specs.append(spec); specs.pop(more())"])
def test_a_list_loses_one_item(tmp_path: Path, shrink: str) -> None:
    write(tmp_path, kernels=HEAD + TEXT.format(grow=f"specs = [spec] * 3; {shrink}"))
    assert [diagnostic.rule for diagnostic in analysed(tmp_path, "kernels.py").diagnostics] == []

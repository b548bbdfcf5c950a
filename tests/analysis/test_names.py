"""The ways in which a program names a memory space, each seen by the checker in a whole kernel."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysis.projects import HEAD, analysed, findings, line_of, write

KERNEL = """

def kernel(s_ref, o_ref):
    o_ref[...] = jnp.zeros(o_ref.shape, jnp.float32) + s_ref[...]  # load


def run(s):
    return pl.pallas_call(
        kernel,
        in_specs=[pl.BlockSpec(memory_space=SPACE)],
        out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32),
    )(s)


if __name__ == "__main__":
    jax.jit(run).lower(jax.ShapeDtypeStruct((1, 1), jnp.float32))
"""

SPELLINGS = {
    "attribute": ("", "pltpu.SMEM"),
    "enum": ("", "pltpu.MemorySpace.SMEM"),
    "old enum": ("", "pltpu.TPUMemorySpace.SMEM"),
    "imported name": ("from jax.experimental.pallas.tpu import SMEM", "SMEM"),
    "other alias": ("from jax.experimental.pallas import tpu as mosaic", "mosaic.SMEM"),
    "whole path": ("import jax.experimental.pallas.tpu as tpu_module", "tpu_module.SMEM"),
    "local alias": ("smem = pltpu.SMEM", "smem"),
    "alias of the enum": ("MS = pltpu.MemorySpace", "MS.SMEM"),
    "function": ("def where(on_tpu=True):\n    return pltpu.SMEM if on_tpu else pl.ANY", "where()"),
    "star import": ("from jax.experimental.pallas.tpu import *", "SMEM"),
    "project module": ("from spaces import SCALARS", "SCALARS"),
    "project package": ("from compat import SMEM as SCALARS", "SCALARS"),
    "compat branch": ("from compat.versions import smem_space", "smem_space"),
    "module attribute": ("import spaces", "spaces.SCALARS"),
}
PROJECT = {
    "spaces.py": "from jax.experimental.pallas import tpu as pltpu\n\nSCALARS = pltpu.SMEM\n",
    "compat/__init__.py": "from .versions import *\n",
    "compat/versions.py": "from jax.experimental.pallas import tpu as pltpu\n\n"
    "try:\n    SMEM = pltpu.SMEM\nexcept AttributeError:\n    SMEM = pltpu.TPUMemorySpace.SMEM\n\n"
    'smem_space = pltpu.MemorySpace.SMEM if hasattr(pltpu, "MemorySpace") else pltpu.TPUMemorySpace.SMEM\n',
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_memory_space_is_recognised(tmp_path: Path, spelling: str) -> None:
    before, expression = SPELLINGS[spelling]
    text = HEAD + before + KERNEL.replace("SPACE", expression)
    write(tmp_path, PROJECT, kernels=text)
    found = findings(analysed(tmp_path, "kernels.py"))
    assert ("load-vector-from-smem", "kernels.py", line_of(text, "# load")) in found
    assert {rule for rule, _, _ in found} <= {"load-vector-from-smem", "removed-api"}


def test_an_unknown_memory_space_says_nothing(tmp_path: Path) -> None:
    write(tmp_path, kernels=HEAD + "from elsewhere import SCALARS" + KERNEL.replace("SPACE", "SCALARS"))
    assert findings(analysed(tmp_path, "kernels.py")) == []


def test_a_name_of_an_installed_package_is_looked_up(tmp_path: Path) -> None:
    site = tmp_path / "site-packages"
    shim = "from jax.experimental.pallas import tpu\n\nSCALARS = tpu.SMEM\n"
    write(site, {"pallas_shim/__init__.py": "from pallas_shim.spaces import SCALARS\n", "pallas_shim/spaces.py": shim})
    project = tmp_path / "project"
    text = HEAD + "from pallas_shim import SCALARS" + KERNEL.replace("SPACE", "SCALARS")
    write(project, kernels=text)
    found = findings(analysed(project, "kernels.py", site_packages=site))
    assert found == [("load-vector-from-smem", "kernels.py", line_of(text, "# load"))]
    without = analysed(project, "kernels.py", site_packages=site, lookup=False)
    assert without.diagnostics == []
    assert without.unresolved == {"pallas_shim.SCALARS"}


@pytest.mark.parametrize("version, says", [("0.9.2", False), ("0.10.2", True), (None, False)])
def test_a_removed_name_is_reported_for_the_stated_version_only(tmp_path: Path, version: str | None, says: bool) -> None:
    text = HEAD + KERNEL.replace("memory_space=SPACE", "memory_space=pltpu.ANY").replace("+ s_ref[...]", "")
    write(tmp_path, kernels=text)
    found = findings(analysed(tmp_path, "kernels.py", version))
    assert [rule for rule, _, _ in found] == (["removed-api"] if says else [])

"""Every way in which kernels name Pallas's functions and memory spaces leads to one name, with JAX installed and without."""

from __future__ import annotations

import pytest
from resolve.workspace import Workspace, library

from pallas_lsp.resolve.environment import Environment

PL = "jax.experimental.pallas"
PLTPU = "jax.experimental.pallas.tpu"

SPELLINGS = {
    "from jax.experimental import pallas as pl": ("pl", PL),
    "import jax.experimental.pallas as pl": ("pl", PL),
    "import jax.experimental.pallas\nx = jax.experimental.pallas.BlockSpec": ("x", f"{PL}.BlockSpec"),
    "from jax.experimental.pallas import tpu as pltpu": ("pltpu", PLTPU),
    "from jax.experimental.pallas import tpu as whatever\nx = whatever.SMEM": ("x", f"{PLTPU}.SMEM"),
    "import jax.experimental.pallas.tpu as pltpu\nx = pltpu.VMEM": ("x", f"{PLTPU}.VMEM"),
    "from jax.experimental import pallas as pl\nx = pl.tpu.VMEM": ("x", f"{PLTPU}.VMEM"),
    "from jax.experimental.pallas.tpu import SMEM, VMEM": ("VMEM", f"{PLTPU}.VMEM"),
    "from jax.experimental.pallas.tpu import SMEM as S, VMEM as V": ("S", f"{PLTPU}.SMEM"),
    "from jax.experimental.pallas import *": ("BlockSpec", f"{PL}.BlockSpec"),
    "from jax.experimental.pallas import tpu as pltpu\nsmem = pltpu.SMEM": ("smem", f"{PLTPU}.SMEM"),
    "from jax.experimental.pallas import tpu as pltpu\nMS = pltpu.MemorySpace": ("MS", f"{PLTPU}.MemorySpace"),
    "from jax.experimental.pallas import tpu as pltpu\nMS = pltpu.MemorySpace\nx = MS.SMEM": ("x", f"{PLTPU}.SMEM"),
    "from jax.experimental import pallas as pl\nx = pl.ANY": ("x", f"{PL}.ANY"),
    "from jax.experimental import pallas as pl\nx = pl.MemorySpace.ANY": ("x", f"{PL}.ANY"),
    "from jax.experimental.pallas import tpu as pltpu\nx = pltpu.ANY": ("x", f"{PL}.ANY"),
    "from jax.experimental.pallas import tpu as pltpu\nx = pltpu.TPUMemorySpace.ANY": ("x", f"{PL}.ANY"),
    "from jax.experimental.pallas import tpu as pltpu\nx = pltpu.HBM": ("x", f"{PLTPU}.HBM"),
    "from jax.experimental.pallas import tpu as pltpu\nx = pltpu.MemorySpace.SMEM": ("x", f"{PLTPU}.SMEM"),
    "from jax.experimental.pallas import tpu as pltpu\nx = pltpu.TPUMemorySpace.SMEM": ("x", f"{PLTPU}.SMEM"),
    "from jax.experimental.pallas.tpu import TPUMemorySpace as TMS\nx = TMS.VMEM": ("x", f"{PLTPU}.VMEM"),
    "from jax._src.pallas.mosaic.core import MemorySpace\nx = MemorySpace.SMEM": ("x", f"{PLTPU}.SMEM"),
    "from jax._src.pallas.core import BlockSpec": ("BlockSpec", f"{PL}.BlockSpec"),
    "import jax.numpy as jnp\nx = jnp.sum": ("x", "jax.numpy.sum"),
    "from jax import numpy as jnp, lax\nx = lax.dot_general": ("x", "jax.lax.dot_general"),
    "import jax\nx = jax.lax.fori_loop": ("x", "jax.lax.fori_loop"),
    "import numpy as np\nx = np.float32": ("x", "numpy.float32"),
    "import functools\nx = functools.partial": ("x", "functools.partial"),
    "from functools import partial as p": ("p", "functools.partial"),
}


@pytest.mark.parametrize("text", SPELLINGS)
def test_spelling(text: str, workspace: Workspace, environment: Environment) -> None:
    workspace.use(environment)
    name, expected = SPELLINGS[text]
    assert workspace.target(text, name) == library(expected)


def test_through_another_file_of_the_project(workspace: Workspace, environment: Environment) -> None:
    workspace.use(environment)
    workspace.write("compat.py", "from jax.experimental import pallas as pl\nfrom jax.experimental.pallas import tpu\nSMEM = tpu.SMEM\n")
    assert workspace.target("from compat import SMEM as S", "S") == library(f"{PLTPU}.SMEM")
    assert workspace.target("import compat\nx = compat.pl.BlockSpec", "x") == library(f"{PL}.BlockSpec")


def test_old_and_new_name_of_a_compat_import_are_one(workspace: Workspace) -> None:
    text = """
    try:
        from jax.experimental.pallas.tpu import CompilerParams
    except ImportError:
        from jax.experimental.pallas.tpu import TPUCompilerParams as CompilerParams
    """
    assert workspace.target(text, "CompilerParams") == library(f"{PLTPU}.CompilerParams")


def test_what_only_running_would_tell_is_left_to_be_run(workspace: Workspace) -> None:
    text = "from jax.experimental.pallas import tpu as pltpu\nx = pltpu.SMEM if flag else pltpu.VMEM\ndef f(): pass\n"
    assert workspace.target(text, "x") == workspace.attribute("module.py", "x")
    assert workspace.target(text, "f") == workspace.attribute("module.py", "f")
    branches = "if flag:\n    from jax.lax import add as x\nelse:\n    from jax.lax import sub as x"
    assert workspace.target(branches, "x") == workspace.attribute("module.py", "x")


def test_the_spelling_is_kept_beside_the_name(workspace: Workspace) -> None:
    target = workspace.imports("module.py", "from jax.experimental.pallas.tpu import TPUCompilerParams")["TPUCompilerParams"]
    assert target == library(f"{PLTPU}.CompilerParams")
    assert target.spelled == f"{PLTPU}.TPUCompilerParams"


def test_aliases_in_a_circle_end(workspace: Workspace) -> None:
    assert workspace.target("a = b\nb = a\n", "a") == workspace.attribute("module.py", "a")
    assert workspace.target("x = x.y\n", "x") == workspace.attribute("module.py", "x")
    many = "".join(f"{name} = {following}\n" * 50 for name, following in zip("abcdefgh", "bcdefghi", strict=True))
    assert workspace.target(many, "a") == workspace.attribute("module.py", "a")

"""An import is added once, where a reader looks for it."""

from __future__ import annotations

import ast

import pytest
from text.samples import KERNELS

from pallas_lsp.text.edits import add_import, apply
from pallas_lsp.text.parse import parse
from pallas_lsp.text.source import Source


def added(text: str, module: str, name: str | None = None, alias: str | None = None) -> str | None:
    edit = add_import(Source("f.py", text), parse(text).tree, module, name, alias)
    return None if edit is None else apply(text, [edit])


@pytest.mark.parametrize(
    "text",
    [
        "import jax.numpy as jnp\n",
        "from jax import numpy as jnp\n",
        "import jax, jax.numpy as jnp\n",
        "x = 1\nfrom jax import lax, numpy as jnp\n",
    ],
)
def test_what_is_imported_is_left_alone(text: str) -> None:
    assert added(text, "jax.numpy", alias="jnp") is None
    assert added(text, "jax", "numpy", "jnp") is None


@pytest.mark.parametrize(
    "text", ["import jax.numpy\n", "import jax.numpy as np\n", "def f():\n    import jax.numpy as jnp\n", "from .jax import numpy as jnp\n"]
)
def test_another_name_or_scope_is_not_the_same_import(text: str) -> None:
    assert added(text, "jax.numpy", alias="jnp") is not None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import os\nimport jax\nimport sys\n\nx = 1\n", "import os\nimport jax\nimport jax.numpy as jnp\nimport sys\n\nx = 1\n"),
        ("import os\nimport sys\n\nx = 1\n", "import os\nimport sys\nimport jax.numpy as jnp\n\nx = 1\n"),
        ("from __future__ import annotations\nx = 1\n", "from __future__ import annotations\nimport jax.numpy as jnp\nx = 1\n"),
        ("from jax import (\n    lax,\n)  # why\nx = 1\n", "from jax import (\n    lax,\n)  # why\nimport jax.numpy as jnp\nx = 1\n"),
        ("import jax; x = [\n]; y = 1\nz = 2\n", "import jax; x = [\n]; y = 1\nimport jax.numpy as jnp\nz = 2\n"),
        ("import jax\r\n", "import jax\r\nimport jax.numpy as jnp\r\n"),
        ("import jax", "import jax\nimport jax.numpy as jnp"),
        ('"""Doc."""\n\nx = 1\n', '"""Doc."""\n\nimport jax.numpy as jnp\n\nx = 1\n'),
        ('"""Doc."""', '"""Doc."""\n\nimport jax.numpy as jnp'),
        ("x = 1\n", "import jax.numpy as jnp\n\nx = 1\n"),
        ("#!/bin/python\n# License.\nx = 1\n", "#!/bin/python\n# License.\nimport jax.numpy as jnp\n\nx = 1\n"),
        ("# License.\n\n# About f.\n@jit\ndef f(): pass\n", "# License.\n\nimport jax.numpy as jnp\n\n# About f.\n@jit\ndef f(): pass\n"),
        ("\ufeffx = 1\n", "\ufeffimport jax.numpy as jnp\n\nx = 1\n"),
        ("", "import jax.numpy as jnp\n"),
        ("# Empty.\n", "# Empty.\nimport jax.numpy as jnp\n"),
        ("# Empty.", "# Empty.\nimport jax.numpy as jnp"),
    ],
)
def test_where_an_import_goes(before: str, after: str) -> None:
    assert added(before, "jax.numpy", alias="jnp") == after


def test_how_an_import_is_written() -> None:
    assert added("", "jax") == "import jax\n"
    assert added("", "jax", "lax") == "from jax import lax\n"
    assert added("", "jax", "lax", "lax") == "from jax import lax\n"
    assert added("", "jax.experimental.pallas", "tpu", "pltpu") == "from jax.experimental.pallas import tpu as pltpu\n"


@pytest.mark.parametrize("name", KERNELS)
def test_an_import_is_added_to_a_kernel_once(name: str) -> None:
    text = added(KERNELS[name], "ml_dtypes")
    assert text is not None
    assert len(ast.parse(text).body) == len(ast.parse(KERNELS[name]).body) + 1
    assert added(text, "ml_dtypes") is None

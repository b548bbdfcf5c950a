"""Specs and kernels in other files: fixes go where the text is, and look at everyone who uses it."""

from __future__ import annotations

from fixes.kernels import PATH, analysed

from pallas_lsp.analysis import analyze
from pallas_lsp.resolve.project import Project
from pallas_lsp.rules.diagnostic import Fix
from pallas_lsp.settings import Settings
from pallas_lsp.text.edits import apply

SPECS = """\
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

SCALAR = pl.BlockSpec((1, 1), lambda: (0, 0))


def scratch():
    return [pltpu.VMEM((1,), "float32")]
"""

KERNEL = """\
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

import specs


def kernel(x_ref, o_ref, s_ref):
    s_ref[0] = jnp.sum(x_ref[...])
    o_ref[0, 0] = s_ref[0]


def run(x):
    out = jax.ShapeDtypeStruct((1, 1), jnp.float32)
    return pl.pallas_call(kernel, out_shape=out, out_specs=specs.SCALAR, scratch_shapes=specs.scratch())(x)


ARGS = [jax.ShapeDtypeStruct((8, 128), jnp.float32)]

if __name__ == "__main__":
    jax.jit(run).lower(*ARGS)
"""

OTHER = """\
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

from specs import SCALAR


def kernel(x_ref, o_ref):
    o_ref[...] = jnp.sum(x_ref[...], keepdims=True)


def run(x):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((1, 1), jnp.float32), out_specs=SCALAR)(x)


jax.jit(run).lower(jax.ShapeDtypeStruct((8, 128), jnp.float32))
"""

SPECS_PATH = "/project/specs.py"


def edited(fix: Fix) -> dict[str, str]:
    """The texts that a fix makes of ``KERNEL`` and ``SPECS``, where they change."""
    texts = {PATH: KERNEL, SPECS_PATH: SPECS}
    return {path: apply(text, own) for path, text in texts.items() if (own := [edit for edit in fix.edits if edit.path == path])}


def test_a_scratch_entry_and_a_spec_of_another_file() -> None:
    scratch, store = analysed(KERNEL, specs=SPECS).diagnostics
    assert edited(scratch.fixes[0]) == {SPECS_PATH: SPECS.replace("pltpu.VMEM", "pltpu.SMEM")}
    assert [fix.title for fix in store.fixes] == ["Store a vector of one element to all of `o_ref`", "Put `o_ref` in SMEM"]
    assert edited(store.fixes[0]) == {PATH: KERNEL.replace("o_ref[0, 0] = s_ref[0]", "o_ref[...] = jnp.full(o_ref.shape, s_ref[0])")}
    assert edited(store.fixes[1]) == {SPECS_PATH: SPECS.replace("(0, 0))", "(0, 0), memory_space=pltpu.SMEM)")}


def test_both_together_leave_nothing() -> None:
    scratch, store = analysed(KERNEL, specs=SPECS).diagnostics
    both = Fix("Both", "safe", (*scratch.fixes[0].edits, *store.fixes[1].edits))
    assert analysed(KERNEL, specs=edited(both)[SPECS_PATH]).diagnostics == []


def test_a_spec_that_another_file_needs_as_it_is_is_left_alone() -> None:
    assert analysed(OTHER, specs=SPECS).diagnostics == []
    _, store = analysed(KERNEL, specs=SPECS, other=OTHER).diagnostics
    assert [fix.title for fix in store.fixes] == ["Store a vector of one element to all of `o_ref`"]


def test_callers_count_for_fixes_even_where_they_were_not_analysed() -> None:
    project = Project(overlay={PATH: KERNEL, SPECS_PATH: SPECS, "/project/other.py": OTHER})
    source = project.read(PATH)
    assert source is not None
    _, store = analyze(source, project, Settings(jax_version="0.10.2"), callers=False).diagnostics
    assert [fix.title for fix in store.fixes] == ["Store a vector of one element to all of `o_ref`"]


def test_a_kernel_is_fixed_for_all_its_callers() -> None:
    """Seen from the file of the kernel alone: its calls are in files that import it."""
    kernel = "import jax.numpy as jnp\n\n\ndef kernel(x_ref, o_ref):\n    o_ref[0, 0] = jnp.sum(x_ref[...])\n"
    caller = OTHER.replace("from specs import SCALAR\n", "from kernel import kernel\n").replace(", out_specs=SCALAR", "")
    caller = caller.replace("def kernel(x_ref, o_ref):\n    o_ref[...] = jnp.sum(x_ref[...], keepdims=True)\n\n\n", "")
    wide = caller.replace("(1, 1)", "(8, 128)")
    (found,) = analysed(kernel, caller=caller).diagnostics
    assert found.fixes[0].title == "Keep the dims of the reduction and store to all of `o_ref`"
    (found,) = analysed(kernel, caller=caller, wide=wide).diagnostics
    assert found.fixes[0].title == "Store a slice of one element to `o_ref`"


def test_installed_files_are_not_edited() -> None:
    path = "/venv/lib/site-packages/library.py"
    project = Project(overlay={path: KERNEL.replace("import specs\n", "").replace("specs.SCALAR", "None").replace("specs.scratch()", "()")})
    source = project.read(path)
    assert source is not None
    found = analyze(source, project, Settings(jax_version="0.10.2")).diagnostics
    assert [list(diagnostic.fixes) for diagnostic in found] == [[] for _ in found]

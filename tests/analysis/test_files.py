"""Kernels and specs in several files: where a finding belongs, and what refreshes it."""

from __future__ import annotations

from pathlib import Path

from analysis.projects import HEAD, analysed, findings, line_of, write

KERNELS = """import jax.numpy as jnp


def total(x_ref, o_ref):
    o_ref[0, 0] = jnp.sum(x_ref[...])  # store
"""
OPS = (
    HEAD
    + """from kernels import total


def run(x):
    return pl.pallas_call(total, out_shape=jax.ShapeDtypeStruct((1, 1), jnp.float32))(x)
"""
)
SPECS = HEAD + "\n\ndef scalar_spec():\n    return pl.BlockSpec(memory_space=pltpu.VMEM)  # spec\n"


def test_a_finding_is_in_the_kernels_file_with_the_call_as_a_related_place(tmp_path: Path) -> None:
    write(tmp_path, kernels=KERNELS, ops=OPS)
    expected = [("store-scalar-to-vmem", "kernels.py", line_of(KERNELS, "# store"))]
    from_the_call = analysed(tmp_path, "ops.py")
    assert findings(from_the_call) == expected
    assert any(Path(related.location.path).name == "ops.py" for related in from_the_call.diagnostics[0].related)
    assert str(tmp_path / "kernels.py") in from_the_call.depends_on


def test_the_kernels_file_alone_is_judged_where_it_is_called(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    write(tmp_path, kernels=KERNELS, ops=OPS)
    assert findings(analysed(tmp_path, "kernels.py")) == [("store-scalar-to-vmem", "kernels.py", line_of(KERNELS, "# store"))]
    assert findings(analysed(tmp_path, "kernels.py", callers=False)) == []


def test_a_spec_in_another_file_is_a_related_place(tmp_path: Path) -> None:
    ops = OPS.replace("(total, ", "(total, out_specs=scalar_spec(), ").replace("import total", "import total\nfrom specs import scalar_spec")
    write(tmp_path, kernels=KERNELS, ops=ops, specs=SPECS)
    (found,) = analysed(tmp_path, "ops.py").diagnostics
    spec = next(related for related in found.related if Path(related.location.path).name == "specs.py")
    assert SPECS[: spec.location.span.start].count("\n") + 1 == line_of(SPECS, "# spec")


def test_modules_that_import_each_other_end(tmp_path: Path) -> None:
    write(tmp_path, ops="import kernels\n" + OPS, kernels="import ops\nfrom ops import run\n" + KERNELS)
    assert [rule for rule, _, _ in findings(analysed(tmp_path, "ops.py"))] == ["store-scalar-to-vmem"]


def test_a_name_that_only_imports_itself_ends(tmp_path: Path) -> None:
    write(tmp_path, ops=OPS.replace("from kernels import total", "from kernels import total\nfrom other import nothing"), kernels=KERNELS)
    write(tmp_path, other="from another import nothing\n", another="from other import nothing\n")
    assert [rule for rule, _, _ in findings(analysed(tmp_path, "ops.py"))] == ["store-scalar-to-vmem"]

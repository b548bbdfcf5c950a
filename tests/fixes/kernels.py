"""Whole programs around the body of a kernel, each with the call that says what it is called with."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from textwrap import indent

import jax

from pallas_lsp.analysis import Analysis, analyze
from pallas_lsp.resolve.project import Project
from pallas_lsp.rules.diagnostic import Fix
from pallas_lsp.settings import Settings
from pallas_lsp.text.edits import apply

_PROGRAM = """\
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def kernel({parameters}):
{body}


def run({operands}):
    return pl.pallas_call(
        kernel,
        out_shape={out},{keywords}
    )({operands})


ARGS = [{arguments}]

if __name__ == "__main__":
    jax.jit(run).lower(*ARGS)
"""

_DTYPES = {"f32": "float32", "bf16": "bfloat16", "i32": "int32", "i8": "int8", "bool": "bool_"}


def struct(described: str) -> str:
    """``f32[8,128]`` as a ``jax.ShapeDtypeStruct``."""
    short, _, dims = described.removesuffix("]").partition("[")
    return f"jax.ShapeDtypeStruct(({dims.replace(',', ', ')}{',' if dims and ',' not in dims else ''}), jnp.{_DTYPES[short]})"


def program(body: str, *, x: str = "f32[8,128]", y: str | None = None, out: str | Sequence[str] = "f32[8,128]", **keywords: str) -> str:
    """A program with the kernel ``body``.

    Its refs are ``x_ref`` and, if given, ``y_ref``, of the dtypes and shapes described; ``o_ref``, and ``p_ref`` where ``out`` describes
    two outputs; ``s_ref`` where there are ``scratch_shapes``. ``keywords`` are further arguments of ``pallas_call``, as texts.
    """
    arguments = [x, y] if y is not None else [x]
    outputs = [out] if isinstance(out, str) else list(out)
    operands = ["x", "y"][: len(arguments)]
    scratch = ["s_ref"] if "scratch_shapes" in keywords else []
    names = [*(f"{operand}_ref" for operand in operands), *["o_ref", "p_ref"][: len(outputs)], *scratch]
    structs = [struct(output) for output in outputs]
    return _PROGRAM.format(
        parameters=", ".join(names),
        body=indent(body, "    "),
        operands=", ".join(operands),
        out=structs[0] if isinstance(out, str) else f"[{', '.join(structs)}]",
        keywords="".join(f"\n        {name}={text}," for name, text in keywords.items()),
        arguments=", ".join(map(struct, arguments)),
    )


PATH = "/project/kernel.py"


def analysed(text: str, target: str | None = None, **others: str) -> Analysis:
    """The analysis of a file with this text, for the installed JAX; ``others`` are the texts of modules beside it, by name."""
    project = Project(overlay={PATH: text, **{f"/project/{name}.py": other for name, other in others.items()}})
    source = project.read(PATH)
    assert source is not None
    return analyze(source, project, Settings(jax_version=jax.__version__, target=target))


@functools.cache
def fixes(text: str, rule: str | None = None, target: str | None = None) -> list[Fix]:
    """The fixes of the first finding of ``rule``, or of any, in a file with this text."""
    return list(next(found.fixes for found in analysed(text, target).diagnostics if rule in (None, found.rule)))


def fixed(text: str, fix: Fix) -> str:
    """The text after a fix that edits nothing else."""
    assert {edit.path for edit in fix.edits} == {PATH}
    return apply(text, fix.edits)

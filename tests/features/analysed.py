"""Texts of tests, analysed."""

from __future__ import annotations

from pallas_lsp.analysis import Analysis, analyze
from pallas_lsp.resolve.project import Project
from pallas_lsp.settings import Settings
from pallas_lsp.text.span import Edit, Span

PATH = "/project/kernel.py"

HEAD = """\
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

"""

KERNEL = """\
def kernel(x_ref, o_ref):
    o_ref[0, 0] = jnp.sum(x_ref[...])

"""

CALL = """\
def total(x):
    return pl.pallas_call(
        kernel,
        out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32),
        in_specs=[pl.BlockSpec((8, 128), lambda: (0, 0))],
        out_specs=pl.BlockSpec((8, 128), lambda: (0, 0)),
    )(x)


total(jnp.zeros((8, 128), jnp.float32))
"""

BAD = HEAD + KERNEL + CALL


def analysed(text: str, **files: str) -> Analysis:
    """The analysis of ``text`` in a project with other modules ``files`` beside it."""
    project = Project(["/project"], None, {PATH: text} | {f"/project/{name}.py": content for name, content in files.items()})
    source = project.read(PATH)
    assert source is not None
    return analyze(source, project, Settings(jax_version="0.10.2"))


def edited(text: str, edits: tuple[Edit, ...]) -> str:
    """``text`` after edits of it."""
    for edit in sorted(edits, key=lambda edit: edit.span, reverse=True):
        text = text[: edit.span.start] + edit.content + text[edit.span.end :]
    return text


def span_of(text: str, needle: str) -> Span:
    start = text.index(needle)
    return Span(start, start + len(needle))

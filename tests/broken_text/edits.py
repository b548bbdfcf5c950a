"""Edits of real kernels as typing makes them, and what the checker says of the text in between."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import jax

from pallas_lsp.analysis import Analysis, analyze
from pallas_lsp.resolve.project import Project
from pallas_lsp.settings import Settings

KERNELS = Path(jax.__file__).parent / "experimental/pallas/ops/tpu"
HALF_TYPED = (
    "o_ref[", "x = jnp.dot(q, ", "if i", "for k in ", "acc_ref.", "@pl.when(", "return (", "o_ref[...] = ", "m_ref[0, 0] = ", "lambda x", '"""', "'", "else:",
    "pltpu.make_async_copy(x_ref.at[", "def body(i, ", "x_ref[pl.ds(", "with jax.", "scratch_shapes=[", "{", "x: ",
)  # fmt: skip


@dataclass(frozen=True)
class Edit:
    """The text of ``file`` after an edit, and the edit in words."""

    file: Path
    text: str
    words: str


def sources() -> list[Path]:
    """The installed TPU kernels of JAX."""
    return sorted(path for path in KERNELS.rglob("*.py") if "pallas_call" in path.read_text())


def edits(files: Sequence[Path], seed: int, count: int) -> Iterator[Edit]:
    """``count`` edits, the same ones for the same seed and files; a file twice as long has half as many."""
    dice = random.Random(seed)
    texts = {file: file.read_text() for file in files}
    for file in dice.choices(files, [1 / len(texts[file]) for file in files], k=count):
        yield Edit(file, *_edited(dice, texts[file]))


def _edited(dice: random.Random, text: str) -> tuple[str, str]:
    lines = text.split("\n")
    row = dice.randrange(len(lines))
    at = dice.randrange(len(text))
    indent = lines[row][: len(lines[row]) - len(lines[row].lstrip())]
    kind = dice.choice(("delete", "cut", "open", "half typed", "drop", "join", "delete range", "outdent"))
    if kind == "delete":
        return text[:at] + text[at + 1 :], f"deleted {text[at]!r} at {at}"
    if kind == "open":
        opened = dice.choice(("(", "[", "{", '"', "'", '"""', "f'{"))
        return text[:at] + opened + text[at:], f"inserted {opened} at {at}"
    if kind == "delete range":
        end = min(at + dice.randint(2, 60), len(text))
        return text[:at] + text[end:], f"deleted {text[at:end]!r} at {at}"
    if kind == "cut":
        kept = dice.randint(0, len(lines[row]))
        lines[row] = lines[row][:kept]
    elif kind == "half typed":
        lines.insert(row, indent + dice.choice(HALF_TYPED))
    elif kind == "drop":
        del lines[row]
    elif kind == "join":
        lines[row : row + 2] = [" ".join(lines[row : row + 2])]
    else:
        lines[row] = lines[row][2:] if lines[row].startswith("  ") else "  " + lines[row]
    return "\n".join(lines), f"{kind}, line {row + 1}"


def analysis_of(edit: Edit) -> Analysis:
    """What the checker makes of the text in an open editor."""
    project = Project(overlay={str(edit.file): edit.text})
    source = project.read(str(edit.file))
    assert source is not None
    return analyze(source, project, Settings(jax_version=jax.__version__))


def complaints(edit: Edit) -> list[str]:
    """Findings of a text that Python cannot parse: JAX's kernels have no fault, and half an edit is none. Empty for a text that is whole."""
    analysis = analysis_of(edit)
    if analysis.parsed.error is None:
        return []
    source = analysis.source
    return [
        f"{edit.file.name}, {edit.words}: line {source.line_of(d.location.span.start) + 1}: {d.rule}: {d.message}"
        for d in analysis.diagnostics
    ]

"""Whatever was opened, edited and closed before: an editor shows in the end what it would show had it been started only now."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from small_kernel import HEAD

from pallas_lsp.analysis import Remembering
from pallas_lsp.features.definition import definition
from pallas_lsp.features.hints import hints
from pallas_lsp.features.hover import hover
from pallas_lsp.features.lens import lenses
from pallas_lsp.server.documents import Document, Update
from pallas_lsp.server.options import Options
from pallas_lsp.server.session import Session
from pallas_lsp.text.parse import parse
from pallas_lsp.text.span import Span

# A project of three files, each of which can be several things.
TEXTS = {
    "specs.py": [
        HEAD + "SIZE = 8\nOUT = pl.BlockSpec((SIZE, 128), lambda: (0, 0))\n",
        HEAD + "SIZE = 16\nOUT = pl.BlockSpec((SIZE, 128), lambda: (0, 0), memory_space=pltpu.SMEM)\n",
        HEAD + "\n\n# moved\nSIZE = 8\nOUT = pl.BlockSpec((SIZE, 128), lambda: (0, 0), memory_space=pltpu.ANY)\n",
        "SIZE = (\n",
        "",
    ],
    "kernels.py": [
        HEAD + "def kernel(x_ref, o_ref):\n    o_ref[...] = x_ref[...]\n",
        HEAD + "def kernel(x_ref, o_ref):\n    o_ref[0, 0] = jnp.sum(x_ref[...])\n",
        HEAD + "def helper(ref):\n    return ref[99, 0]\n\ndef kernel(x_ref, o_ref):\n    o_ref[...] = x_ref[...] + helper(x_ref)\n",
        HEAD + "def kernel(x_ref, y_ref, o_ref):\n    o_ref[...] = x_ref[...]  # pallas: ignore[top-k]\n",
        HEAD + "def kernel(x_ref, o_ref:\n    o_ref[0, 0] = 1.0\n",
    ],
    "ops.py": [
        HEAD + "from specs import OUT, SIZE\nfrom kernels import kernel\n\ndef run(x):\n    return pl.pallas_call(kernel, out_specs=OUT, "
        "out_shape=jax.ShapeDtypeStruct((SIZE, 128), jnp.float32))(x)\n\nrun(jnp.zeros((8, 128), jnp.float32))\n",
        HEAD + "import specs\nfrom kernels import kernel\n\ndef run(x, block=specs.OUT):\n    return pl.pallas_call(kernel, out_specs=block, "
        "out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)\n",
        HEAD + "from kernels import *\n\nrun = lambda x: pl.pallas_call(kernel, out_shape=x)(x)\nrun(jnp.zeros((8, 128), jnp.bfloat16))\n",
        "import os\n",
    ],
}  # fmt: skip

steps = st.lists(
    st.sampled_from([(name, text) for name, texts in TEXTS.items() for text in (*range(len(texts)), None)]), min_size=3, max_size=9
)


class Editor:
    """A session, and what an editor shows of each file."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.problems: list[str] = []
        self.session = Session(Remembering(), self.problems.append, self.problems.append, lambda message: None)
        self.session.configure({root: Options(jax_version="0.10.2")}, Options())
        self.shown: dict[str, list[tuple[str, str, str]]] = {}

    def edit(self, name: str, text: str | None, version: int) -> None:
        """Let the document be ``text``, None to close it."""
        path = os.path.join(self.root, name)
        if text is None:
            self.session.close(path)
        else:
            self.session.open(Document(Path(path).as_uri(), path, version, text))
        for update in self.session.refresh(path, self.show):
            self.show(update)

    def show(self, update: Update) -> None:
        for report in update.reports:
            self.session.delivered(report)
            texts = report.sources
            self.shown[os.path.basename(report.path)] = [
                (found.rule, found.message, texts[report.path].slice(found.location.span)) for found in report.findings
            ]

    def seen(self, name: str) -> object:
        """What an editor shows in and says of an open document."""
        analysis = self.session.analysis_of(self.session.documents[os.path.join(self.root, name)])
        if analysis is None:  # a file that does not concern Pallas is not looked at
            return [], [], []
        offsets = range(0, len(analysis.source.text), 3)
        return (
            hints(analysis, Span(0, 10_000), values=True),
            lenses(analysis),
            [said for offset in offsets if (said := (offset, definition(analysis, offset), hover(analysis, offset))) != (offset, [], None)],
        )


@settings(max_examples=40)
@given(steps)
def test_the_past_leaves_no_trace(steps: list[tuple[str, int | None]]) -> None:
    with tempfile.TemporaryDirectory() as root:
        for name, texts in TEXTS.items():
            Path(root, name).write_text(texts[0])
        editor = Editor(root)
        opened: dict[str, str] = {}
        for version, (name, choice) in enumerate(steps):
            if choice is None and opened.pop(name, None) is None:
                continue
            if choice is not None:
                opened[name] = TEXTS[name][choice]
            editor.edit(name, opened.get(name), version)
        for name, text in opened.items():
            if parse(text).mostly_lost:  # the last findings stay then, on purpose
                opened[name] = TEXTS[name][0]
                editor.edit(name, opened[name], len(steps))
        fresh = Editor(root)
        for name, text in opened.items():
            fresh.edit(name, text, 1)
        assert editor.problems == fresh.problems == []
        for name in opened:
            assert editor.seen(name) == fresh.seen(name)
        assert {name: shown for name, shown in editor.shown.items() if shown} == {name: shown for name, shown in fresh.shown.items() if shown}

"""Literate cases: Markdown whose Python blocks say on their lines what the checker finds there.

A block is a module with ``run`` and ``ARGS``. `HEADER` stands before it, or `SPARSE_HEADER` if it uses ``plsc`` (unless it has imports of its
own), and `FOOTER` behind it.
Marks at the end of a line::

    out_ref[0, 0] = total        # error: [store-scalar-to-vmem] "part of the message"
    last = x_ref[8]              # warning: [ref-index-bounds]
    row = x_ref.at[0]            # reveal: f32[128]@vmem

The marks of a block whose heading says "before JAX 0.12" hold for older versions only; from then on it has none.
``reveal`` tells the value of the name that the line assigns; what JAX refuses while tracing stands below it. JAX decides whether the marks are right: it refuses a block on a line with an
error, lowers all others, and knows the values to reveal.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import jax

FOLDER = Path(__file__).parent

HEADER = (
    "import functools, jax, jax.numpy as jnp, numpy as np; from jax import lax; "
    "from jax.experimental import pallas as pl; from jax.experimental.pallas import tpu as pltpu\n"
)
SPARSE_HEADER = HEADER.rstrip() + "; from jax.experimental.pallas import tpu_sc as plsc\n"
FOOTER = '\nif __name__ == "__main__":\n    jax.jit(run).lower(*ARGS)\n'

_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r"^#+ (.*)$", re.MULTILINE)
_BEFORE = re.compile(r"before JAX ([\d.]+)")
_MARK = re.compile(r'# (error|warning): \[([\w-]+)\](?: "([^"]*)")?')
_REVEAL = re.compile(r"^(\s*)(\w+) = (.*?)\s*# reveal: (\S+)$")


@dataclass(frozen=True, order=True)
class Mark:
    """A finding that a line says it has."""

    line: int
    severity: str
    rule: str
    message: str


@dataclass(frozen=True)
class Case:
    """One block: ``text`` is the whole module, lines are 1-based lines of it."""

    name: str
    text: str

    @property
    def marks(self) -> list[Mark]:
        before = _BEFORE.search(self.name)
        if before is not None and jax.__version_info__ >= tuple(map(int, before[1].split("."))):
            return []
        return [
            Mark(number, *(part or "" for part in found.groups()))
            for number, line in enumerate(self.text.splitlines(), 1)
            for found in _MARK.finditer(line)
        ]

    @property
    def reveals(self) -> dict[int, str]:
        """The value to be revealed, by line."""
        found = ((number, _REVEAL.match(line)) for number, line in enumerate(self.text.splitlines(), 1))
        return {number: match[4] for number, match in found if match}

    @property
    def revealing(self) -> str:
        """The module with a call behind each line that reveals: ``revealed(line, value)``."""
        lines = self.text.splitlines()
        for number in self.reveals:
            match = _REVEAL.match(lines[number - 1])
            assert match is not None
            lines[number - 1] = f"{match[1]}{match[2]} = {match[3]}; revealed({number}, {match[2]})"
        return "\n".join(["from cases.revealing import revealed; " + lines[0], *lines[1:]])


def cases_of(path: Path) -> list[Case]:
    """The blocks of a file, named after the headings that they stand under."""
    text = path.read_text()
    cases = []
    for block in _BLOCK.finditer(text):
        title = [title[1] for title in _TITLE.finditer(text, 0, block.start())][-1]
        body = block[1]
        header = SPARSE_HEADER if "plsc." in body else HEADER
        module = (body if body.startswith(("import ", "from ")) else header + body) + (
            "" if "run(" in body.split("ARGS = ")[-1] else FOOTER
        )
        cases.append(Case(f"{path.stem}: {title}", module))
    return cases


CASES = [case for path in sorted(FOLDER.glob("*.md")) for case in cases_of(path)]

"""The checker's findings on a kernel beside JAX's verdict."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Literal

import jax
from referee import Verdict, lower

from pallas_lsp.analysis import analyze
from pallas_lsp.resolve.project import Project
from pallas_lsp.settings import Settings
from random_kernels.families import rules_of

PATH = "/project/kernel.py"
Outcome = Literal["silent", "caught", "false alarm", "missed", "wrong rule", "other family"]


@dataclass(frozen=True)
class Finding:
    """An error that the checker reports, on a 1-based line."""

    line: int
    rule: str
    message: str = field(compare=False, default="")


@dataclass(frozen=True)
class Comparison:
    """``outcome`` in one word: ``silent`` and ``caught`` are agreement, ``other family`` is JAX refusing for a reason that is not one of access."""

    text: str
    verdict: Verdict
    errors: tuple[Finding, ...]
    outcome: Outcome
    rules: tuple[str, ...] = ()

    @property
    def is_agreement(self) -> bool:
        return self.outcome in ("silent", "caught", "other family")


def errors_of(text: str) -> tuple[Finding, ...]:
    """The errors that the checker reports for the installed JAX."""
    project = Project(overlay={PATH: text})
    source = project.read(PATH)
    assert source is not None
    found = analyze(source, project, Settings(jax_version=jax.__version__)).diagnostics
    return tuple(Finding(source.line_of(d.location.span.start) + 1, d.rule, d.message) for d in found if d.severity == "error")


def compare(text: str, stated: bool = True) -> Comparison:
    """What JAX and the checker say about ``text``.

    ``stated``: the text says what ``run`` is called with, so that silence is a miss; else a finding may hold for other arguments than ``ARGS``.
    """
    verdict, errors = lower(text), errors_of(text)
    if verdict.ok:
        certain = [error for error in errors if stated or "(when " not in error.message]
        return Comparison(text, verdict, errors, "false alarm" if certain else "silent")
    rules = rules_of(verdict)
    if not rules:
        return Comparison(text, verdict, errors, "other family")
    there = [error for error in errors if error.line in statement_lines(text, verdict.line)]
    outcome: Outcome = "caught" if any(error.rule in rules for error in there) else "wrong rule" if there else "missed" if stated else "other family"
    return Comparison(text, verdict, errors, outcome, rules)


def statement_lines(text: str, line: int | None) -> range:
    """The lines of the innermost statement around ``line``; of a compound statement, those before its body."""
    if line is None:
        return range(0)
    best = range(line, line + 1)
    size = None
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.stmt):
            continue
        body = getattr(node, "body", None)
        lines = range(node.lineno, body[0].lineno if body else (node.end_lineno or node.lineno) + 1)
        if line in lines and (size is None or len(lines) < size):
            best, size = lines, len(lines)
    return best


def without(text: str, line: int | None) -> str | None:
    """The text with the statement at ``line`` replaced by ``pass``: what JAX thinks of the rest; None where that is not possible."""
    lines = text.splitlines()
    there = statement_lines(text, line)
    if line is None or not there or not 0 < there[0] <= there[-1] <= len(lines):
        return None
    first = lines[there[0] - 1]
    if first.lstrip().startswith(("@", "def ", "class ", "if ", "for ", "else", "with ", "return", "pass", "import", "from")):
        return None
    indent = first[: len(first) - len(first.lstrip())]
    return "\n".join([*lines[: there[0] - 1], f"{indent}pass", *[""] * (len(there) - 1), *lines[there[-1] :]]) + "\n"

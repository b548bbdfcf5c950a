"""The checker's findings on a kernel beside JAX's verdict."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import Literal

from checker import analysis_of
from random_kernels.families import ACCESSES, Family
from referee import Verdict, lower

SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr, ast.AnnAssign)
Outcome = Literal["silent", "caught", "conditional", "false alarm", "missed", "wrong rule", "other family"]
CONDITION = re.compile(r"`([^`]+)` is (true|false)")


@dataclass(frozen=True)
class Finding:
    """An error that the checker reports, on a 1-based line."""

    line: int
    rule: str
    message: str = field(compare=False, default="")


@dataclass(frozen=True)
class Comparison:
    """``outcome`` in one word.

    ``silent`` and ``caught`` are agreement; ``conditional``: JAX lowers the kernel, and refuses it under the conditions that the findings name;
    ``other family``: JAX refuses it for a reason that is not one of its family.
    """

    text: str
    verdict: Verdict
    errors: tuple[Finding, ...]
    outcome: Outcome
    rules: tuple[str, ...] = ()
    stated: bool = True
    family: Family = ACCESSES

    @property
    def is_agreement(self) -> bool:
        return self.outcome in ("silent", "caught", "conditional", "other family")


def errors_of(text: str) -> tuple[Finding, ...]:
    """The errors that the checker reports for the installed JAX."""
    analysis = analysis_of(text, "tpu7x" if "tpu_sc" in text else None)  # the chip that JAX lowers these for
    found, line_of = analysis.diagnostics, analysis.source.line_of
    return tuple(Finding(line_of(d.location.span.start) + 1, d.rule, d.message) for d in found if d.severity == "error")


def compare(text: str, stated: bool = True, family: Family = ACCESSES) -> Comparison:
    """What JAX and the checker say about ``text``.

    ``stated``: the text says what ``run`` is called with, so that silence is a miss; else a finding may hold for other arguments than ``ARGS``.
    """
    verdict, errors = lower(text), errors_of(text)
    rules = () if verdict.ok else family.rules_of(verdict)
    lines = range(len(text)) if family.anywhere or _names_no_line(text, verdict) else statement_lines(text, verdict.line)
    return Comparison(text, verdict, errors, _outcome(text, verdict, errors, rules, stated, lines), rules, stated, family)


def _names_no_line(text: str, verdict: Verdict) -> bool:
    """Whether JAX says nothing of where in the kernel it is: nothing at all, or the call, which is what MLIR's verifier knows of some operations."""
    return verdict.line is None or (verdict.exc == "VerificationError" and _names_the_call(text.splitlines()[verdict.line - 1]))


def _names_the_call(line: str) -> bool:
    return any(call in line for call in ("pallas_call(", "pl.kernel(", "pl.core_map("))


def _outcome(text: str, verdict: Verdict, errors: tuple[Finding, ...], rules: tuple[str, ...], stated: bool, lines: range) -> Outcome:
    if verdict.ok:
        if not errors:
            return "silent"
        right = all("(when " in error.message and (not stated or not lower(under_conditions(text, error)).ok) for error in errors)
        return "conditional" if right else "false alarm"
    if not rules:
        return "other family"
    there = {error.rule for error in errors if error.line in lines}
    if there & set(rules):
        return "caught"
    return "wrong rule" if there else "missed" if stated else "other family"


def under_conditions(text: str, error: Finding) -> str:
    """The text in which the conditions that the finding names have the truth that it names."""
    answers = {
        ast.unparse(ast.parse(words, mode="eval")): truth == "true" for words, truth in CONDITION.findall(error.message.split("(when ")[-1])
    }
    return ast.unparse(ast.fix_missing_locations(_Answered(answers).visit(ast.parse(text))))


class _Answered(ast.NodeTransformer):
    """Puts a truth for every expression that has an answer."""

    def __init__(self, answers: dict[str, bool]) -> None:
        self.answers = answers

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.expr) and ast.unparse(node) in self.answers:
            return ast.Constant(self.answers[ast.unparse(node)])
        return self.generic_visit(node)


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
    """The text without the statement at ``line`` (a name that it assigned becomes 0.0); None where that is not possible."""
    statement = next(
        (node for node in ast.walk(ast.parse(text)) if isinstance(node, SIMPLE) and line in range(node.lineno, (node.end_lineno or 0) + 1)),
        None,
    )
    if statement is None:
        return None
    instead = "pass"
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        instead = f"{statement.targets[0].id} = 0.0"
    lines = text.splitlines()
    first, last = statement.lineno, statement.end_lineno or statement.lineno
    lines[first - 1 : last] = [" " * statement.col_offset + instead, *[""] * (last - first)]
    return "\n".join(lines) + "\n"

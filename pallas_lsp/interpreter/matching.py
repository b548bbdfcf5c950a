"""``match`` statements."""

from __future__ import annotations

import ast

from .frames import Frame
from .machine import EXECUTE, Machine
from .operators import compare
from .truth import equals, known_truth, truth
from .values import Array, Unknown, Value


def _match(machine: Machine, node: ast.Match, frame: Frame) -> None:
    subject = machine.evaluate(node.subject, frame)
    for case in node.cases:
        answer = _matches(machine, case.pattern, subject, node.subject, frame)
        if answer is not False and case.guard is not None:
            guard = machine.evaluate(case.guard, frame)
            answer = truth(machine, guard, case.guard, frame) if known_truth(answer) is True else Unknown("a guarded pattern", host=True)
        if truth(machine, answer, case.pattern, frame):
            machine.execute(case.body, frame)
            return


def _matches(machine: Machine, pattern: ast.pattern, subject: Value, node: ast.expr, frame: Frame) -> Value:
    """Whether a pattern matches: known, a condition, or unknown; binds what the pattern captures."""
    if isinstance(pattern, ast.MatchAs):
        inner = _matches(machine, pattern.pattern, subject, node, frame) if pattern.pattern is not None else True
        if pattern.name is not None:
            frame.assign(pattern.name, subject)
        return inner
    if isinstance(pattern, ast.MatchValue):
        wanted = machine.evaluate(pattern.value, frame)
        comparison = ast.copy_location(ast.Compare(node, [ast.Eq()], [pattern.value]), pattern)
        if isinstance(subject, Array):
            return compare(machine, ast.Eq(), subject, wanted, comparison, frame)
        return equals(machine, subject, wanted, comparison)
    if isinstance(pattern, ast.MatchSingleton):
        comparison = ast.copy_location(ast.Compare(node, [ast.Is()], [ast.Constant(pattern.value)]), pattern)
        return equals(machine, subject, pattern.value, comparison)
    if isinstance(pattern, ast.MatchOr):
        answers = [_matches(machine, part, subject, node, frame) for part in pattern.patterns]
        known = [known_truth(answer) for answer in answers]
        if True in known:
            return True
        undecided = [answer for answer, value in zip(answers, known, strict=True) if value is None]
        return False if not undecided else undecided[0] if len(undecided) == 1 else Unknown("one of several patterns", host=True)
    if isinstance(pattern, ast.MatchSequence) and isinstance(subject, tuple | list):
        return _matches_sequence(machine, pattern, list(subject), node, frame)
    for captured in ast.walk(pattern):
        name = getattr(captured, "name", None)
        if isinstance(captured, ast.MatchAs | ast.MatchStar) and isinstance(name, str):
            frame.assign(name, Unknown("captured by a pattern", host=machine.kernel is None))
    return Unknown("a pattern that is not interpreted", host=True)


def _matches_sequence(machine: Machine, pattern: ast.MatchSequence, items: list[Value], node: ast.expr, frame: Frame) -> Value:
    if any(isinstance(part, ast.MatchStar) for part in pattern.patterns):
        return Unknown("a starred pattern", host=True)
    if len(items) != len(pattern.patterns):
        return False
    answers = [_matches(machine, part, item, node, frame) for part, item in zip(pattern.patterns, items, strict=True)]
    if any(known_truth(answer) is False for answer in answers):
        return False
    undecided = [answer for answer in answers if known_truth(answer) is None]
    return True if not undecided else undecided[0] if len(undecided) == 1 else Unknown("several undecided patterns", host=True)


EXECUTE[ast.Match] = _match

"""What a rule's finding becomes: plain data for the terminal and the editor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..text.span import Edit, Location

Severity = Literal["error", "warning", "info"]
Applicability = Literal["safe", "unsafe"]


@dataclass(frozen=True, slots=True)
class Related:
    """A place that decided the finding, with one sentence on how."""

    location: Location
    message: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that make one finding go away.

    ``safe``: the kernel computes what its text plainly means; ``unsafe``: it may change results or interfaces.
    """

    title: str
    applicability: Applicability
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding, in the file of its primary span.

    ``jax_message`` is what JAX itself would say (hover and page show it); ``fixes`` come best first, each verified
    by analysing the edited text again.
    """

    rule: str
    severity: Severity
    message: str
    location: Location
    related: tuple[Related, ...] = ()
    fixes: tuple[Fix, ...] = ()
    jax_message: str | None = None

"""What two analyses of one text say, side by side."""

from __future__ import annotations

from pallas_lsp.analysis import Analysis, analyze
from pallas_lsp.interpreting import Memory
from pallas_lsp.notes import describe
from pallas_lsp.resolve.project import Project
from pallas_lsp.rules.diagnostic import Diagnostic
from pallas_lsp.settings import Settings

SETTINGS = Settings(jax_version="0.10.2")


class Edited:
    """A document that is edited: analysed with a memory, and anew."""

    def __init__(self, path: str, text: str, files: dict[str, str] | None = None) -> None:
        self.path, self.text = path, text
        self.project = Project(overlay={**(files or {}), path: text})
        self.memory = Memory()
        self.early: list[list[Diagnostic]] = []

    def write(self, text: str) -> None:
        """Let the document have this text."""
        self.text = text
        self.project.set_overlay(self.path, text)

    def remembered(self) -> Analysis:
        """The analysis with what is kept of the earlier ones; ``early`` has what was told before its end, at most once."""
        source = self.project.read(self.path)
        assert source is not None
        self.early.clear()
        return analyze(source, self.project, SETTINGS, memory=self.memory, early=self.early.append)

    def anew(self) -> Analysis:
        """The analysis of the same tree with nothing kept."""
        source = self.project.read(self.path)
        assert source is not None
        return analyze(source, self.project, SETTINGS)


def told(analysis: Analysis) -> dict[str, object]:
    """All that an analysis says, as plain data."""
    notes = analysis.notes.noted
    origins = {place: getattr(getattr(value, "root", None), "decided_at", None) for place, value in notes.values.items()}
    return {
        "findings": [(d.rule, d.severity, d.message, d.location, d.related, d.jax_message) for d in analysis.diagnostics],
        "sites": analysis.sites,
        "notes": {place: describe(value) for place, value in notes.values.items()},
        "origins": origins,
        "varied": set(notes.varied),
        "cut": {kind: count for kind, count in analysis.cut.items() if count},
        "unresolved": analysis.unresolved,
    }


def differences(one: Analysis, other: Analysis) -> list[str]:
    """In what two analyses differ; empty when they say the same."""
    a, b = told(one), told(other)
    found = [f"{part}: {a[part]!r:.2000}\n  is not {b[part]!r:.2000}" for part in a if a[part] != b[part]]
    return found + [f"not read: {path}" for path in other.depends_on - one.depends_on]

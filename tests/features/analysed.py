"""Texts of tests, analysed."""

from __future__ import annotations

from pallas_lsp.analysis import Analysis, analyze
from pallas_lsp.resolve.project import Project
from pallas_lsp.settings import Settings
from pallas_lsp.text.span import Edit, Span

PATH = "/project/kernel.py"


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

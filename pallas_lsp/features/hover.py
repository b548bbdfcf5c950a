"""What an editor shows under the pointer: a finding, a value of the kernel, a name of JAX's Pallas API."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..pages import load_api_page, load_rule_page
from ..text.span import Span
from .windows import window_text

if TYPE_CHECKING:
    from ..analysis import Analysis
    from ..kernels.refs import RefInfo
    from ..rules.diagnostic import Diagnostic, Related
    from ..text.span import Location

_OWN_LINE = re.compile(r"\s*([-*+]|\d+\.)\s|[#|>]")


@dataclass(frozen=True, slots=True)
class Hover:
    """Markdown to show, and the span of the text that it is about."""

    span: Span
    markdown: str


def hover(analysis: Analysis, offset: int) -> Hover | None:
    """What is known about the text at ``offset`` (code points from the start of ``analysis.source``), None when nothing is."""
    parts = [*_findings(analysis, offset), *_value(analysis, offset), *_spec(analysis, offset), *_library_name(analysis, offset)]
    if not parts:
        return None
    narrowest = min((part.span for part in parts), key=lambda span: span.end - span.start)
    return Hover(narrowest, "\n\n---\n\n".join(part.markdown for part in parts))


def _findings(analysis: Analysis, offset: int) -> Iterator[Hover]:
    for found in analysis.diagnostics:
        if found.location.path == analysis.source.path and offset in found.location.span:
            yield Hover(found.location.span, _finding(found))


def _finding(found: Diagnostic) -> str:
    """The message, what JAX itself says, why, the fixes there are, and where to read on."""
    parts = [f"**{found.severity}** `{found.rule}`: {_escaped(found.message)}"]
    if found.jax_message:
        parts.append(f"JAX says:\n```text\n{found.jax_message}\n```")
    if page := load_rule_page(found.rule):
        parts.append(_why(page.body) or page.summary)
    if found.fixes:
        parts.append("\n".join(f"- Fix ({fix.applicability}): {_escaped(fix.title)}" for fix in found.fixes))
    if page and page.docs:
        parts.append(f"[JAX documentation]({page.docs})")
    return "\n\n".join(parts)


def _why(body: str) -> str:
    """The section of a rule's page that says why JAX refuses the code."""
    section = re.search(r"^## Why[^\n]*\n(.*?)(?=^## |\Z)", body, re.MULTILINE | re.DOTALL)
    return _unwrapped(section[1].strip()) if section else ""


def _unwrapped(markdown: str) -> str:
    """The same with each paragraph and list item on one line: some editors show line ends as they are."""
    lines: list[str] = []
    in_code = joins = False
    for line in markdown.splitlines():
        fence = line.startswith("```")
        if joins and not fence and line and not _OWN_LINE.match(line):
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line)
        in_code ^= fence
        joins = not in_code and not fence and bool(line) and not line.startswith(("#", "|"))
    return "\n".join(lines)


def _value(analysis: Analysis, offset: int) -> Iterator[Hover]:
    if note := analysis.notes.value_at(offset):
        lines = [f"```python\n{note.name}: {note.text}\n```", *(f"- {_origin(analysis, related)}" for related in note.origin)]
        yield Hover(note.span, "\n".join(lines))


def _spec(analysis: Analysis, offset: int) -> Iterator[Hover]:
    """What the windows see that a spec around ``offset`` or the parameter there makes: of each ref what the best known calls tell."""
    path = analysis.source.path
    about: dict[tuple[str, Location | None], list[RefInfo]] = {}
    span = Span(0, 0)
    for ref in (ref for site in (*analysis.sites, *analysis.uses) for ref in site.refs):
        for place in (ref.parameter, ref.spec):
            if place is not None and place.path == path and offset in place.span:
                about.setdefault((ref.name, ref.spec), []).append(ref)
                span = place.span
    lines = dict.fromkeys(line for refs in about.values() for line in _seen(analysis, refs))
    if lines:
        yield Hover(span, "\n".join(lines))


def _seen(analysis: Analysis, refs: list[RefInfo]) -> Iterator[str]:
    known = [ref for ref in refs if ref.window is not None and ref.window.array is not None]
    for ref in known or refs:
        array = analysis.source.slice(ref.source.span) if ref.source is not None and ref.source.path == analysis.source.path else None
        if text := window_text(ref, array):
            yield f"- `{ref.name}`: {text}"


def _origin(analysis: Analysis, related: Related) -> str:
    """One place that a value comes from, with its line in the file on show or else the name of its file."""
    path, span = related.location.path, related.location.span
    where = f"line {analysis.source.position(span.start)[0] + 1}" if path == analysis.source.path else os.path.basename(path)
    return f"{_escaped(related.message)} ({where})"


def _library_name(analysis: Analysis, offset: int) -> Iterator[Hover]:
    if (name := analysis.notes.library_name_at(offset)) and (page := load_api_page(name)):
        yield Hover(_word(analysis.source.text, offset), _unwrapped(page.body))


def _word(text: str, offset: int) -> Span:
    """The identifier around ``offset``."""
    before, after = re.search(r"\w*\Z", text[max(offset - 100, 0) : offset]), re.match(r"\w*", text[offset : offset + 100])
    assert before and after  # both may match nothing
    return Span(offset - len(before[0]), offset + len(after[0]))


def _escaped(text: str) -> str:
    """Plain words as Markdown that shows the same; what is in backticks is left as it is."""
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(piece if piece.startswith("`") else re.sub(r"([\\*_<\[])", r"\\\1", piece) for piece in pieces)

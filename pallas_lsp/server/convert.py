"""Our types as the protocol's, and the protocol's positions as ours."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from lsprotocol import types

from ..pages import load_rule_page
from ..text.span import Span

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..features.actions import Action
    from ..features.completion import Completion
    from ..features.hints import Hint
    from ..features.hover import Hover
    from ..features.lens import Lens
    from ..rules.diagnostic import Diagnostic, Related
    from ..text.source import Source
    from ..text.span import Edit, Location
    from .client import Client
    from .documents import Report

SOURCE: Final = "pallas-lsp"
FIX_ALL: Final = "source.fixAll.pallas-lsp"
EXPLAIN: Final = "pallas-lsp.explainRule"
GO_TO: Final = "pallas-lsp.goTo"

_TAGS: Final = {"unused-suppression": types.DiagnosticTag.Unnecessary, "removed-api": types.DiagnosticTag.Deprecated}

_SEVERITY: Final = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
}

_MARK: Final = re.compile(r"(?<!\\)\*\*|\[([^\]]+)\]\((\w+:[^)]+)\)")
_ESCAPE: Final = re.compile(r"\\([\\*_<\[])")


class Converter:
    """Converts for one client. ``uri_of`` gives the URI of a path, ``version_of`` the version of an open document's path."""

    def __init__(self, client: Client, uri_of: Callable[[str], str], version_of: Callable[[str], int | None]) -> None:
        self._client = client
        self._uri_of = uri_of
        self._version_of = version_of

    def range(self, source: Source, span: Span) -> types.Range:
        """The span of ``source`` in the client's units."""
        return types.Range(*(types.Position(*source.position_in(offset, self._client.encoding)) for offset in (span.start, span.end)))

    def span(self, source: Source, place: types.Range) -> Span:
        """The client's range as a span of ``source``."""
        start, end = (source.offset_from(at.line, at.character, self._client.encoding) for at in (place.start, place.end))
        return Span(start, max(start, end))

    def diagnostics(self, report: Report) -> list[types.Diagnostic]:
        """The findings of a report."""
        return [self.diagnostic(finding, report.sources) for finding in report.findings if report.path in report.sources]

    def diagnostic(self, finding: Diagnostic, sources: Mapping[str, Source]) -> types.Diagnostic:
        """A finding; ``sources`` has the text of its file. Related places in files without a text are left out."""
        page = load_rule_page(finding.rule)
        return types.Diagnostic(
            range=self.range(sources[finding.location.path], finding.location.span),
            message=finding.message,
            severity=_SEVERITY[finding.severity],
            code=finding.rule,
            code_description=types.CodeDescription(page.docs) if page and page.docs else None,
            source=SOURCE,
            tags=[_TAGS[finding.rule]] if _TAGS.get(finding.rule) in self._client.tags else None,
            related_information=self._related(finding.related, sources) if self._client.takes_related else None,
            data={"rule": finding.rule},
        )

    def hover(self, found: Hover, source: Source) -> types.Hover:
        """A hover in Markdown, or in plain text for a client that shows no Markdown."""
        markdown = self._client.takes_markdown
        kind = types.MarkupKind.Markdown if markdown else types.MarkupKind.PlainText
        value = found.markdown if markdown else without_markdown(found.markdown)
        return types.Hover(types.MarkupContent(kind, value), self.range(source, found.span))

    def action(self, action: Action, sources: Mapping[str, Source]) -> types.CodeAction:
        """An action with its edits and the findings that it is about; one that has no edits yet does not get any here."""
        rule = action.diagnostics[0].rule if action.kind == "explain" else None
        return types.CodeAction(
            title=action.title,
            kind=FIX_ALL if action.kind == "fix all" else types.CodeActionKind.QuickFix,
            diagnostics=[self.diagnostic(finding, sources) for finding in action.diagnostics],
            is_preferred=True if action.preferred and self._client.takes_preferred else None,
            edit=self.workspace_edit(action.edits, sources) if action.edits else None,
            command=types.Command(action.title, EXPLAIN, arguments=[rule]) if rule else None,
        )

    def completion(self, found: Completion, source: Source, rank: int) -> types.CompletionItem:
        """A completion; ``rank`` is its place in the list."""
        page = types.MarkupContent(types.MarkupKind.Markdown, found.page) if self._client.shows_pages_of_completions else None
        return types.CompletionItem(
            label=found.label,
            kind=types.CompletionItemKind.Value,
            detail=found.detail,
            documentation=page if found.page else None,
            sort_text=f"{rank:03}",
            filter_text=found.label,
            text_edit=self._text_edit(found.edit, source),
            additional_text_edits=[self._text_edit(edit, source) for edit in found.more] or None,
        )

    def hint(self, hint: Hint, source: Source) -> types.InlayHint:
        """An inlay hint."""
        position = types.Position(*source.position_in(hint.offset, self._client.encoding))
        return types.InlayHint(position, hint.label, types.InlayHintKind.Type, tooltip="\n".join(hint.detail) or None)

    def lens(self, lens: Lens, source: Source, sources: Mapping[str, Source]) -> types.CodeLens:
        """A code lens; a click goes to its first fault where there is one and the client can show it."""
        fault = next((place for place in lens.faults if place.path in sources), None)
        command = types.Command(lens.title, "")
        if fault is not None and self._client.shows_documents:
            command = types.Command(lens.title, GO_TO, arguments=[self.location(fault, sources[fault.path])])
        return types.CodeLens(self.range(source, lens.span), command)

    def _related(self, related: Iterable[Related], sources: Mapping[str, Source]) -> list[types.DiagnosticRelatedInformation]:
        return [
            types.DiagnosticRelatedInformation(self.location(place.location, sources[place.location.path]), place.message)
            for place in related
            if place.location.path in sources
        ]

    def location(self, location: Location, source: Source) -> types.Location:
        """A place in ``source``."""
        return types.Location(self._uri_of(location.path), self.range(source, location.span))

    def workspace_edit(self, edits: Iterable[Edit], sources: Mapping[str, Source]) -> types.WorkspaceEdit:
        """Edits of one or several files, for the versions at hand of those that are open."""
        by_path: dict[str, list[types.TextEdit]] = {}
        for edit in edits:
            by_path.setdefault(edit.path, []).append(self._text_edit(edit, sources[edit.path]))
        if not self._client.takes_document_changes:
            return types.WorkspaceEdit(changes={self._uri_of(path): texts for path, texts in by_path.items()})
        changes = [types.TextDocumentEdit(self._identifier(path), list(texts)) for path, texts in by_path.items()]
        return types.WorkspaceEdit(document_changes=changes)

    def _text_edit(self, edit: Edit, source: Source) -> types.TextEdit:
        """An edit whose lines end as the file's do."""
        return types.TextEdit(self.range(source, edit.span), re.sub(r"\r\n|\r|\n", source.newline, edit.content))

    def _identifier(self, path: str) -> types.OptionalVersionedTextDocumentIdentifier:
        return types.OptionalVersionedTextDocumentIdentifier(self._uri_of(path), self._version_of(path))


def result_id(items: list[types.Diagnostic]) -> str:
    """A name for this list of diagnostics: equal lists have equal names."""
    return blake2b(repr(items).encode(), digest_size=8).hexdigest()


def without_markdown(text: str) -> str:
    """Markdown as plain text: no fences, marks of emphasis, code or headings; a link becomes its words and its address."""
    lines, in_code = [], False
    for line in text.splitlines():
        if line.startswith("```"):
            in_code = not in_code
        elif in_code:
            lines.append(line)
        elif line != "---":
            lines.append(_plain(line))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _plain(line: str) -> str:
    line = re.sub(r"^#+ ", "", line)
    pieces = re.split(r"`([^`]*)`", line)
    pieces[::2] = [_ESCAPE.sub(r"\1", _MARK.sub(_words, piece)) for piece in pieces[::2]]
    return "".join(pieces)


def _words(mark: re.Match[str]) -> str:
    return f"{mark[1]}: {mark[2]}" if mark[1] else ""

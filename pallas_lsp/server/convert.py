"""Our types as the protocol's, and the protocol's positions as ours. Everything about a client's abilities is asked here."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, cast

from lsprotocol import types

from ..pages import load_rule_page
from ..text.span import Span

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..features.actions import Action
    from ..features.hover import Hover
    from ..rules.diagnostic import Diagnostic, Related
    from ..text.source import Encoding, Source
    from ..text.span import Edit, Location
    from .documents import Report

SOURCE: Final = "pallas-lsp"

_SEVERITY: Final = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
}

_MARK: Final = re.compile(r"(?<!\\)\*\*|\[([^\]]+)\]\((\w+:[^)]+)\)")
_ESCAPE: Final = re.compile(r"\\([\\*_<\[])")


class Client:
    """What the client can take, by the capabilities it announced."""

    def __init__(self, capabilities: types.ClientCapabilities, encoding: Encoding) -> None:
        self.encoding: Encoding = encoding
        """The units that columns are counted in, as agreed in ``initialize``."""

        def ability(name: str) -> Any:
            return functools.reduce(lambda value, part: getattr(value, part, None), name.split("."), cast(Any, capabilities))

        def can(name: str) -> bool:
            return ability(name) is True

        self.pulls = (
            can("text_document.diagnostic.related_document_support") and can("workspace.diagnostics.refresh_support")
        )
        """Whether diagnostics are pulled; else they are pushed. A finding can lie in a file that is not the edited one, so only a client
        that takes reports on other documents and can be asked to pull again would see all of them by pulling."""
        asked = "text_document.diagnostic" if self.pulls else "text_document.publish_diagnostics"
        self.takes_related = can(f"{asked}.related_information")
        self.takes_markdown = types.MarkupKind.Markdown in (ability("text_document.hover.content_format") or ())
        self.takes_literals = ability("text_document.code_action.code_action_literal_support") is not None
        self.takes_preferred = can("text_document.code_action.is_preferred_support")
        self.takes_document_changes = can("workspace.workspace_edit.document_changes")
        self.gives_configuration = can("workspace.configuration")


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
        """A quick fix with its edits and the findings that it resolves."""
        return types.CodeAction(
            title=action.title,
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[self.diagnostic(finding, sources) for finding in action.diagnostics],
            is_preferred=True if action.preferred and self._client.takes_preferred else None,
            edit=self._workspace_edit(action.edits, sources),
        )

    def _related(self, related: Iterable[Related], sources: Mapping[str, Source]) -> list[types.DiagnosticRelatedInformation]:
        return [
            types.DiagnosticRelatedInformation(self._location(place.location, sources[place.location.path]), place.message)
            for place in related
            if place.location.path in sources
        ]

    def _location(self, location: Location, source: Source) -> types.Location:
        return types.Location(self._uri_of(location.path), self.range(source, location.span))

    def _workspace_edit(self, edits: Iterable[Edit], sources: Mapping[str, Source]) -> types.WorkspaceEdit:
        by_path: dict[str, list[types.TextEdit]] = {}
        for edit in edits:
            by_path.setdefault(edit.path, []).append(types.TextEdit(self.range(sources[edit.path], edit.span), edit.content))
        if not self._client.takes_document_changes:
            return types.WorkspaceEdit(changes={self._uri_of(path): texts for path, texts in by_path.items()})
        changes = [types.TextDocumentEdit(self._identifier(path), list(texts)) for path, texts in by_path.items()]
        return types.WorkspaceEdit(document_changes=changes)

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

"""What the server answers about the text of a document: a feature each, asked of the analysis and converted for the client."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final, TypeVar

from lsprotocol import types

from ..analysis import Analysis
from ..features.actions import Action, actions, fix_all, fix_all_action
from ..features.completion import completions
from ..features.definition import definition, type_definition
from ..features.hints import hints
from ..features.hover import hover
from ..features.lens import lenses
from ..text.source import Source
from ..text.span import Location
from .connection import Server
from .convert import FIX_ALL, result_id

Params = TypeVar("Params")
Answer = TypeVar("Answer")


def _quiet(handler: Callable[[Server, Params], Awaitable[Answer]]) -> Callable[[Server, Params], Awaitable[Answer | None]]:
    """``handler``, answering nothing where it fails: editors show the errors of requests to whoever is typing."""

    @functools.wraps(handler)
    async def answer(server: Server, params: Params) -> Answer | None:
        try:
            return await handler(server, params)
        except Exception as error:
            server.log.exception(error)
            return None

    return answer


def _offset(server: Server, source: Source, at: types.Position) -> int:
    return source.offset_from(at.line, at.character, server.client.encoding)


async def _hover(server: Server, params: types.HoverParams) -> types.Hover | None:
    def shown(analysis: Analysis) -> types.Hover | None:
        found = hover(analysis, _offset(server, analysis.source, params.position))
        return server.convert.hover(found, analysis.source) if found else None

    return await server.ask(params.text_document.uri, shown)


async def _places(
    server: Server, params: types.DefinitionParams | types.TypeDefinitionParams, feature: Callable[[Analysis, int], list[Location]]
) -> list[types.Location] | None:
    def found(analysis: Analysis) -> list[types.Location]:
        places = feature(analysis, _offset(server, analysis.source, params.position))
        sources = server.session.sources({place.path for place in places}, analysis.source.path)
        return [server.convert.location(place, sources[place.path]) for place in places if place.path in sources]

    return await server.ask(params.text_document.uri, found) or None


async def _definition(server: Server, params: types.DefinitionParams) -> list[types.Location] | None:
    return await _places(server, params, definition)


async def _type_definition(server: Server, params: types.TypeDefinitionParams) -> list[types.Location] | None:
    return await _places(server, params, type_definition)


async def _completion(server: Server, params: types.CompletionParams) -> types.CompletionList | None:
    """Answered from the text alone: whoever types does not wait for an analysis."""
    document = server.document_of(params.text_document.uri)
    if document is None:
        return None
    source = Source(document.path, document.text)
    found = completions(source, _offset(server, source, params.position), _rules_on(server, document.path, params.position.line))
    items = [server.convert.completion(entry, source, rank) for rank, entry in enumerate(found)]
    return types.CompletionList(is_incomplete=False, items=items) if items else None


def _rules_on(server: Server, path: str, line0: int) -> list[str]:
    """The rules of the findings that the client was told last of a line."""
    report = server.session.reports.get(path)
    source = report.sources.get(path) if report else None
    return [found.rule for found in report.findings if source.line_of(found.location.span.start) == line0] if report and source else []


async def _inlay_hint(server: Server, params: types.InlayHintParams) -> list[types.InlayHint] | None:
    def shown(analysis: Analysis) -> list[types.InlayHint]:
        source, options = analysis.source, server.session.options(analysis.source.path)
        within = server.convert.span(source, params.range)
        found = hints(analysis, within, refs=options.ref_hints, values=options.value_hints)
        return [server.convert.hint(hint, source) for hint in found]

    return await server.ask(params.text_document.uri, shown)


async def _code_lens(server: Server, params: types.CodeLensParams) -> list[types.CodeLens] | None:
    def shown(analysis: Analysis) -> list[types.CodeLens]:
        path = analysis.source.path
        if not server.session.options(path).code_lens:
            return []
        found = lenses(analysis, server.session.settings(path).target)
        sources = server.session.sources({place.path for lens in found for place in lens.faults}, path)
        return [server.convert.lens(lens, analysis.source, sources) for lens in found]

    return await server.ask(params.text_document.uri, shown)


async def _code_action(server: Server, params: types.CodeActionParams) -> list[types.CodeAction] | None:
    if not server.client.takes_literals:
        return None
    only = params.context.only
    wants_fixes, wants_all = _is_asked(types.CodeActionKind.QuickFix.value, only), _is_asked(FIX_ALL, only)

    def offered(analysis: Analysis) -> list[types.CodeAction]:
        uri, version = params.text_document.uri, server.version_of(analysis.source.path)
        found = actions(analysis, server.convert.span(analysis.source, params.range)) if wants_fixes else []
        found = [action for action in found if action.kind != "explain" or server.client.shows_documents]
        # Unasked it is only offered beside others, and where its edits can wait until it is chosen: they take another analysis.
        if only is not None or (found and server.client.resolves_edits):
            found += filter(None, [fix_all_action(analysis) if wants_all else None])
        return [_converted(server, analysis, action, {"uri": uri, "version": version}) for action in found]

    found = await server.ask(params.text_document.uri, offered)
    return [action for action in found if action.edit or action.command or action.data] if found is not None else None


def _is_asked(kind: str, only: Iterable[str] | None) -> bool:
    """Whether actions of ``kind`` are asked for: by its name, by the name of a kind that it is one of, or all are."""
    return only is None or any(asked in ("", kind) or kind.startswith(f"{asked}.") for asked in only)


def _converted(server: Server, analysis: Analysis, action: Action, data: object) -> types.CodeAction:
    edits = action.edits
    paths = {edit.path for edit in edits} | {finding.location.path for finding in action.diagnostics}
    paths |= {related.location.path for finding in action.diagnostics for related in finding.related}
    converted = server.convert.action(action, server.session.sources(paths, analysis.source.path))
    if action.kind == "fix all" and server.client.resolves_edits:
        converted.data = data
    elif action.kind == "fix all":
        converted.edit = _all_fixes(server, analysis)
    return converted


def _all_fixes(server: Server, analysis: Analysis) -> types.WorkspaceEdit | None:
    path = analysis.source.path
    edits = fix_all(analysis, lambda text: server.session.with_text(path, text))
    return server.convert.workspace_edit(edits, {path: analysis.source}) if edits else None


async def _resolve(server: Server, action: types.CodeAction) -> types.CodeAction:
    """Give an action its edits, where the text is still the one that it was offered for."""
    data = action.data if isinstance(action.data, dict) else {}
    document = server.document_of(data.get("uri", ""))
    if document is not None and document.version == data.get("version"):
        action.edit = await server.ask(document.uri, lambda analysis: _all_fixes(server, analysis))
    return action


async def _diagnostic(server: Server, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
    path = server.path_of(params.text_document.uri)
    await server.told(path)
    items = server.report(path)
    unopened = [other for other, report in server.session.reports.items() if report.version is None and other != path]
    others = {server.uri_of(other): _full(server.report(other)) for other in unopened}
    if (known := result_id(items)) == params.previous_result_id:
        return types.RelatedUnchangedDocumentDiagnosticReport(known, others)
    return types.RelatedFullDocumentDiagnosticReport(items, others, result_id=known)


def _full(items: list[types.Diagnostic]) -> types.FullDocumentDiagnosticReport:
    return types.FullDocumentDiagnosticReport(items, result_id=result_id(items))


def pull(server: Server) -> None:
    """Let the client pull diagnostics."""
    options = types.DiagnosticOptions(identifier="pallas-lsp", inter_file_dependencies=True, workspace_diagnostics=False)
    server.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, options)(_diagnostic)


ANSWERS: Final[dict[str, tuple[Callable[[Server, Any], Any], Any]]] = {
    types.TEXT_DOCUMENT_HOVER: (_quiet(_hover), None),
    types.TEXT_DOCUMENT_DEFINITION: (_quiet(_definition), None),
    types.TEXT_DOCUMENT_TYPE_DEFINITION: (_quiet(_type_definition), None),
    types.TEXT_DOCUMENT_COMPLETION: (
        _quiet(_completion), types.CompletionOptions(trigger_characters=["=", "[", "(", ",", '"', "'", "."])
    ),
    types.TEXT_DOCUMENT_INLAY_HINT: (_quiet(_inlay_hint), types.InlayHintOptions(resolve_provider=False)),
    types.TEXT_DOCUMENT_CODE_LENS: (_quiet(_code_lens), types.CodeLensOptions(resolve_provider=False)),
    types.TEXT_DOCUMENT_CODE_ACTION: (
        _quiet(_code_action), types.CodeActionOptions([types.CodeActionKind.QuickFix, FIX_ALL], resolve_provider=True)
    ),
    types.CODE_ACTION_RESOLVE: (_resolve, None),
}  # fmt: skip
"""The handler of each request about a document, with what the client is told of it."""

"""What the server answers: one short function for each message of the protocol."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from lsprotocol import types

from .connection import Server
from .convert import result_id
from .stdio import leave_with

Params = TypeVar("Params")
Answer = TypeVar("Answer")


def create_server() -> Server:
    """A server that has not met its client yet."""
    server = Server()
    for method, (handler, options) in _HANDLERS.items():
        server.feature(method, options)(handler)
    return server


def _quiet(handler: Callable[[Server, Params], Awaitable[Answer]]) -> Callable[[Server, Params], Awaitable[Answer | None]]:
    """``handler``, answering nothing where it fails: editors show the errors of requests to whoever is typing."""

    @functools.wraps(handler)
    async def answer(server: Server, params: Params) -> Answer | None:
        try:
            return await handler(server, params)
        except Exception as error:
            server.log_exception(error)
            return None

    return answer


def _initialize(server: Server, params: types.InitializeParams) -> None:
    server.meet(params)
    if server.client.pulls:
        options = types.DiagnosticOptions(identifier="pallas-lsp", inter_file_dependencies=True, workspace_diagnostics=False)
        server.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, options)(_diagnostic)
    if params.process_id is not None:
        server.background(leave_with(params.process_id))


async def _initialized(server: Server, params: types.InitializedParams) -> None:
    await server.configure()


def _shutdown(server: Server, params: None) -> None:
    server.asked_to_shut_down = True
    server.schedule.close()


async def _did_change_configuration(server: Server, params: types.DidChangeConfigurationParams) -> None:
    server.take_settings(params.settings)
    await server.configure()


async def _did_change_workspace_folders(server: Server, params: types.DidChangeWorkspaceFoldersParams) -> None:
    await server.configure()


def _did_open(server: Server, params: types.DidOpenTextDocumentParams) -> None:
    document = params.text_document
    server.take(document.uri, document.version, document.text)


def _did_change(server: Server, params: types.DidChangeTextDocumentParams) -> None:
    server.change(params.text_document.uri, params.text_document.version, params.content_changes)


def _did_close(server: Server, params: types.DidCloseTextDocumentParams) -> None:
    path = server.path_of(params.text_document.uri)
    server.session.close(path)
    server.refresh(path)


async def _did_save(server: Server, params: types.DidSaveTextDocumentParams) -> None:
    await server.reread([server.path_of(params.text_document.uri)])


async def _did_change_watched_files(server: Server, params: types.DidChangeWatchedFilesParams) -> None:
    await server.reread(server.path_of(change.uri) for change in params.changes)


async def _hover(server: Server, params: types.HoverParams) -> types.Hover | None:
    document = server.document_of(params.text_document.uri)
    if document is None:
        return None
    await server.settled(document.path)
    at, encoding = (params.position.line, params.position.character), server.client.encoding
    found = await server.schedule.run(lambda: server.session.hover(document, at, encoding))
    return server.convert.hover(*found) if found else None


async def _code_action(server: Server, params: types.CodeActionParams) -> list[types.CodeAction] | None:
    document, only = server.document_of(params.text_document.uri), params.context.only
    if document is None or not server.client.takes_literals or (only is not None and not any(_is_asked(kind) for kind in only)):
        return None
    await server.settled(document.path)
    start, end = ((place.line, place.character) for place in (params.range.start, params.range.end))
    actions, sources = await server.schedule.run(lambda: server.session.actions(document, start, end, server.client.encoding))
    return [server.convert.action(action, sources) for action in actions]


def _is_asked(kind: str) -> bool:
    """Whether quick fixes are of the kind ``kind``, or below it."""
    return kind in ("", types.CodeActionKind.QuickFix.value)


async def _diagnostic(server: Server, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
    await server.settled()
    path = server.path_of(params.text_document.uri)
    items = server.report(path)
    unopened = [other for other, report in server.session.reports.items() if report.version is None and other != path]
    others = {server.uri_of(other): _full(server.report(other)) for other in unopened}
    if (known := result_id(items)) == params.previous_result_id:
        return types.RelatedUnchangedDocumentDiagnosticReport(known, others)
    return types.RelatedFullDocumentDiagnosticReport(items, others, result_id=known)


def _full(items: list[types.Diagnostic]) -> types.FullDocumentDiagnosticReport:
    return types.FullDocumentDiagnosticReport(items, result_id=result_id(items))


_HANDLERS: Final[dict[str, tuple[Callable[[Server, Any], Any], Any]]] = {
    types.INITIALIZE: (_initialize, None),
    types.INITIALIZED: (_initialized, None),
    types.SHUTDOWN: (_shutdown, None),
    types.WORKSPACE_DID_CHANGE_CONFIGURATION: (_did_change_configuration, None),
    types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: (_did_change_workspace_folders, None),
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES: (_did_change_watched_files, None),
    types.TEXT_DOCUMENT_DID_OPEN: (_did_open, None),
    types.TEXT_DOCUMENT_DID_CHANGE: (_did_change, None),
    types.TEXT_DOCUMENT_DID_CLOSE: (_did_close, None),
    types.TEXT_DOCUMENT_DID_SAVE: (_did_save, types.SaveOptions(include_text=False)),
    types.TEXT_DOCUMENT_HOVER: (_quiet(_hover), None),
    types.TEXT_DOCUMENT_CODE_ACTION: (_quiet(_code_action), types.CodeActionOptions([types.CodeActionKind.QuickFix])),
}

"""The server's life: meeting the client, its documents, files and settings, and the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from .answers import ANSWERS, pull
from .commands import COMMANDS
from .connection import Server
from .options import SECTION
from .stdio import leave_with


def create_server() -> Server:
    """A server that has not met its client yet."""
    server = Server()
    for method, (handler, options) in {**_HANDLERS, **ANSWERS}.items():
        server.feature(method, options)(handler)
    for name, command in COMMANDS.items():
        server.command(name)(command)
    return server


def _initialize(server: Server, params: types.InitializeParams) -> None:
    server.meet(params)
    if server.client.pulls:
        pull(server)
    if params.process_id is not None:
        server.background(leave_with(params.process_id))


async def _initialized(server: Server, params: types.InitializedParams) -> None:
    server.background(_register(server))
    await server.configure()
    for line in await server.schedule.run(server.session.workspaces.described):
        server.log.write("info", line)


async def _register(server: Server) -> None:
    """Ask to be told of files that change and of settings that do, where the client offers that."""
    wanted = []
    if server.client.watches_files:
        watchers = [types.FileSystemWatcher(pattern) for pattern in ("**/*.py", "**/pyproject.toml")]
        options: object = types.DidChangeWatchedFilesRegistrationOptions(watchers)
        wanted.append(types.Registration("files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options))
    if server.client.registers_configuration:
        options = types.DidChangeConfigurationRegistrationOptions(SECTION)
        wanted.append(types.Registration("settings", types.WORKSPACE_DID_CHANGE_CONFIGURATION, options))
    try:
        if wanted:
            await server.client_register_capability_async(types.RegistrationParams(wanted))
    except JsonRpcException as error:
        server.log.write("info", f"the client does not tell of changes by itself: {error!r}")


def _shutdown(server: Server, params: None) -> None:
    server.asked_to_shut_down = True
    server.close()


def _set_trace(server: Server, params: types.SetTraceParams) -> None:
    server.log.tracing = params.value != types.TraceValue.Off


async def _did_change_configuration(server: Server, params: types.DidChangeConfigurationParams) -> None:
    server.configuration.take(params.settings)
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


_HANDLERS: Final[dict[str, tuple[Callable[[Server, Any], Any], Any]]] = {
    types.INITIALIZE: (_initialize, None),
    types.INITIALIZED: (_initialized, None),
    types.SHUTDOWN: (_shutdown, None),
    types.SET_TRACE: (_set_trace, None),
    types.WORKSPACE_DID_CHANGE_CONFIGURATION: (_did_change_configuration, None),
    types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: (_did_change_workspace_folders, None),
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES: (_did_change_watched_files, None),
    types.TEXT_DOCUMENT_DID_OPEN: (_did_open, None),
    types.TEXT_DOCUMENT_DID_CHANGE: (_did_change, None),
    types.TEXT_DOCUMENT_DID_CLOSE: (_did_close, None),
    types.TEXT_DOCUMENT_DID_SAVE: (_did_save, types.SaveOptions(include_text=False)),
}

"""A client that edits documents through the protocol, as one of several editors, and sees what such an editor would."""

from __future__ import annotations

import ast
import asyncio
import json
import os
import re
import sys
from pathlib import Path

from lsprotocol import types
from lsprotocol.converters import get_converter
from pygls.protocol import default_converter
from pytest_lsp import ClientServerConfig, LanguageClient
from pytest_lsp.client import DEFAULT_CLIENT_FEATURES, register_lsp_features
from server.texts import Text

CLIENTS = Path(__file__).parent / "clients"
REPOSITORY = Path(__file__).parents[2]
PATIENCE = 20.0


def capabilities(name: str) -> types.ClientCapabilities:
    """What the editor announces that it can."""
    return get_converter().structure(json.loads((CLIENTS / f"{name}.json").read_text()), types.ClientCapabilities)


class RecordingClient(LanguageClient):
    """A client that keeps every publication, with its version, and what else it is asked to do."""

    editor: Editor

    def __init__(self) -> None:
        super().__init__(converter_factory=default_converter)
        self.publications: list[types.PublishDiagnosticsParams] = []
        self.something_new = asyncio.Event()
        self.registered: list[types.Registration] = []
        self.traces: list[str] = []
        self.refreshed = {"hints": 0, "lenses": 0}
        own = {
            types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS: _publish,
            types.CLIENT_REGISTER_CAPABILITY: _register,
            types.WORKSPACE_INLAY_HINT_REFRESH: _refresh_hints,
            types.WORKSPACE_CODE_LENS_REFRESH: _refresh_lenses,
            types.LOG_TRACE: _trace,
        }
        register_lsp_features(self, DEFAULT_CLIENT_FEATURES | own)

    def problems(self) -> list[str]:
        """The warnings and errors in the log."""
        return [entry.message for entry in self.log_messages if entry.type in (types.MessageType.Error, types.MessageType.Warning)]


def _register(client: RecordingClient, params: types.RegistrationParams) -> None:
    client.registered += params.registrations


def _as_action(found: types.Command | types.CodeAction) -> types.CodeAction:
    """lsprotocol takes an action that has a command for a command, whose name is then that command as text."""
    if isinstance(found, types.CodeAction):
        return found
    inner = ast.literal_eval(found.command)
    return types.CodeAction(found.title, command=types.Command(inner["title"], inner["command"], arguments=inner["arguments"]))


def _refresh_hints(client: RecordingClient, params: None) -> None:
    client.refreshed["hints"] += 1


def _refresh_lenses(client: RecordingClient, params: None) -> None:
    client.refreshed["lenses"] += 1


def _trace(client: RecordingClient, params: types.LogTraceParams) -> None:
    client.traces.append(params.message)


def _publish(client: RecordingClient, params: types.PublishDiagnosticsParams) -> None:
    client.publications.append(params)
    client.something_new.set()


def config() -> ClientServerConfig:
    """How the server is started."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-m", "pallas_lsp", "server"]
    return ClientServerConfig(command, client_factory=RecordingClient, server_env=environment)


class Editor:
    """One editor with one folder open; ``server`` is how the server introduced itself."""

    server: types.InitializeResult

    def __init__(self, client: RecordingClient, name: str, folder: Path) -> None:
        self.client = client
        self.name = name
        self.folder = folder
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.encoding = "utf-16"
        self.pulls = False

    async def start(self, **options: object) -> None:
        """Meet the server, with these initialization options."""
        uri = self.folder.as_uri()
        self.server = result = await self.client.initialize_session(
            types.InitializeParams(
                capabilities=capabilities(self.name),
                root_uri=uri,
                workspace_folders=[types.WorkspaceFolder(uri, self.folder.name)],
                initialization_options=options or None,
            )
        )
        self.encoding = str(getattr(result.capabilities.position_encoding, "value", result.capabilities.position_encoding))
        self.pulls = result.capabilities.diagnostic_provider is not None

    def uri(self, name: str) -> str:
        return name if ":" in name else (self.folder / name).as_uri()

    def text(self, name: str) -> Text:
        return Text(self.texts[name], self.encoding)

    def open(self, name: str, text: str, language: str = "python") -> None:
        self.texts[name], self.versions[name] = text, 1
        self.client.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(self.uri(name), language, 1, text))
        )

    def change(self, name: str, text: str) -> None:
        self.texts[name] = text
        self.versions[name] += 1
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(self.versions[name], self.uri(name)),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )

    def replace(self, name: str, old: str, new: str) -> None:
        """Replace the first ``old``, and tell the server only that."""
        text, start = self.text(name), self.texts[name].index(old)
        place = types.Range(text.position(start), text.position(start + len(old)))
        self.texts[name] = self.texts[name].replace(old, new, 1)
        self.versions[name] += 1
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(self.versions[name], self.uri(name)),
                [types.TextDocumentContentChangePartial(place, new)],
            )
        )

    def close(self, name: str) -> None:
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(self.uri(name))))
        del self.texts[name], self.versions[name]

    def published(self, name: str) -> list[types.PublishDiagnosticsParams]:
        return [params for params in self.client.publications if params.uri == self.uri(name)]

    async def diagnostics(self, name: str) -> list[types.Diagnostic]:
        """What the editor shows for the newest text of an open document, once it is all there is to say."""
        await self.quiet(name)
        if self.pulls:
            report = await self.pull(name)
            assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
            return list(report.items)
        params = await self.publication(name, self.versions[name])
        return list(params.diagnostics)

    async def pull(self, name: str, previous: str | None = None) -> types.DocumentDiagnosticReport:
        params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(self.uri(name)), previous_result_id=previous)
        return await asyncio.wait_for(self.client.text_document_diagnostic_async(params), PATIENCE)

    async def publication(self, name: str, version: int | None) -> types.PublishDiagnosticsParams:
        """The last publication for a document at this version, once there is one."""
        async with asyncio.timeout(PATIENCE):
            while not (found := [params for params in self.published(name) if params.version == version]):
                self.client.something_new.clear()
                await self.client.something_new.wait()
            return found[-1]

    async def configure(self, section: dict[str, object], folder: Path | None = None) -> None:
        """Change the editor's settings, or those of one folder, and tell the server in the way the editor does."""
        self.client.set_configuration({"pallas-lsp": section}, scope_uri=folder.as_uri() if folder else None)
        told = None if self.name == "vscode" else {"pallas-lsp": section}
        self.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(told))

    def changed_on_disk(self, name: str) -> None:
        change = types.FileEvent(self.uri(name), types.FileChangeType.Changed)
        self.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([change]))

    async def eventually(self, name: str, *rules: str) -> None:
        """Return when the editor shows findings of exactly these rules in an open document."""
        async with asyncio.timeout(PATIENCE):
            while [found.code for found in await self.diagnostics(name)] != list(rules):
                await asyncio.sleep(0.01)

    async def quiet(self, name: str) -> None:
        """Return when the server has done all that the newest text of a document asks for: a hover waits for that."""
        await self.hover(name, types.Position(0, 0))

    async def hover(self, name: str, at: types.Position) -> types.Hover | None:
        return await self.client.text_document_hover_async(types.HoverParams(types.TextDocumentIdentifier(self.uri(name)), at))

    async def actions(self, name: str, place: types.Range, *only: str) -> list[types.CodeAction]:
        context = types.CodeActionContext([], only=list(only) or None)
        params = types.CodeActionParams(types.TextDocumentIdentifier(self.uri(name)), place, context)
        return list(map(_as_action, await self.client.text_document_code_action_async(params) or []))

    async def ignore(self, name: str, place: types.Range) -> types.WorkspaceEdit:
        """The edit that ignores the one finding there on its line."""
        (action,) = [action for action in await self.actions(name, place) if action.title.endswith("on this line")]
        assert action.edit is not None
        return action.edit

    async def hints(self, name: str) -> list[str]:
        """The inlay hints of a document, each with the word that it is behind."""
        everything = types.Range(types.Position(0, 0), self.text(name).position(len(self.texts[name])))
        params = types.InlayHintParams(types.TextDocumentIdentifier(self.uri(name)), everything)
        found = await self.client.text_document_inlay_hint_async(params) or []
        ends = [self.text(name).offset(hint.position) for hint in found]
        words = [re.search(r"\w*\Z", self.texts[name][:end]) for end in ends]
        return [f"{word and word[0]}{hint.label}" for word, hint in zip(words, found, strict=True)]

    async def lenses(self, name: str) -> list[types.CodeLens]:
        params = types.CodeLensParams(types.TextDocumentIdentifier(self.uri(name)))
        return list(await self.client.text_document_code_lens_async(params) or [])

    async def definition(self, name: str, at: types.Position) -> list[types.Location]:
        params = types.DefinitionParams(types.TextDocumentIdentifier(self.uri(name)), at)
        found = await self.client.text_document_definition_async(params)
        return [place for place in found or [] if isinstance(place, types.Location)] if not isinstance(found, types.Location) else [found]

    async def completed(self, name: str, at: types.Position) -> list[types.CompletionItem]:
        params = types.CompletionParams(types.TextDocumentIdentifier(self.uri(name)), at)
        found = await self.client.text_document_completion_async(params)
        return list(found.items) if isinstance(found, types.CompletionList) else list(found or [])

    async def run(self, command: str, *arguments: object) -> object:
        return await self.client.workspace_execute_command_async(types.ExecuteCommandParams(command, arguments=list(arguments)))

    def applied(self, edit: types.WorkspaceEdit) -> dict[str, str]:
        """The texts of the open documents that the edit changes, after it; checks that it is for the versions at hand."""
        changes: dict[str, list[types.TextEdit]] = {uri: list(edits) for uri, edits in (edit.changes or {}).items()}
        for change in edit.document_changes or []:
            assert isinstance(change, types.TextDocumentEdit)
            changes[change.text_document.uri] = list(change.edits)  # type: ignore[arg-type]
            name = next(name for name in self.texts if self.uri(name) == change.text_document.uri)
            assert change.text_document.version == self.versions[name]
        names = {self.uri(name): name for name in self.texts}
        return {names[uri]: self.text(names[uri]).edited(edits) for uri, edits in changes.items()}

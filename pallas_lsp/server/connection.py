"""The server's end of the connection to one client: what the client wants, and what it is told."""

from __future__ import annotations

import asyncio
import os
import traceback
from collections.abc import Coroutine, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import quote

from lsprotocol import types
from pygls.exceptions import JsonRpcException, PyglsError
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from .. import __version__
from ..analysis import analyze
from ..text.source import Encoding, Source
from .convert import Client, Converter
from .documents import Document, Report
from .options import SECTION, Options, read_options
from .schedule import Schedule
from .session import Session

_CONFIGURATION_PATIENCE: Final = 2.0
"""Seconds that the client has to answer what its settings are, before the work starts without them."""


class Server(LanguageServer):
    """Documents and findings are in ``session``, jobs in ``schedule``; ``client`` and ``convert`` exist from ``initialize`` on."""

    client: Client
    convert: Converter

    def __init__(self) -> None:
        super().__init__("pallas-lsp", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full)
        self.session = Session(analyze, self.log)
        self.schedule = Schedule(self.log_exception)
        self.configured = asyncio.Event()
        self.asked_to_shut_down = False
        self._initial: Mapping[str, object] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pushed: object = None
        self._settings: tuple[dict[str, Options], Options] | None = None
        self._told_problems: set[str] = set()
        self._background: set[asyncio.Task[None]] = set()

    # --- what the client says of itself -----------------------------------------------------------------------------

    def meet(self, params: types.InitializeParams) -> None:
        """Learn what the client can do and what it wants, from ``initialize``."""
        self._loop = asyncio.get_running_loop()
        encoding = self.workspace.position_encoding or types.PositionEncodingKind.Utf16
        self.client = Client(params.capabilities, cast(Encoding, str(getattr(encoding, "value", encoding))))
        self.convert = Converter(self.client, self.uri_of, self.version_of)
        if isinstance(params.initialization_options, Mapping):
            self._initial = params.initialization_options

    def take_settings(self, settings: object) -> None:
        """Keep the settings that came with ``workspace/didChangeConfiguration``."""
        if isinstance(settings, Mapping):
            self._pushed = settings.get(SECTION)

    async def configure(self) -> None:
        """Take the settings that hold now and analyse all open documents with them.

        Asks the client for them where it answers such questions; else they are what it told last, or there are only the initial ones.
        """
        folders = self.folders()
        if self.client.gives_configuration:
            sections = await self._ask_settings([None, *folders.values()])
        else:
            sections = [self._pushed] * (len(folders) + 1)
        elsewhere, *by_folder = [self._options(section) for section in sections]
        options = dict(zip(folders, by_folder, strict=True))
        if self.configured.is_set() and self._settings == (options, elsewhere):
            return
        self._settings = options, elsewhere
        await self.schedule.run(lambda: self.session.configure(options, elsewhere))
        self.configured.set()
        for path in self.session.documents:
            self.refresh(path)

    async def _ask_settings(self, scopes: list[str | None]) -> list[object]:
        asked = types.ConfigurationParams([types.ConfigurationItem(scope_uri=scope, section=SECTION) for scope in scopes])
        try:
            answer = await asyncio.wait_for(self.workspace_configuration_async(asked), _CONFIGURATION_PATIENCE)
        except (TimeoutError, JsonRpcException) as error:
            self.log(f"the client did not tell its settings: {error!r}")
            answer = []
        return [*answer, *[None] * len(scopes)][: len(scopes)]

    def _options(self, section: object) -> Options:
        """A section of settings over the initial ones; what is wrong with them is logged once."""
        chosen = {key: value for key, value in section.items() if value} if isinstance(section, Mapping) else {}
        options, problems = read_options({**self._initial, **chosen})
        for problem in problems:
            if problem not in self._told_problems:
                self._told_problems.add(problem)
                self.log(f"settings: {problem}")
        return options

    # --- names of files ---------------------------------------------------------------------------------------------

    def folders(self) -> dict[str, str]:
        """The workspace folders that are on this machine: path to URI."""
        uris = [folder.uri for folder in self.workspace.folders.values()] or [self.workspace.root_uri]
        return {os.path.abspath(path): uri for uri in uris if uri and (path := to_fs_path(uri))}

    def path_of(self, uri: str) -> str:
        """The path of a document. One that is no file (``untitled:``) gets a path in the first folder, so that its imports are found."""
        if path := to_fs_path(uri):
            return os.path.abspath(path)
        return os.path.join(next(iter(self.folders()), os.path.abspath(os.sep)), quote(uri, safe=""))

    def uri_of(self, path: str) -> str:
        """The URI by which the client knows ``path``."""
        document = self.session.documents.get(path)
        return document.uri if document else from_fs_path(path) or Path(path).as_uri()

    def version_of(self, path: str) -> int | None:
        """The version of ``path`` where it is an open document."""
        document = self.session.documents.get(path)
        return document.version if document else None

    def document_of(self, uri: str) -> Document | None:
        """The open document of ``uri``."""
        return self.session.documents.get(self.path_of(uri))

    # --- work and its results ---------------------------------------------------------------------------------------

    def take(self, uri: str, version: int | None, text: str) -> None:
        """A document was opened or edited."""
        path = self.path_of(uri)
        self.session.open(Document(uri, path, version, text))
        self.refresh(path)

    def change(self, uri: str, version: int | None, changes: Iterable[types.TextDocumentContentChangeEvent]) -> None:
        """A document was edited. We ask for whole texts; a client that sends pieces all the same is understood."""
        document = self.document_of(uri)
        text = document.text if document else ""
        for change in changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                span = self.convert.span(Source("", text), change.range)
                text = text[: span.start] + change.text + text[span.end :]
            else:
                text = change.text
        self.take(uri, version, text)

    def refresh(self, path: str) -> None:
        """Analyse the document ``path`` and what depends on it, as soon as the settings are known."""
        if self.configured.is_set():
            self.schedule.restart(path, lambda: self.session.refresh(path), lambda reports: self._deliver(path, reports))

    async def settled(self, path: str | None = None) -> None:
        """Return when nothing is left to do, for the document ``path`` or without one for any."""
        await self.configured.wait()
        await self.schedule.settled(path)

    async def reread(self, paths: Iterable[str]) -> None:
        """Files were written, made or deleted: look at them anew, and analyse the documents that this concerns."""
        changed = set(paths)
        for path in await self.schedule.run(lambda: self.session.reread(changed)):
            self.refresh(path)

    def report(self, path: str) -> list[types.Diagnostic]:
        """What the client should show of ``path`` now."""
        report = self.session.reports.get(path)
        return self.convert.diagnostics(report) if report else []

    def _deliver(self, path: str, reports: list[Report]) -> None:
        for report in reports:
            self.session.delivered(report)
            if not self.client.pulls:
                uri = self.uri_of(report.path)
                self.text_document_publish_diagnostics(
                    types.PublishDiagnosticsParams(uri, self.convert.diagnostics(report), report.version)
                )
        if self.client.pulls and any(report.path != path or report.version is None for report in reports):
            self.workspace_diagnostic_refresh(None)

    def background(self, work: Coroutine[Any, Any, None]) -> None:
        """Let ``work`` go on beside the messages for as long as the server runs."""
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    # --- when something goes wrong ----------------------------------------------------------------------------------

    def log(self, message: str) -> None:
        """Write ``message`` to the client's log of this server; may be called on any thread."""
        params = types.LogMessageParams(types.MessageType.Error, message)
        if self._loop:
            self._loop.call_soon_threadsafe(lambda: self.window_log_message(params))

    def log_exception(self, error: BaseException) -> None:
        """Log an exception with its traceback."""
        self.log("".join(traceback.format_exception(error)))

    def report_server_error(self, error: Exception, source: type[PyglsError | JsonRpcException]) -> None:
        """Log what pygls caught: a popup would interrupt whoever is typing."""
        self.log_exception(error)

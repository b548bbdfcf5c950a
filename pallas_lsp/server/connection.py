"""The server's end of the connection to one client: what the client wants, and what it is told."""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any, Final, TypeVar, cast
from urllib.parse import quote

from lsprotocol import types
from pygls.exceptions import JsonRpcException, PyglsError
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from .. import __version__
from ..analysis import Analysis, Remembering
from ..features.hover import hover
from ..text.source import Encoding, Source
from .client import Client
from .configuration import Configuration
from .convert import Converter
from .documents import Document, Update
from .log import Log
from .options import LEVELS, Options
from .progress import shown
from .schedule import Schedule
from .session import Session

T = TypeVar("T")

_IDLE: Final = 0.3
"""Seconds after which nobody is typing."""
_AWAY: Final = 1.5
"""Seconds after which nobody is going to type at once."""


class Server(LanguageServer):
    """Documents and findings are in ``session``, jobs in ``schedule``; the client is known from ``initialize`` on (`meet`)."""

    client: Client
    convert: Converter
    configuration: Configuration
    client_info: types.ClientInfo | None

    def __init__(self) -> None:
        super().__init__("pallas-lsp", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full)
        self.log = Log(self.window_log_message, self.log_trace)
        self.session = Session(Remembering(), lambda message: self.log.write("error", message), self.complain, self.log.trace)
        self.schedule = Schedule(self.log.exception, self._around)
        self.configured = asyncio.Event()
        self.asked_to_shut_down = False
        self._settings: tuple[dict[str, Options], Options] | None = None
        self._background: set[asyncio.Task[None]] = set()
        self._refreshing: asyncio.Task[None] | None = None

    # --- what the client says of itself -----------------------------------------------------------------------------

    def meet(self, params: types.InitializeParams) -> None:
        """Learn what the client can do and what it wants, from ``initialize``."""
        self.log.start(asyncio.get_running_loop())
        self.client_info = params.client_info
        self.log.tracing = params.trace not in (None, types.TraceValue.Off)
        encoding = self.workspace.position_encoding or types.PositionEncodingKind.Utf16
        self.client = Client(params.capabilities, cast(Encoding, str(getattr(encoding, "value", encoding))))
        self.convert = Converter(self.client, self.uri_of, self.version_of)
        self.configuration = Configuration(params.initialization_options, self.log)
        if self.client.gives_configuration:
            self.configuration.ask = self.workspace_configuration_async

    async def configure(self) -> None:
        """Take the settings that hold now, and analyse all open documents with them where they have changed."""
        folders = self.folders()
        elsewhere, *by_folder = await self.configuration.options([None, *folders.values()])
        options = dict(zip(folders, by_folder, strict=True))
        if self.configured.is_set() and self._settings == (options, elsewhere):
            return
        self._settings = options, elsewhere
        self.log.level = max((chosen.log_level for chosen in (elsewhere, *by_folder)), key=LEVELS.index)
        await self.schedule.run(lambda: self.session.configure(options, elsewhere))
        if self.configured.is_set():
            self.refresh_views()
        self.configured.set()
        for path in self.session.documents:
            self.refresh(path)

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
            self.schedule.restart(path, lambda early: self.session.refresh(path, early), lambda update: self._deliver(path, update))

    async def settled(self, path: str | None = None) -> None:
        """Return when nothing is left to do, for the document ``path`` or without one for any."""
        await self.configured.wait()
        await self.schedule.settled(path)

    async def told(self, path: str) -> None:
        """Return when there is something to say of the document ``path`` as it is now."""
        await self.configured.wait()
        await self.schedule.told(path)

    async def ask(self, uri: str, question: Callable[[Analysis], T]) -> T | None:
        """What ``question`` says of the analysis of an open document, once it is finished; asked on the worker thread.

        None where the document is not open, has been edited since, or could not be analysed.
        """
        document = self.document_of(uri)
        if document is None:
            return None
        await self.settled(document.path)

        def answer() -> T | None:
            analysis = self.session.analysis_of(document)
            return question(analysis) if analysis is not None else None

        return await self.schedule.run(answer)

    def close(self) -> None:
        """Drop all work that is left; a step of an analysis that is running ends by itself."""
        for task in self._background:
            task.cancel()
        self.schedule.close()

    async def reread(self, paths: Iterable[str]) -> None:
        """Files were written, made or deleted: look at them anew, and analyse the documents that this concerns."""
        changed = set(paths)
        for path in await self.schedule.run(lambda: self.session.reread(changed)):
            self.refresh(path)
            self.refresh_views()

    def report(self, path: str) -> list[types.Diagnostic]:
        """What the client should show of ``path`` now."""
        report = self.session.reports.get(path)
        return self.convert.diagnostics(report) if report else []

    def _deliver(self, path: str, update: Update) -> None:
        unasked = False  # whether the client does not know that it should pull
        for report in update.reports:
            before = self.session.reports.get(report.path)
            unasked |= report.path != path or report.version is None or (before is not None and before.version == report.version)
            self.session.delivered(report)
            if not self.client.pulls:
                uri = self.uri_of(report.path)
                self.text_document_publish_diagnostics(
                    types.PublishDiagnosticsParams(uri, self.convert.diagnostics(report), report.version)
                )
        if self.client.pulls and unasked:
            self.workspace_diagnostic_refresh(None)
        if update.analysed not in (None, path):
            self.refresh_views()

    def refresh_views(self) -> None:
        """Once nothing is left to do, let the client ask again for the hints and lenses of the documents that it shows."""
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = self.background(self._refresh_views())

    async def _refresh_views(self) -> None:
        await self.settled()
        if self.client.refreshes_hints:
            self.workspace_inlay_hint_refresh(None)
        if self.client.refreshes_lenses:
            self.workspace_code_lens_refresh(None)

    @asynccontextmanager
    async def _around(self, path: str) -> AsyncIterator[None]:
        """What is done around a job: showing that it takes long, and getting ready for the first question about its result."""
        async with shown(self.work_done_progress, f"Checking {os.path.basename(path)}") if self.client.shows_progress else nullcontext():
            yield
        self.background(self._get_ready(path))

    async def _get_ready(self, path: str) -> None:
        """Work out what hover needs of the analysis as a whole, once nobody has typed for a moment.

        Later, when it is in nobody's way, memory is searched for cycles, which takes longer than an edit.
        """
        document = self.session.documents.get(path)
        await asyncio.sleep(_IDLE)
        if document is not None and document is self.session.documents.get(path):
            await self.ask(document.uri, lambda analysis: hover(analysis, 0))
            await asyncio.sleep(_AWAY - _IDLE)
            if document is self.session.documents.get(path):
                await self.schedule.run(gc.collect)

    def background(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Let ``work`` go on beside the messages for as long as the server runs; what it raises is logged."""

        def ended(task: asyncio.Task[None]) -> None:
            self._background.discard(task)
            if not task.cancelled() and (error := task.exception()) is not None:
                self.log.exception(error)

        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(ended)
        return task

    # --- when something is wrong ------------------------------------------------------------------------------------

    def complain(self, message: str) -> None:
        """Tell the user, once, that something of theirs cannot be obeyed; may be called on any thread."""
        if self.log.once("warning", message):
            self.log.later(lambda: self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, f"Pallas: {message}")))

    def report_server_error(self, error: Exception, source: type[PyglsError | JsonRpcException]) -> None:
        """Log what pygls caught: a popup would interrupt whoever is typing."""
        self.log.exception(error)

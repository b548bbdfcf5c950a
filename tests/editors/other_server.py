"""Stands for the Python server that people have already: it reports the first line and hovers with one word."""

from __future__ import annotations

from lsprotocol import types
from pygls.lsp.server import LanguageServer

server = LanguageServer("other", "1")


@server.feature(types.TEXT_DOCUMENT_DID_OPEN)
def _did_open(ls: LanguageServer, params: types.DidOpenTextDocumentParams) -> None:
    first_line = types.Range(types.Position(0, 0), types.Position(0, 6))
    finding = types.Diagnostic(first_line, "said by the other server", source="other")
    ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(params.text_document.uri, [finding]))


@server.feature(types.TEXT_DOCUMENT_HOVER)
def _hover(params: types.HoverParams) -> types.Hover:
    return types.Hover("hovered by the other server")


if __name__ == "__main__":
    server.start_io()

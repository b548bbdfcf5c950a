"""The commands that the server runs for an editor: opening the page of a rule, going to a place, a text for bug reports."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Any, Final

from lsprotocol import types
from pygls.uris import from_fs_path

from .. import __version__
from ..pages import rule_page_path
from .connection import Server
from .convert import EXPLAIN, GO_TO


async def _explain_rule(server: Server, rule: str) -> str | None:
    """Open the page of a rule; gives its URI, None where there is no such rule."""
    path = rule_page_path(rule)
    uri = from_fs_path(str(path)) if path is not None else None
    if uri is not None:
        _show(server, types.ShowDocumentParams(uri, take_focus=True))
    return uri


async def _go_to(server: Server, place: types.Location) -> None:
    """Show a place in a file."""
    _show(server, types.ShowDocumentParams(place.uri, take_focus=True, selection=place.range))


def _show(server: Server, params: types.ShowDocumentParams) -> None:
    if server.client.shows_documents:
        server.window_show_document(params)


async def _debug_information(server: Server) -> str:
    """What a bug report should say of this server, its client and its folders."""
    client = server.client_info
    lines = [
        f"pallas-lsp {__version__}, Python {platform.python_version()}, {platform.platform()}",
        ", ".join(f"{package} {version(package)}" for package in ("pygls", "lsprotocol", "jedi", "parso")),
        f"client: {client.name} {client.version or ''}".rstrip() if client is not None else "client: unnamed",
        f"columns in {server.client.encoding}, diagnostics {'pulled' if server.client.pulls else 'pushed'}",
        f"{len(server.session.documents)} documents are open",
        *await server.schedule.run(server.session.workspaces.described),
    ]
    return "\n".join(lines)


COMMANDS: Final[dict[str, Any]] = {
    EXPLAIN: _explain_rule,
    GO_TO: _go_to,
    "pallas-lsp.debugInformation": _debug_information,
}

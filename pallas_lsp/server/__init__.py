"""The language server: the only part that knows the protocol, and the only one that imports pygls or lsprotocol."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import CannotRun

_USAGE = """usage: pallas-lsp server [--stdio]

Starts the language server on standard input and output, for editors to talk to. --stdio says the same as nothing."""


def run(arguments: Sequence[str]) -> int:
    """Serve one client until it says ``exit`` or goes away; 0 when it said ``shutdown`` before, else 1.

    Raises `CannotRun` for an option that there is none of.
    """
    if arguments and arguments[0] in ("--help", "-h"):
        print(_USAGE)
        return 0
    if unknown := [argument for argument in arguments if argument != "--stdio"]:
        raise CannotRun(f"there is no option {unknown[0]} (see pallas-lsp server --help)")
    from .stdio import serve

    return serve()

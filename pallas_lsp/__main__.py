"""The command ``pallas-lsp``: finds the subcommand and runs it.

`main` imports only what the subcommand needs, and nothing at all for ``--version``. Above `main` this module imports only what is
built into Python: until `_leave_workspace` has run, any other import (``from __future__`` too) could find a file of the user's first.
"""

import gc
import os
import sys

COMMANDS = {
    "check": "report what JAX would refuse in Pallas kernels, and more",
    "inspect": "show what is known of every kernel call: grid, refs, memory spaces, verdict",
    "explain": "explain a rule, or any part of a JAX error message",
    "rules": "list the rules",
    "config": "show the settings in force and where each comes from",
    "server": "start the language server on standard input and output",
}


def main(argv: list[str] | None = None) -> int:
    """Run the command line ``argv`` (without the program's name; None takes the process's own) and return its exit code:
    0 nothing found, 1 something found, 2 could not run, 130 interrupted, 141 the reader of the output went away."""
    if argv is None:
        _leave_workspace()
        status = main(sys.argv[1:])
        gc.freeze()  # the process ends: Python would look for cycles in all that is left before it lets go of it
        return status
    if argv and argv[0] in ("--version", "-V"):
        from . import __version__

        print(f"pallas-lsp {__version__}")
        return 0
    if not argv or argv[0] in ("--help", "-h", "help"):
        print(_usage())
        return 0 if argv else 2
    return _guarded(argv[0], argv[1:])


def _guarded(command: str, arguments: list[str]) -> int:
    from .errors import CannotRun

    for stream in (sys.stdout, sys.stderr):  # a terminal that cannot show a character gets its escape, not a traceback
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        status = _run(command, arguments)
        sys.stdout.flush()
        return status
    except CannotRun as error:
        print(f"pallas-lsp: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # as in `pallas-lsp check | head`; what Python still holds for the pipe has to go somewhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        return 130


def _run(command: str, arguments: list[str]) -> int:
    """Run a subcommand; its module is imported only now."""
    from importlib import import_module

    if command not in COMMANDS:
        from .errors import CannotRun, did_you_mean

        raise CannotRun(f"there is no command {command!r}{did_you_mean(command, COMMANDS)} (see pallas-lsp --help)")
    # An analysis makes many small objects that live as long as it does: to look for cycles among them so often would be a seventh
    # of its time. What a check leaves of them in a few dozen files is not worth a look at all; a server stays.
    gc.set_threshold(100_000 if command == "server" else 700_000, 20, 20)
    module = import_module(".server" if command == "server" else f".cli.{command}", __package__)
    status: int = module.run(arguments)
    return status


def _usage() -> str:
    commands = "\n".join(f"  {name:9} {what}" for name, what in COMMANDS.items())
    return f"""usage: pallas-lsp COMMAND [OPTION...] [PATH...]

Checks JAX Pallas kernels for TPU by reading them; it never runs them.

{commands}

pallas-lsp COMMAND --help tells the options of a command, pallas-lsp --version the version.
Exit codes: 0 nothing found, 1 something found, 2 could not run."""


def _leave_workspace() -> None:
    """Take the folder we stand in off Python's path.

    ``python -m`` puts it first there, and so may PYTHONPATH: a ``json.py`` of the user's would run in place of Python's own.
    (Our own modules are found through this package.)
    """
    try:
        here = os.getcwd()
    except FileNotFoundError:
        return
    if os.path.basename(here) not in ("site-packages", "dist-packages"):
        sys.path[:] = [folder for folder in sys.path if folder not in ("", here)]


if __name__ == "__main__":
    sys.exit(main())

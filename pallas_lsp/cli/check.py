"""``pallas-lsp check``: report, and fix where asked."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import CannotRun
from . import formats, statistics
from .checker import Checker
from .colour import wants_colour
from .formats.full import summary
from .options import Parser, add_choices, read_choices
from .places import Places
from .report import Report
from .workspace import STDIN, Workspace, named_files

if TYPE_CHECKING:
    from .fixing import Fixer

_EPILOG = "Exit codes: 0 nothing found, 1 something found, 2 could not run."


def run(arguments: Sequence[str]) -> int:
    """Check what ``arguments`` name; 0 where nothing was found, 1 where something was (and is still there after ``--fix``)."""
    options = _parser().read(arguments)
    choices = read_choices(options)
    _refuse_what_cannot_go_together(options)
    workspace = Workspace()
    files = named_files(workspace, options.paths, options.stdin_filename)
    checker = Checker(files, workspace, choices)
    fixer = _fixer(checker, options)
    diagnostics, fixed = fixer.run() if fixer is not None else (checker.findings(), 0)
    if fixer is not None and not options.diff and options.paths != [STDIN]:
        fixer.write()
    report = Report(
        diagnostics=diagnostics,
        places=Places(checker.read),
        checked=len(files),
        fixed=fixed,
        unsafe_fixes=options.unsafe_fixes,
        colour=wants_colour(sys.stdout),
    )
    if fixer is not None and options.diff:
        sys.stdout.write(fixer.diff())
        print(summary(report).replace(" fixed.", " would be fixed."), file=sys.stderr)
        return 1 if diagnostics or fixed else 0
    rendered = _rendered(report, options)
    if options.fix and options.paths == [STDIN]:  # the text is what the caller waits for on standard output
        sys.stdout.buffer.write(checker.text(files[0].path).encode("utf-8", "replace"))
        sys.stderr.write(rendered)
    else:
        sys.stdout.write(rendered)
    return 1 if diagnostics else 0


def _fixer(checker: Checker, options: argparse.Namespace) -> Fixer | None:
    """What applies the fixes, None where none are asked for."""
    if not options.fix and not options.diff:
        return None
    from .fixing import Fixer

    return Fixer(checker, options.unsafe_fixes)


def _rendered(report: Report, options: argparse.Namespace) -> str:
    if options.statistics:
        return statistics.render(report, as_json=options.output_format == "json")
    return formats.render(report, options.output_format)


def _refuse_what_cannot_go_together(options: argparse.Namespace) -> None:
    if options.statistics and options.output_format not in ("full", "concise", "json"):
        raise CannotRun(f"--statistics has no {options.output_format} format (it has full and json)")


def _parser() -> Parser:
    parser = Parser("check", "Report what JAX would refuse in Pallas kernels, and more.", epilog=_EPILOG)
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders (default: the current folder); - reads standard input")
    parser.add_argument("--output-format", choices=formats.NAMES, default="full", help="how to print findings (default: %(default)s)")
    add_choices(parser)
    parser.add_argument("--fix", action="store_true", help="apply the safe fixes")
    parser.add_argument("--unsafe-fixes", action="store_true", help="with --fix or --diff: fixes too that may change results or interfaces")
    parser.add_argument("--diff", action="store_true", help="print what --fix would change and write nothing")
    parser.add_argument("--statistics", action="store_true", help="print how often each rule spoke instead of the findings")
    parser.add_argument("--stdin-filename", metavar="FILE", help="the name of the file that - gives the text of")
    return parser

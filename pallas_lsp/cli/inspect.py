"""``pallas-lsp inspect``: what is known of every kernel call."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import CannotRun
from ..given import read_call
from ..shapes.dims import MaybeDim, render
from .checker import Checker
from .kernel_page import page
from .options import Parser, add_choices, read_choices
from .places import Places
from .workspace import Workspace, named_files

if TYPE_CHECKING:
    from ..kernels.budget import Budget
    from ..kernels.site import KernelSite


def run(arguments: Sequence[str]) -> int:
    """Print every kernel call of the files that ``arguments`` name; always 0, since this judges nothing."""
    parser = Parser("inspect", "Show what is known of every kernel call: grid, refs, memory spaces, VMEM, and whether it lowers.")
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders (default: the current folder); - reads standard input")
    parser.add_argument("--call", metavar="CALL", help="trace this call of a function of the file: 'f(f32[8,128], i32[8], causal=True)'")
    parser.add_argument("--output-format", choices=("text", "json"), default="text", help="how to print it (default: %(default)s)")
    parser.add_argument("--statistics", action="store_true", help="print how much is known, and what would tell the rest")
    parser.add_argument("--stdin-filename", metavar="FILE", help="the name of the file that - gives the text of")
    add_choices(parser)
    options = parser.read(arguments)
    workspace = Workspace()
    call = None if options.call is None else read_call(options.call)
    if call is not None and (len(options.paths) != 1 or os.path.isdir(options.paths[0])):
        raise CannotRun("--call goes with the one file that has the function")
    checker = Checker(named_files(workspace, options.paths, options.stdin_filename), workspace, read_choices(options), call)
    sites, places = checker.sites(), Places(checker.read)
    if options.statistics:
        sys.stdout.write(_statistics(sites, as_json=options.output_format == "json"))
    elif options.output_format == "json":
        sys.stdout.write(json.dumps([_as_json(site, places) for site in sites], indent=2) + "\n")
    else:
        pages = ("".join(f"{line}\n" for line in page(site, places, options.target)) for site in sites)
        nothing = "No kernel calls found.\n" if call is None else f"No kernel call is reached by `{options.call}`.\n"
        sys.stdout.write("\n".join(pages) or nothing)
    return 0


def _as_json(site: KernelSite, places: Places) -> dict[str, object]:
    place = site.kernel_location
    kernel = {
        "name": site.kernel_name,
        "filename": place.path if place else None,
        "row": places.start(place).row if place else None,
    }
    return {
        "filename": site.location.path,
        "row": places.start(site.location).row,
        "kernel": kernel,
        "grid": _dims(site.grid),
        "refs": [
            {
                "name": ref.name,
                "role": ref.role,
                "shape": _dims(ref.shape),
                "dtype": ref.dtype or ref.dtype_name,
                "memory_space": ref.memory_space,
            }
            for ref in site.refs
        ],
        "vmem_bytes": site.vmem_bytes,
        "vmem": _budget(site.budget),
        "verdict": site.verdict,
        "unknowns": list(site.unknowns),
        "conditions": list(site.conditions),
    }


def _budget(budget: Budget | None) -> dict[str, object] | None:
    """The table of VMEM: its parts, the total or a formula of it, and what each chip lets a kernel use."""
    if budget is None:
        return None
    parts = [
        {
            "name": part.name,
            "block": _dims(part.block),
            "padded": _dims(part.padded),
            "dtype": part.dtype,
            "buffers": part.buffers,
            "bytes": part.size if isinstance(part.size, int) else None,
            "lost": None if part.lost is None else round(part.lost, 4),
        }
        for part in budget.parts
    ]
    return {
        "parts": parts,
        "formula": None if budget.formula is None else render(budget.formula),
        "limits": dict(budget.limits),
        "fits": {fit.chip: fit.most for fit in budget.fits},
        "sizes": dict(budget.sizes),
        "assumed_dtype": budget.dtype,
    }


def _dims(dims: Sequence[MaybeDim] | None) -> list[int | str] | None:
    """Numbers as numbers, symbols by their text, ``?`` for one of which nothing is known; None where their number is not known."""
    return None if dims is None else [dim if isinstance(dim, int) else render(dim) for dim in dims]


def _statistics(sites: Sequence[KernelSite], as_json: bool) -> str:
    verdicts = Counter(site.verdict for site in sites)
    unknowns = Counter(unknown for site in sites for unknown in site.unknowns[:1]).most_common()
    refs = [ref for site in sites for ref in site.refs]
    known = {
        "memory_space": sum(ref.memory_space is not None for ref in refs),
        "rank": sum(ref.shape is not None for ref in refs),
        "dtype": sum((ref.dtype or ref.dtype_name) is not None for ref in refs),
    }
    causes = Counter(ref.why for ref in refs if ref.why and ref.lacks).most_common()
    if as_json:
        table = {
            "sites": len(sites),
            "verdicts": dict(sorted(verdicts.items())),
            "first_unknowns": [{"unknown": unknown, "count": count} for unknown, count in unknowns],
            "refs": {"count": len(refs), **known},
            "causes": [{"cause": cause, "count": count} for cause, count in causes],
        }
        return json.dumps(table, indent=2) + "\n"
    lines = [f"{len(sites)} kernel calls", *(f"{count:5}  {verdict}" for verdict, count in sorted(verdicts.items()))]
    if unknowns:
        lines += ["what would decide the undecided ones:", *(f"{count:5}  {unknown}" for unknown, count in unknowns)]
    if refs:
        lines += [f"{len(refs)} refs", *(f"{count:5}  with a known {name.replace('_', ' ')}" for name, count in known.items())]
    if causes:
        lines += ["why something of the others is unknown:", *(f"{count:5}  {cause}" for cause, count in causes)]
    return "\n".join(lines) + "\n"

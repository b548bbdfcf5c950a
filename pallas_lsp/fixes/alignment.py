"""Traced starts that the TPU compiler cannot prove aligned: the author says that they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..interpreter.events import Access
from ..resolve.project import Project
from ..rules.alignment import unproven_start
from ..rules.diagnostic import Fix
from ..text.edits import wrap
from .code import PALLAS, Code
from .registry import fixes, make


@fixes("unaligned-dynamic-lane", "unaligned-dynamic-sublane")
def claim_alignment(event: Access, project: Project) -> Iterator[Fix]:
    """``pl.multiple_of(start, 8)``, where the start may be one: not a number that counts up by itself."""
    code, found = Code(event.where.module), unproven_start(event)
    if found is None:
        return
    entry, needed = found
    multiple_of = code.name(f"{PALLAS}.multiple_of")
    call = entry.node
    if multiple_of is None or not isinstance(call, ast.Call) or not call.args:
        return
    start = call.args[0]
    worth = code.assigned(start) if isinstance(start, ast.Name) else start
    if worth is None or (isinstance(worth, ast.Call) and code.qualified(worth.func) == f"{PALLAS}.program_id"):
        return
    edits = wrap(code.module.source, start, f"{multiple_of.text}(", f", {needed})")
    yield make(f"Assume that `{code.text(start)}` is a multiple of {needed}", "unsafe", multiple_of.edits, edits)

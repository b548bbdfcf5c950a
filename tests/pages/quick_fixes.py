"""The quick fix of a page's example, as its page shows it."""

from __future__ import annotations

import re
from itertools import pairwise
from textwrap import dedent

from checker import PATH, findings

from pallas_lsp.pages import RulePage
from pallas_lsp.rules import Fix
from pallas_lsp.text.edits import apply

_MARK = re.compile(r"  # error: \[[\w-]+\]")
_NEAR = 3
_UNSAFE = "It may change what the kernel computes: `check --fix` makes it with `--unsafe-fixes` only."


def offered(page: RulePage) -> Fix | None:
    """The first fix of the example's finding."""
    found = next((finding for finding in findings(page.example, page.target) if finding.rule == page.id), None)
    return next(iter(found.fixes), None) if found is not None else None


def shown(page: RulePage, fix: Fix) -> str:
    """The section on the fix: its title, the lines that it writes, and whether it may change results."""
    assert {edit.path for edit in fix.edits} == {PATH}
    block = dedent("\n".join(_written(page, fix)))
    text = f"*{fix.title}* writes:\n\n```python\n{block}\n```\n"
    return text if fix.applicability == "safe" else f"{text}\n{_UNSAFE}\n"


def _written(page: RulePage, fix: Fix) -> list[str]:
    """The lines that the fix writes, with the few that stay between them."""
    lines = _MARK.sub("", apply(page.example, fix.edits)).splitlines()
    old = set(_MARK.sub("", page.example).splitlines())
    new = [number for number, line in enumerate(lines) if line not in old]
    near = {between for first, last in pairwise(new) if last - first <= _NEAR for between in range(first, last)}
    return [line for number, line in enumerate(lines) if number in near or number in new]

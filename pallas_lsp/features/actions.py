"""What an editor offers to do about findings: their fixes, to ignore them, to read about them, and to fix all that is safely fixed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ..fixes.batch import edits_of, together
from ..text.edits import apply
from ..text.suppressions import Suppressions, find_suppressions

if TYPE_CHECKING:
    from ..analysis import Analysis
    from ..rules.diagnostic import Diagnostic
    from ..text.span import Edit, Span


@dataclass(frozen=True, slots=True)
class Action:
    """An offer: its title, its edits (of other files too), the findings it is about, and whether it is the one to take unasked.

    ``kind``: ``fix``, ``ignore``, ``explain`` (a page to open, no edits) or ``fix all`` (edits that `fix_all` works out).
    """

    title: str
    edits: tuple[Edit, ...]
    diagnostics: tuple[Diagnostic, ...]
    preferred: bool = False
    kind: Literal["fix", "ignore", "explain", "fix all"] = "fix"


def actions(analysis: Analysis, span: Span) -> list[Action]:
    """The offers for the findings of ``analysis.source`` that ``span`` (empty for a cursor) touches: fixes first, then ignoring."""
    path = analysis.source.path
    found = [finding for finding in analysis.diagnostics if finding.location.path == path and _touch(finding.location.span, span)]
    suppressions = find_suppressions(analysis.source, analysis.parsed)
    rules = {finding.rule: finding for finding in reversed(found)}
    return [
        *(action for finding in found for action in _fixes(finding)),
        *filter(None, (_ignore(finding, suppressions) for finding in found)),
        *filter(None, (_ignore_in_file(finding, suppressions) for finding in reversed(rules.values()))),
        *(Action(f"Explain `{rule}`", (), (rules[rule],), kind="explain") for rule in reversed(rules)),
    ]


def fix_all_action(analysis: Analysis) -> Action | None:
    """The offer to make all safe fixes of the file at once, where anything is found in it. Its edits are not worked out yet."""
    if any(finding.location.path == analysis.source.path for finding in analysis.diagnostics):
        return Action("Make all safe fixes of Pallas kernels", (), (), kind="fix all")
    return None


def fix_all(analysis: Analysis, again: Callable[[str], Analysis]) -> tuple[Edit, ...]:
    """The safe fixes of the file that can be made at once: what they are for is gone then, and nothing new is found.

    ``again`` analyses the file with another text. Fixes that change other files are left out. Where the fixes do not go together, the
    first half of them is tried.
    """
    path, before = analysis.source.path, _rules_in(analysis)
    own = (finding for finding in analysis.diagnostics if finding.location.path == path)
    safe = (next((fix for fix in finding.fixes if fix.applicability == "safe"), None) for finding in own)
    chosen = together(fix for fix in safe if fix is not None and all(edit.path == path for edit in fix.edits))
    while chosen:
        edits = edits_of(chosen)
        after = _rules_in(again(apply(analysis.source.text, edits)))
        if after <= before and after.total() <= before.total() - len(chosen):
            return edits
        chosen = chosen[: len(chosen) // 2]
    return ()


def _rules_in(analysis: Analysis) -> Counter[str]:
    return Counter(finding.rule for finding in analysis.diagnostics)


def _touch(one: Span, other: Span) -> bool:
    return one.start <= other.end and other.start <= one.end


def _fixes(finding: Diagnostic) -> Iterator[Action]:
    """The fixes, best first; the first safe one is preferred, and an unsafe one says that it is."""
    preferred = next((fix for fix in finding.fixes if fix.applicability == "safe"), None)
    for fix in finding.fixes:
        title = fix.title if fix.applicability == "safe" else f"{fix.title} (unsafe)"
        yield Action(title, fix.edits, (finding,), preferred=fix is preferred)


def _ignore(finding: Diagnostic, suppressions: Suppressions) -> Action | None:
    edit = suppressions.suppress(finding.rule, finding.location.span)
    return Action(f"Ignore `{finding.rule}` on this line", (edit,), (finding,), kind="ignore") if edit else None


def _ignore_in_file(finding: Diagnostic, suppressions: Suppressions) -> Action | None:
    edit = suppressions.suppress_in_file(finding.rule)
    return Action(f"Ignore `{finding.rule}` in this file", (edit,), (finding,), kind="ignore") if edit else None

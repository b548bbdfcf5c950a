"""Fixes on demand behave as the tuple they would be, and are worked out as far as they are looked at."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pallas_lsp.rules.diagnostic import Diagnostic, Fix, FixesOnDemand
from pallas_lsp.text.span import Edit, Location, Span

FIXES = tuple(Fix(title, "safe", (Edit("a.py", Span(0, 0), title),)) for title in "abc")


class Source:
    """Gives the fixes one by one and counts them."""

    def __init__(self, fixes: tuple[Fix, ...] = FIXES) -> None:
        self._fixes = fixes
        self.given = 0

    def __iter__(self) -> Iterator[Fix]:
        for fix in self._fixes:
            self.given += 1
            yield fix


@pytest.mark.parametrize("fixes", [FIXES, FIXES[:1], ()])
def test_as_a_sequence(fixes: tuple[Fix, ...]) -> None:
    assert tuple(FixesOnDemand(iter(fixes))) == fixes
    assert len(FixesOnDemand(iter(fixes))) == len(fixes)
    assert bool(FixesOnDemand(iter(fixes))) == bool(fixes)
    assert list(reversed(FixesOnDemand(iter(fixes)))) == list(reversed(fixes))
    assert FixesOnDemand(iter(fixes))[:2] == list(fixes[:2])
    for index in range(-len(fixes), len(fixes)):
        assert FixesOnDemand(iter(fixes))[index] is fixes[index]
    for index in (len(fixes), -len(fixes) - 1):
        with pytest.raises(IndexError):
            FixesOnDemand(iter(fixes))[index]


def test_no_more_is_worked_out_than_is_looked_at() -> None:
    source = Source()
    fixes = FixesOnDemand(iter(source))
    assert source.given == 0
    assert fixes and fixes[0] is FIXES[0]
    assert source.given == 1
    assert next(fix for fix in fixes if fix.title == "b") is FIXES[1]
    assert source.given == 2
    assert list(fixes) == list(fixes) == list(FIXES)
    assert source.given == 3


def test_two_readers_at_once_see_the_same() -> None:
    fixes = FixesOnDemand(iter(Source()))
    assert [(one, other) for one, other in zip(fixes, fixes, strict=True)] == list(zip(FIXES, FIXES, strict=True))


def test_findings_are_equal_whatever_their_fixes() -> None:
    source = Source()
    bare = Diagnostic("a-rule", "error", "bad", Location("a.py", Span(0, 1)))
    fixable = Diagnostic("a-rule", "error", "bad", Location("a.py", Span(0, 1)), fixes=FixesOnDemand(iter(source)))
    assert bare == fixable and hash(bare) == hash(fixable)
    assert source.given == 0

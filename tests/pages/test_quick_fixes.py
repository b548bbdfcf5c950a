"""What pages show of quick fixes is what the tool writes; a page whose example gets none shows none."""

from __future__ import annotations

import pytest
from pages.quick_fixes import offered, shown
from pages.reading import holds_for_this_jax, page_of
from pages.test_checker import CHECKED

_OF_NEWER_JAX = frozenset({"top-k"})
"""What older versions refuse for another reason, for which there is no fix."""


@pytest.mark.parametrize("rule_id", [rule_id for rule_id in CHECKED if holds_for_this_jax(page_of(rule_id))])
def test_the_page_shows_the_fix_of_its_example(rule_id: str) -> None:
    page = page_of(rule_id)
    fix = offered(page)
    if fix is None and rule_id in _OF_NEWER_JAX:
        return
    section = page.body.partition("## Quick fix\n\n")[2].partition("\n## ")[0]
    assert section == (shown(page, fix) if fix is not None else "")

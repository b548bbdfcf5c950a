"""Reading the rule pages, and what is claimed in them, in tests."""

from __future__ import annotations

import re

import pytest
from referee import jax_version

from pallas_lsp.pages import RulePage, load_rule_page


def page_of(rule_id: str) -> RulePage:
    """The page of a rule that has one."""
    page = load_rule_page(rule_id)
    assert page is not None
    return page


def marked_line(page: RulePage) -> int:
    """The line of the example that carries the mark ``# error: [id]``, once."""
    lines = [number for number, line in enumerate(page.example.splitlines(), 1) if f"# error: [{page.id}]" in line]
    assert len(lines) == 1
    return lines[0]


def quotes(message: str, shown: str) -> bool:
    """Whether JAX's text ``shown`` is the page's ``message``, with values in its holes."""
    fixed = re.split(r"\{[^{}]*\}", message)
    return re.search(".*?".join(map(re.escape, fixed)), shown, re.DOTALL) is not None


def has_its_names(page: RulePage) -> bool:
    """Whether the installed JAX has the names that the examples of a page use."""
    return page.needs is None or jax_version() >= tuple(map(int, page.needs.split(".")))


def is_refused_by_this_jax(page: RulePage) -> bool:
    """Whether the page says that the installed JAX refuses the example before compiling it."""
    return page.stage in ("trace", "lower") and holds_for_this_jax(page)


def holds_for_this_jax(page: RulePage) -> bool:
    """Whether the page is about the installed JAX."""
    since, until = (tuple(map(int, v.split("."))) if v else None for v in (page.since, page.until))
    return (since is None or jax_version() >= since) and (until is None or jax_version() < until)


def named(claims: list[tuple]) -> list:
    """A parameter for each claim, under a name that one can read."""
    return [pytest.param(*claim[2:], id=f"{claim[0]}: {claim[1]}") for claim in claims]

"""``pallas-lsp explain``: the page of a rule, found by its id or by what JAX said."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ..errors import CannotRun, did_you_mean
from ..pages import find_rules_by_message, load_rule_page, plain, rule_ids
from .options import Parser

_MOST_PAGES = 3


def run(arguments: Sequence[str]) -> int:
    """Print the page of the rule, or of the rules whose JAX message is quoted, best first; CannotRun where there is none."""
    parser = Parser("explain", "Explain a rule, or what JAX said.")
    parser.add_argument("what", nargs="+", metavar="RULE|MESSAGE", help="the id of a rule, or any part of a JAX error message")
    words = " ".join(parser.read(arguments).what)
    found = [words] if words in rule_ids() else find_rules_by_message(words)
    if not found:
        near = did_you_mean(words, rule_ids())
        raise CannotRun(f"no rule and no known message of JAX is called {words!r}{near} (pallas-lsp rules lists the rules)")
    pages = [page for rule in found[:_MOST_PAGES] if (page := load_rule_page(rule)) is not None]
    sys.stdout.write("\n".join(plain(page) for page in pages))
    if len(found) > _MOST_PAGES:
        print(f"\nSee also: {', '.join(found[_MOST_PAGES:])}")
    return 0

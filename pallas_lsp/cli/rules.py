"""``pallas-lsp rules``: every rule in one line."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from ..pages import load_rule_page, rule_ids
from ..rules import RULES
from .options import Parser


def run(arguments: Sequence[str]) -> int:
    """Print id, severity and summary of the rules that `check` runs; there are pages about more of JAX's messages than these."""
    parser = Parser("rules", "List the rules.")
    parser.add_argument("--output-format", choices=("text", "json"), default="text", help="how to print them (default: %(default)s)")
    options = parser.read(arguments)
    pages = [page for rule in rule_ids() if (page := load_rule_page(rule)) is not None and (rule in RULES or page.stage == "none")]
    if options.output_format == "json":
        table = [{"code": page.id, "severity": page.severity, "summary": page.summary} for page in pages]
        sys.stdout.write(json.dumps(table, indent=2) + "\n")
        return 0
    width = max((len(page.id) for page in pages), default=0)
    sys.stdout.write("".join(f"{page.id:{width}}  {page.severity:7}  {page.summary}\n" for page in pages))
    return 0

"""The pages: one for each rule, one for each name of the Pallas API.

A page is a Markdown file with a head of ``key: value`` lines (a key may be repeated) between ``---`` lines. It is read when it is
first asked for and kept. `load_rule_page` and `load_api_page` read one file; `find_rules_by_message` reads every rule's.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ._message import agreement

if TYPE_CHECKING:

    from ..rules.diagnostic import Severity

_FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class RulePage:
    """What a rule says, and why.

    ``jax_messages``: the texts JAX shows, ``{…}`` where they vary, several where JAX versions or spellings differ, none where JAX shows no
    text. ``target``: the chip whose compiler refuses the example, where it is not every one's. ``raises_instead``: what JAX shows when it
    never gets as far as the rule's own message. ``needs``: the first JAX version with the names that the examples use. ``stage``: what
    finds it in JAX, ``trace``, ``lower``, ``compile`` (JAX lowers it, the TPU compiler refuses it) or ``run`` (nothing refuses it), or
    ``none`` for a rule about the tool's own comments. ``since``: first JAX version it holds for, ``until``: first one it no longer holds
    for. ``repeats_type_checkers``: Python's type checkers report it too, from JAX's own annotations. ``example`` and ``use_instead`` are
    whole modules; the faulty line of the first carries ``# error: [id]``.
    """

    id: str
    severity: Severity
    summary: str
    stage: str
    jax_messages: tuple[str, ...]
    raises_instead: str | None
    exceptions: tuple[str, ...]
    since: str | None
    until: str | None
    target: str | None
    needs: str | None
    repeats_type_checkers: bool
    docs: str
    body: str
    example: str
    use_instead: str

    @property
    def jax_message(self) -> str | None:
        """The text by which most people will know this rule."""
        return self.jax_messages[0] if self.jax_messages else None


@dataclass(frozen=True, slots=True)
class ApiPage:
    """What a name of JAX's Pallas API is; ``names`` are the public dotted names that the page is about."""

    names: tuple[str, ...]
    body: str


@functools.cache
def rule_ids() -> tuple[str, ...]:
    """The ids of all rules that have a page, in alphabetical order."""
    return _stems("rules")


@functools.cache
def load_rule_page(rule_id: str) -> RulePage | None:
    """The page of the rule, or None where there is no such rule."""
    if rule_id not in rule_ids():
        return None
    head, body = _read("rules", rule_id)
    severity: Severity = head["severity"][0]  # type: ignore[assignment]
    return RulePage(
        id=rule_id,
        severity=severity,
        summary=head["summary"][0],
        stage=head["stage"][0],
        jax_messages=head.get("jax-message", ()),
        raises_instead=_only(head, "raises-instead"),
        exceptions=head.get("exception", ()),
        since=_only(head, "since"),
        until=_only(head, "until"),
        target=_only(head, "target"),
        needs=_only(head, "needs"),
        repeats_type_checkers="type-checkers" in head,
        docs=head["docs"][0],
        body=body,
        example=_code(_section(body, "Example")),
        use_instead=_code(_section(body, "Use instead")),
    )


def rule_page_path(rule_id: str) -> Path | None:
    """The file of the rule's page; None where there is no such rule."""
    return _folder("rules") / f"{rule_id}.md" if rule_id in rule_ids() else None


@functools.cache
def repeats_type_checkers() -> frozenset[str]:
    """The ids of the rules that Python's type checkers report too."""
    return frozenset(rule for rule in rule_ids() if (page := load_rule_page(rule)) and page.repeats_type_checkers)


@functools.cache
def load_api_page(canonical_name: str) -> ApiPage | None:
    """The page about a public dotted name such as ``jax.experimental.pallas.BlockSpec``, or None."""
    stem = canonical_name.rpartition(".")[2]
    if stem in _stems("api") and canonical_name in (page := _api_page(stem)).names:  # most pages are called as what they are about
        return page
    return next((page for page in map(_api_page, _stems("api")) if canonical_name in page.names), None)


def find_rules_by_message(text: str) -> list[str]:
    """The ids of the rules whose JAX message ``text`` quotes, wholly or in part, best first.

    ``text`` may be a whole message with real shapes in place of the page's ``{…}``, a message in a traceback, or a few words out
    of one; case, quotes and white space do not matter. The bare name of an exception, which is all that JAX shows where its message is
    empty, stands for the rules that raise it, those without a message first.
    """
    found = []
    bare = re.fullmatch(r"(?:\w+\.)*(\w+):?", text.strip())
    raised = bare[1] if bare is not None else None
    pages = [page for page in map(load_rule_page, rule_ids()) if page is not None and raised in page.exceptions]
    if pages:
        return [page.id for page in sorted(pages, key=lambda page: bool(page.jax_messages))]
    for rule_id in rule_ids():
        page = load_rule_page(rule_id)
        assert page is not None
        own = max((agreement(message, text) for message in page.jax_messages), default=0)
        shown = agreement(page.raises_instead, text) if page.raises_instead else 0
        if best := max(own, shown):
            found.append((-best, own < best, rule_id))
    return [rule_id for *_, rule_id in sorted(found)]


def markdown(page: RulePage | ApiPage) -> str:
    """The page as Markdown, as an editor shows it."""
    if isinstance(page, ApiPage):
        return page.body
    return "\n\n".join([f"# {page.id}", page.summary, *_jax_says(page), page.body, f"[JAX documentation]({page.docs})"]) + "\n"


def plain(page: RulePage | ApiPage) -> str:
    """The page for a terminal: headings as words, code indented, no marks of Markdown."""
    lines, in_code = [], False
    for line in markdown(page).splitlines():
        if line.startswith("```"):
            in_code = not in_code
        elif in_code:
            lines.append(f"    {line}".rstrip())
        else:
            line = re.sub(r"^#+ (.*)", lambda heading: heading[1] if heading[0].startswith("# ") else heading[1].upper(), line)
            line = re.sub(r"\[([^\]]+)\]\((https?:[^)]+)\)", r"\1: \2", line)
            lines.append(re.sub(r"`+([^`]+?)`+|\*+([^*]+?)\*+", lambda mark: mark[1] or mark[2], line))
    return "\n".join(lines) + "\n"


def _jax_says(page: RulePage) -> list[str]:
    """The paragraphs that quote JAX."""
    raised = f" ({' or '.join(page.exceptions)})" if page.exceptions else ""
    if page.raises_instead:
        return [f"JAX shows{raised}:", _quote(page.raises_instead), "and never comes as far as:", _quote(page.jax_messages[0])]
    if page.jax_messages:
        shows = "The TPU compiler shows" if page.stage == "compile" else "JAX shows"
        return [f"{shows}{raised}:", *map(_quote, page.jax_messages)]
    return [f"JAX raises {' or '.join(page.exceptions)} with an empty message."] if page.exceptions else []


def _quote(message: str) -> str:
    return f"```text\n{message}\n```"


@functools.cache
def _api_page(stem: str) -> ApiPage:
    head, body = _read("api", stem)
    return ApiPage(names=tuple(head["names"][0].strip("[]").split(", ")), body=body)


@functools.cache
def _stems(folder: str) -> tuple[str, ...]:
    return tuple(sorted(entry.name.removesuffix(".md") for entry in _folder(folder).iterdir() if entry.name.endswith(".md")))


def _read(folder: str, stem: str) -> tuple[dict[str, tuple[str, ...]], str]:
    """The head of a page as a table from key to values, and its body."""
    _, head, body = _folder(folder).joinpath(f"{stem}.md").read_text(encoding="utf-8").split("---\n", 2)
    table: dict[str, tuple[str, ...]] = {}
    for line in head.splitlines():
        key, _, value = line.partition(": ")
        table[key] = (*table.get(key, ()), value.strip())
    return table, body.strip()


def _folder(name: str) -> Path:
    return Path(__file__).with_name(name)


def _only(head: dict[str, tuple[str, ...]], key: str) -> str | None:
    return head[key][0] if key in head else None


def _section(body: str, heading: str) -> str:
    """The text under ``## heading``."""
    return body.partition(f"## {heading}\n")[2].partition("\n## ")[0]


def _code(section: str) -> str:
    block = _FENCE.search(section)
    return block[1] if block else ""

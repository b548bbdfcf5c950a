"""What may stand at the cursor where no type checker knows it: memory spaces, dimension semantics, rules in comments that ignore them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from ..interpreter.library.registry import PALLAS, TPU
from ..notes import Notes
from ..pages import load_api_page, load_rule_page, rule_ids
from ..rules.options import SEMANTICS
from ..text.edits import add_import
from ..text.parse import Parsed, parse
from ..text.source import Source
from ..text.span import Edit, Span

_LOOK_BACK: Final = 1000  # code points; what is completed is not far from its name

_RULES = re.compile(r"#\s*pallas:\s*ignore(?:-file)?\s*\[(?P<before>[^\]\n\r]*?)(?P<word>[\w-]*)\Z")
_SPACE = re.compile(r"\bmemory_space\s*=\s*(?P<word>[\w.]*)\Z")
_SEMANTIC = re.compile(
    r"""\bdimension_semantics\s*=\s*[(\[]\s*(?:(?:"\w*"|'\w*'|[\w.]+)\s*,\s*)*(?P<quote>["']?)(?P<word>\w*)\Z""",
)

_SPACES: Final = (
    (f"{TPU}.VMEM", "vector memory: blocks that are computed with"),
    (f"{TPU}.SMEM", "scalar memory: numbers that are read one by one"),
    (f"{PALLAS}.ANY", "left where it is: for copies by hand"),
    (f"{TPU}.HBM", "main memory: for copies by hand"),
    (f"{TPU}.SEMAPHORE", "semaphores"),
)
_MEANINGS: Final = {
    "parallel": "the steps of this dim may run in any order, and on several cores",
    "arbitrary": "the steps of this dim run in order, on one core",
    "core_parallel": "this dim is shared out among the cores of a chip",
    "subcore_parallel": "this dim is shared out among the subcores of a SparseCore",
}


@dataclass(frozen=True, slots=True)
class Completion:
    """``label`` with a line and perhaps a page about it; ``edit`` puts it where its word was begun, ``more`` adds the import it needs."""

    label: str
    detail: str
    edit: Edit
    more: tuple[Edit, ...] = ()
    page: str = ""


def completions(source: Source, offset: int, likely: Collection[str] = ()) -> list[Completion]:
    """What may stand at ``offset``, best first; nothing almost everywhere, which costs no look at more than the text before it.

    ``likely``: rules that a comment on this line may well be about.
    """
    before = source.text[max(offset - _LOOK_BACK, 0) : offset]
    if found := _RULES.search(before):
        return list(_rules(source, _word(source.text, offset, found["word"], r"[\w-]*"), found["before"], likely))
    if found := _SPACE.search(before):
        return list(_spaces(source, parse(source.text), _word(source.text, offset, found["word"], r"[\w.]*")))
    if found := _SEMANTIC.search(before):
        quote = "" if found["quote"] else '"'
        span = _word(source.text, offset, found["word"], r"\w*")
        return [Completion(name, _MEANINGS[name], Edit(source.path, span, f"{quote}{name}{quote}")) for name in SEMANTICS]
    return []


def _word(text: str, offset: int, begun: str, letters: str) -> Span:
    """The word at ``offset``, of which ``begun`` stands before it."""
    rest = re.compile(letters).match(text, offset)
    return Span(offset - len(begun), rest.end() if rest else offset)


def _rules(source: Source, span: Span, before: str, likely: Collection[str]) -> Iterator[Completion]:
    there = set(re.findall(r"[\w-]+", before))
    for rule in sorted(set(rule_ids()) - there, key=lambda rule: (rule not in likely, rule)):
        page = load_rule_page(rule)
        assert page is not None, "it is one of the ids"
        yield Completion(rule, page.summary, Edit(source.path, span, rule))


def _spaces(source: Source, parsed: Parsed, span: Span) -> Iterator[Completion]:
    imports = {target.dotted: name for name, target in Notes.empty(source, parsed).imports.items()}
    for dotted, meaning in _SPACES:
        module, _, name = dotted.rpartition(".")
        more = () if imports.keys() & {dotted, module} else _importing(source, parsed, module)
        text = imports.get(dotted) or f"{imports.get(module) or _ALIASES[module][2]}.{name}"
        page = load_api_page(dotted)
        yield Completion(text, meaning, Edit(source.path, span, text), more, page.body if page else "")


_ALIASES: Final = {PALLAS: ("jax.experimental", "pallas", "pl"), TPU: ("jax.experimental.pallas", "tpu", "pltpu")}
"""How the modules are imported by habit."""


def _importing(source: Source, parsed: Parsed, module: str) -> tuple[Edit, ...]:
    edit = add_import(source, parsed.tree, *_ALIASES[module])
    return (edit,) if edit else ()

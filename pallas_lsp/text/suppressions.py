"""Comments that silence findings: ``# pallas: ignore[rule-a, rule-b]`` and ``# pallas: ignore-file[rule]``.

Without brackets a comment silences every rule. ``ignore`` counts for findings whose first or last line it is on, and
for findings of the statement (or decorator) on whose first line it is: behind ``def``, for the header and not for the body.
Alone on a line above a statement it counts for nothing. ``ignore-file`` counts for the whole file from anywhere in it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from .parse import Parsed, parse
from .source import Source
from .span import Edit, Span

# In text that Python accepts, a hash or quote that no earlier match swallowed starts a comment or a string.
COMMENT_OR_STRING = re.compile(
    r"""(?P<comment>\#[^\r\n]*)"""
    r"""|\"""(?:\\.|[^\\])*?\"""|'''(?:\\.|[^\\])*?'''"""
    r"""|"(?:\\(?:\r\n|.)|[^"\\\r\n])*"?|'(?:\\(?:\r\n|.)|[^'\\\r\n])*'?""",
    re.DOTALL,
)
_DIRECTIVE = re.compile(r"#\s*pallas:\s*(?P<verb>ignore-file|ignore)(?![\w-])(?:\s*\[(?P<rules>[^\[\]#]*)\]|(?!\s*\[))")
_NAME = re.compile(r"[^\s,]+")
# What has to stay on the first two lines: a byte order mark, the interpreter and the encoding.
_LEAD = re.compile(r"\ufeff?(?:#!.*(?:\r\n|\r|\n))?(?:[ \t\f]*#.*?coding[:=][ \t]*[-\w.]+.*(?:\r\n|\r|\n))?")


@dataclass(frozen=True, slots=True)
class Suppression:
    """One comment that silences findings.

    ``span``: from its ``#`` to the closing bracket. ``rules``: the names in its brackets and where they are, None for all rules.
    ``whole_file``: it is an ``ignore-file``.
    """

    span: Span
    line0: int
    whole_file: bool
    rules: tuple[tuple[str, Span], ...] | None

    def covers(self, rule: str) -> bool:
        """Whether it names ``rule`` or all rules."""
        return self.rules is None or any(name == rule for name, _ in self.rules)


@dataclass(frozen=True, slots=True)
class Unused:
    """A comment, or one name in it, that silenced nothing.

    ``rule``: the name that did nothing; None for a whole comment without names or with more than one. ``edit`` removes what
    ``span`` shows, or the whole comment with the white space before it.
    """

    suppression: Suppression
    rule: str | None
    span: Span
    edit: Edit


@dataclass
class Suppressions:
    """The suppressions of one file, and which of them were used."""

    source: Source
    parsed: Parsed
    found: tuple[Suppression, ...]
    _used: set[tuple[Suppression, str | None]] = field(default_factory=set)

    def matches(self, rule: str, span: Span) -> Suppression | None:
        """The suppression that silences a finding of ``rule`` at ``span``, recorded as used; None to report the finding."""
        candidates = [suppression for suppression in self.found if suppression.covers(rule)]
        if not candidates:
            return None
        lines = self.lines_for(span)
        near = [suppression for suppression in candidates if not suppression.whole_file and suppression.line0 in lines]
        wide = [suppression for suppression in candidates if suppression.whole_file]
        for suppression in [*near, *wide]:
            self._used.add((suppression, rule if suppression.rules is not None else None))
            return suppression
        return None

    def lines_for(self, span: Span) -> tuple[int, ...]:
        """The lines where an ``ignore`` comment counts for a finding at ``span``."""
        last = max(span.start, span.end - 1)
        return self.source.line_of(span.start), self.source.line_of(last), self._first_line(span.start)

    def suppress(self, rule: str, span: Span) -> Edit | None:
        """The edit that silences ``rule`` at ``span``: a new comment, or one more name in the brackets of one that is there.

        None where no line can take a comment (inside a string, before a continued line).
        """
        for line0 in self.lines_for(span):
            here = [found for found in self.found if found.line0 == line0 and not found.whole_file and found.rules]
            names = here[0].rules if here else None
            at = names[-1][1].end if names else self.source.line_span(line0).end
            content = f", {rule}" if names else f"  # pallas: ignore[{rule}]"
            edited = Source(self.source.path, self.source.text[:at] + content + self.source.text[at:])
            parsed = parse(edited.text)
            if (parsed.error is None) == (self.parsed.error is None) and find_suppressions(edited, parsed).matches(rule, span):
                return Edit(self.source.path, Span(at, at), content)
        return None

    def suppress_in_file(self, rule: str) -> Edit | None:
        """The edit that silences ``rule`` in the whole file: one more name in a comment that does so, or a new comment on top.

        None where the file already has one that silences every rule.
        """
        wide = [found for found in self.found if found.whole_file]
        if any(found.covers(rule) for found in wide):
            return None
        names = next((found.rules for found in wide if found.rules), None)
        if names:
            at = names[-1][1].end
            return Edit(self.source.path, Span(at, at), f", {rule}")
        at = _LEAD.match(self.source.text).end()  # type: ignore[union-attr]  # it matches everywhere
        return Edit(self.source.path, Span(at, at), f"# pallas: ignore-file[{rule}]{self.source.newline}")

    def unused(self, known_rules: Collection[str], checked_rules: Collection[str]) -> list[Unused]:
        """What no finding needed, in order, once every finding has been asked for by ``matches``.

        ``known_rules``: every rule there is; another name never silences anything. ``checked_rules``: those that ran, for
        only their absence means something; a comment without names is judged where all ran. A file with damage gives none.
        """
        if self.parsed.damaged:
            return []
        everything = set(known_rules) <= set(checked_rules)
        unused: list[Unused] = []
        for suppression in self.found:
            if suppression.rules is None:
                if everything and (suppression, None) not in self._used:
                    unused.append(self._whole(suppression))
                continue
            idle = [
                index
                for index, (name, _) in enumerate(suppression.rules)
                if (name not in known_rules or name in checked_rules) and not self._is_used(suppression, index)
            ]
            if len(idle) == len(suppression.rules):
                unused.append(self._whole(suppression))
            else:
                unused += [self._name(suppression, index, idle) for index in idle]
        return unused

    def _is_used(self, suppression: Suppression, index: int) -> bool:
        """Whether the name at ``index`` silenced a finding; of a name that is written twice, the first did."""
        names = [name for name, _ in suppression.rules or ()]
        return (suppression, names[index]) in self._used and names.index(names[index]) == index

    def _whole(self, suppression: Suppression) -> Unused:
        rules = suppression.rules or ()
        rule = rules[0][0] if len(rules) == 1 else None
        return Unused(suppression, rule, suppression.span, Edit(self.source.path, self._removal(suppression.span), ""))

    def _name(self, suppression: Suppression, index: int, idle: list[int]) -> Unused:
        """One name of several: it goes with the comma after it, or before it where a name that stays comes earlier."""
        rules = suppression.rules or ()
        rule, span = rules[index]
        if any(earlier not in idle for earlier in range(index)):
            removal = Span(rules[index - 1][1].end, span.end)
        else:
            removal = Span(span.start, rules[index + 1][1].start)
        return Unused(suppression, rule, span, Edit(self.source.path, removal, ""))

    def _removal(self, comment: Span) -> Span:
        """The comment with its remarks and the white space before it; the whole line where nothing else is on it."""
        line0 = self.source.line_of(comment.start)
        line = self.source.line_span(line0)
        next_hash = self.source.text.find("#", comment.end, line.end)
        if next_hash >= 0:
            return Span(comment.start, next_hash)
        before = self.source.text[line.start : comment.start].rstrip(" \t\f")
        if before:
            return Span(line.start + len(before), line.end)
        return Span(line.start, self.source.line_span(line0 + 1).start)

    def _first_line(self, offset: int) -> int:
        """The first line of the innermost statement or decorator around ``offset``; the offset's own where there is none."""
        line0 = self.source.line_of(offset)
        body: list[ast.AST] = list(self.parsed.tree.body)
        while body:
            inner: list[ast.AST] = []
            for node in body:
                for decorator in getattr(node, "decorator_list", ()):
                    if offset in self.source.span_of(decorator):
                        return self.source.line_of(self.source.span_of(decorator).start)
                if offset in self.source.span_of(node):
                    line0 = self.source.line_of(self.source.span_of(node).start)
                    inner = list(_blocks(node))
                    break
            body = inner
        return line0


def find_suppressions(source: Source, parsed: Parsed) -> Suppressions:
    """The suppression comments of ``source``, whose tree ``parsed`` is; those inside damage do not count.

    Costs one substring search in a file without any.
    """
    found: list[Suppression] = []
    if "pallas:" in source.text:
        for token in COMMENT_OR_STRING.finditer(parsed.text):
            if token["comment"]:
                found += _read_comment(source, token.start("comment"), token.end("comment"))
    return Suppressions(source, parsed, tuple(found))


def _read_comment(source: Source, start: int, end: int) -> Iterator[Suppression]:
    for match in _DIRECTIVE.finditer(source.text, start, end):
        rules = None
        if match["rules"] is not None:
            names = _NAME.finditer(source.text, match.start("rules"), match.end("rules"))
            rules = tuple((name.group(), Span(name.start(), name.end())) for name in names)
        span = Span(match.start(), match.end())
        yield Suppression(span, source.line_of(span.start), match["verb"] == "ignore-file", rules)


def _blocks(node: ast.AST) -> Iterator[ast.AST]:
    """The statements, exception handlers and cases directly inside a compound statement."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        children = getattr(node, name, ())
        if isinstance(children, list):
            yield from children

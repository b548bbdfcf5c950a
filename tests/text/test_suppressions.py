"""Which findings a comment silences, and which comments silence nothing."""

from __future__ import annotations

import ast
import io
import re
import tokenize

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text.samples import KERNELS

from pallas_lsp.text.edits import apply
from pallas_lsp.text.parse import parse
from pallas_lsp.text.source import Source
from pallas_lsp.text.span import Span
from pallas_lsp.text.suppressions import Suppressions, find_suppressions

SCRAPS = ['"', "'", '"""', "'''", "#", "\\", "\n", "\r\n", "a", "r", " ", "# pallas: ignore"]
RULES = frozenset({"rule-a", "rule-b", "rule-c"})


def suppressions(text: str) -> Suppressions:
    return find_suppressions(Source("f.py", text), parse(text))


def silenced(text: str, mark: str, rule: str = "rule-a") -> bool:
    """Whether a finding of ``rule`` on the text ``mark`` is silenced."""
    start = text.index(mark)
    return suppressions(text).matches(rule, Span(start, start + len(mark))) is not None


@pytest.mark.parametrize(
    ("comment", "rules"),
    [
        ("# pallas: ignore[rule-a]", {"rule-a"}),
        ("#pallas:ignore [ rule-a ,rule-b,]", {"rule-a", "rule-b"}),
        ("# pallas: ignore", RULES),
        ("# pallas: ignore: it is fine", RULES),
        ("# pallas: ignore[rule-a] because of #12", {"rule-a"}),
        ("# noqa: E501  # pallas: ignore[rule-b]  # type: ignore", {"rule-b"}),
        ("# pallas: ignore[rule-a] # pallas: ignore[rule-c]", {"rule-a", "rule-c"}),
        ("# pallas: ignore[]", set()),
        ("# pallas: ignore[rule-a", set()),
        ("# pallas: ignored", set()),
        ("# pallas: ignore-next[rule-a]", set()),
        ("# the pallas: ignore comment", set()),
        ("# Pallas: ignore", set()),
    ],
)
def test_what_a_comment_names(comment: str, rules: set[str]) -> None:
    assert {rule for rule in RULES if silenced(f"x = 1  {comment}\n", "x = 1", rule)} == rules
    file_wide = comment.replace("ignore[", "ignore-file[").replace("ignore ", "ignore-file ")
    if "ignore-file[" in file_wide:
        assert {rule for rule in RULES if silenced(f"x = 1\n\n{file_wide}\n", "x = 1", rule)} == rules


def test_a_bare_file_comment_silences_all_rules_everywhere() -> None:
    assert silenced("x = 1\ndef f():\n    # pallas: ignore-file\n    pass\n", "x", "rule-c")


MULTILINE = """\
@decorate(  # D
    first,
    second,
)
def f(  # F
    parameter=default,
):  # H
    with one(  # W
        inner,
    ):
        call(  # C
            argument,
            [
                deep,  # own
                last,
            ],
        )  # end
        # above
        target = value
    try:
        pass
    except (  # E
        Problem,
    ):
        pass
"""


@pytest.mark.parametrize(
    ("mark", "lines"),
    [
        ("second", {"D"}),
        ("default", {"F"}),
        ("inner", {"W"}),
        ("argument", {"C"}),
        ("deep", {"C", "own"}),
        ("last", {"C"}),
        ("[\n                deep,  # own\n                last,\n            ],\n        )", {"C", "end"}),
        ("call(  # C", {"C"}),
        ("target", set()),
        ("Problem", {"E"}),
    ],
)
def test_a_comment_counts_on_its_line_and_on_the_statements_first(mark: str, lines: set[str]) -> None:
    found = set()
    for name in ("D", "F", "H", "W", "C", "own", "end", "above", "E"):
        text = MULTILINE.replace(f"# {name}\n", "# pallas: ignore[rule-a]\n")
        assert text != MULTILINE
        start = text.index(mark.replace(f"# {name}", "# pallas: ignore[rule-a]"))
        length = len(mark.replace(f"# {name}", "# pallas: ignore[rule-a]"))
        if suppressions(text).matches("rule-a", Span(start, start + length)):
            found.add(name)
    assert found == lines


def test_words_in_strings_and_in_damage_do_not_count() -> None:
    assert not silenced('x = "# pallas: ignore"\n', "x")
    assert not silenced('x = """\n# pallas: ignore-file\n"""\n', "x")
    assert not silenced("x = 'it''s' \"#\" '# pallas: ignore'\n", "x")
    assert not silenced("x = f'{y!r:>{z}} # pallas: ignore'\n", "x")
    assert silenced("x = '\\''  # pallas: ignore\n", "x")
    assert silenced("x = r'\\'  # pallas: ignore'  # pallas: ignore\n", "x")
    assert silenced('x = "" ""  # pallas: ignore\n', "x")
    assert not suppressions("x = (  # pallas: ignore\n").found


@pytest.mark.filterwarnings("ignore:invalid escape")
@given(st.lists(st.sampled_from(SCRAPS), max_size=14).map("".join))
def test_comments_are_those_of_the_tokenizer(text: str) -> None:
    try:
        ast.parse(text)
        tokens = list(tokenize.generate_tokens(io.StringIO(text, newline="").readline))
    except (SyntaxError, tokenize.TokenError):
        return
    comments = [token for token in tokens if token.type == tokenize.COMMENT and re.match(r"# pallas: ignore(?!\w)", token.string)]
    source = Source("f.py", text)
    # Comments that start with the words; others hold them behind a second `#`.
    starts = {source.offset(token.start[0] - 1, token.start[1]) for token in comments}
    found = {suppression.span.start for suppression in suppressions(text).found}
    assert starts <= found
    lines = {token.start[0] - 1 for token in tokens if token.type == tokenize.COMMENT}
    assert {source.line_of(start) for start in found} <= lines


def test_the_nearest_comment_is_used_and_the_other_is_not() -> None:
    found = suppressions("# pallas: ignore-file[rule-a]\nx = 1  # pallas: ignore[rule-a]\n")
    used = found.matches("rule-a", Span(30, 31))
    assert used is not None
    assert not used.whole_file
    assert [unused.suppression.whole_file for unused in found.unused(RULES, RULES)] == [True]


def unused_texts(text: str, used: tuple[str, ...] = (), checked: frozenset[str] = RULES) -> list[tuple[str | None, str, str]]:
    """Per unused suppression: its rule, the text it shows, and the file's text once its edit is made."""
    found = suppressions(text)
    for rule in used:
        assert found.matches(rule, Span(0, 1))
    return [(unused.rule, text[unused.span.start : unused.span.end], apply(text, [unused.edit])) for unused in found.unused(RULES, checked)]


@pytest.mark.parametrize(
    ("text", "used", "expected"),
    [
        ("x  # pallas: ignore[rule-a]\n", ("rule-a",), []),
        ("x  # pallas: ignore\n", ("rule-b",), []),
        ("x  # pallas: ignore\n", (), [(None, "# pallas: ignore", "x\n")]),
        ("x  # pallas: ignore[rule-a]\n", (), [("rule-a", "# pallas: ignore[rule-a]", "x\n")]),
        ("x  # pallas: ignore[rule-a] for now\n", (), [("rule-a", "# pallas: ignore[rule-a]", "x\n")]),
        ("x  # pallas: ignore[no-rule]  # noqa\n", (), [("no-rule", "# pallas: ignore[no-rule]", "x  # noqa\n")]),
        ("x  # noqa # pallas: ignore[]\r\n", (), [(None, "# pallas: ignore[]", "x  # noqa\r\n")]),
        ("x\n  # pallas: ignore[rule-a, rule-b]\ny\n", (), [(None, "# pallas: ignore[rule-a, rule-b]", "x\ny\n")]),
        ("x\n# pallas: ignore-file", (), [(None, "# pallas: ignore-file", "x\n")]),
        ("x  # pallas: ignore[rule-a, rule-b]\n", ("rule-a",), [("rule-b", "rule-b", "x  # pallas: ignore[rule-a]\n")]),
        ("x  # pallas: ignore[rule-a, rule-b]\n", ("rule-b",), [("rule-a", "rule-a", "x  # pallas: ignore[rule-b]\n")]),
        ("x  # pallas: ignore[rule-a,rule-a]\n", ("rule-a",), [("rule-a", "rule-a", "x  # pallas: ignore[rule-a]\n")]),
        ("x  # pallas: ignore[no-rule, rule-a]\n", ("rule-a",), [("no-rule", "no-rule", "x  # pallas: ignore[rule-a]\n")]),
    ],
)  # fmt: skip
def test_what_is_unused_and_how_it_goes(text: str, used: tuple[str, ...], expected: list[tuple[str | None, str, str]]) -> None:
    assert unused_texts(text, used) == expected


@given(st.permutations(["rule-a", "rule-b", "rule-c", "no-rule"]), st.sets(st.sampled_from(sorted(RULES)), min_size=1))
def test_all_unused_names_go_together_and_the_used_stay(names: list[str], used: set[str]) -> None:
    text = f"x  # pallas: ignore[{', '.join(names)}]\n"
    found = suppressions(text)
    for rule in used:
        found.matches(rule, Span(0, 1))
    edited = apply(text, [unused.edit for unused in found.unused(RULES, RULES)])
    assert edited == f"x  # pallas: ignore[{', '.join(name for name in names if name in used)}]\n"


def test_only_rules_that_ran_can_be_unused() -> None:
    text = "x  # pallas: ignore[rule-a, rule-b, no-rule]\n"
    assert [rule for rule, _, _ in unused_texts(text, checked=frozenset({"rule-b"}))] == ["rule-b", "no-rule"]
    assert unused_texts("x  # pallas: ignore\n", checked=frozenset({"rule-b"})) == []


def test_a_damaged_file_has_no_unused_comments() -> None:
    assert unused_texts("x  # pallas: ignore\ny = (\n") == []


@pytest.mark.parametrize("name", KERNELS)
def test_a_finding_anywhere_in_a_kernel_can_be_silenced(name: str) -> None:
    text = KERNELS[name]
    source = Source(f"{name}.py", text)
    found = find_suppressions(source, parse(text))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call | ast.Subscript):
            span = source.span_of(node)
            edit = found.suppress("rule-a", span)
            assert edit is not None
            edited = Source(source.path, apply(text, [edit]))
            again = find_suppressions(edited, parse(edited.text))
            assert ast.dump(ast.parse(edited.text)) == ast.dump(ast.parse(text))
            assert again.matches("rule-a", span)
            assert not again.matches("rule-b", span)


def test_a_rule_is_added_to_the_comment_that_is_there() -> None:
    text = "x[0]  # pallas: ignore[rule-a] slow\n"
    edit = suppressions(text).suppress("rule-b", Span(0, 4))
    assert edit is not None
    assert apply(text, [edit]) == "x[0]  # pallas: ignore[rule-a, rule-b] slow\n"


def test_no_comment_where_none_can_stand() -> None:
    text = 'x = y \\\n    + f"""\n{z}\n""" \\\n    + 1\n'
    assert suppressions(text).suppress("rule-a", Span(text.index("{z}"), text.index("{z}") + 3)) is None

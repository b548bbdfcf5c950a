"""What hover says of a finding, of values, and of names of the library."""

from __future__ import annotations

from dataclasses import replace

import pytest
from features.analysed import PATH, analysed, span_of
from small_kernel import BAD, HEAD

from pallas_lsp.analysis import Analysis
from pallas_lsp.features.hover import hover
from pallas_lsp.pages import load_api_page
from pallas_lsp.rules.diagnostic import Diagnostic, Fix, Related
from pallas_lsp.text.span import Location, Span


@pytest.fixture(scope="module")
def bad() -> Analysis:
    return analysed(BAD)


def shown(analysis: Analysis, needle: str, inside: int = 0) -> tuple[str, str] | None:
    """The Markdown for the place of ``needle``, and the text that it is about."""
    found = hover(analysis, analysis.source.text.index(needle) + inside)
    return (found.markdown, analysis.source.slice(found.span)) if found else None


def test_a_finding_says_what_jax_says_and_why(bad: Analysis) -> None:
    found = shown(bad, "o_ref[0, 0]", inside=6)
    assert found is not None
    markdown, about = found
    assert about == "o_ref[0, 0]"
    assert markdown.startswith("**error** `store-scalar-to-vmem`: ")
    assert "```text\nCannot store scalars to VMEM\n```" in markdown
    assert "scalar" in markdown.partition("```\n\n")[2], "and the reason after it"
    assert "https://docs.jax.dev/" in markdown


def test_a_ref_says_shape_dtype_space_and_where_it_comes_from(bad: Analysis) -> None:
    found = shown(bad, "o_ref[0, 0]")
    assert found is not None
    markdown, about = found
    assert about == "o_ref", "the narrowest of what there is to say"
    line = BAD[: BAD.index("out_specs")].count("\n") + 1
    assert "```python\no_ref: f32[8,128] in VMEM\n```" in markdown and f"(line {line})" in markdown
    assert markdown.index("**error**") < markdown.index("o_ref: f32"), "the finding comes first"


def test_a_value(bad: Analysis) -> None:
    text = BAD.replace("o_ref[0, 0] = jnp.sum(x_ref[...])", "y = x_ref[...]\n    o_ref[...] = y + 1.0")
    found = shown(analysed(text), "y + 1.0")
    assert found is not None and "y: " in found[0] and "[8,128]" in found[0] and found[1] == "y"


def test_a_place_in_another_file_is_told_by_its_name(bad: Analysis) -> None:
    specs = "from jax.experimental import pallas as pl\n\nOUT = pl.BlockSpec((8, 128), lambda: (0, 0))\n"
    text = "import specs\n" + BAD.replace("out_specs=pl.BlockSpec((8, 128), lambda: (0, 0))", "out_specs=specs.OUT")
    found = shown(analysed(text, specs=specs), "o_ref[0, 0]")
    assert found is not None and "(specs.py)" in found[0]


@pytest.mark.parametrize("name", ["BlockSpec", "pallas_call"])
def test_a_name_of_the_library_shows_its_page(bad: Analysis, name: str) -> None:
    page = load_api_page(f"jax.experimental.pallas.{name}")
    found = shown(bad, name, inside=2)
    assert page is not None and found is not None
    assert found[1] == name
    assert found[0].split() == page.body.split(), "the page, with its paragraphs unwrapped"
    assert not any(line.endswith(" ") for line in found[0].splitlines())


def test_nothing_is_said_of_other_text(bad: Analysis) -> None:
    assert shown(bad, "import jax") is None
    assert hover(bad, len(BAD)) is None
    assert hover(analysed("x = 1\n"), 0) is None


def test_messages_are_shown_as_they_are(bad: Analysis) -> None:
    span = span_of(BAD, "o_ref[0, 0]")
    message = "`*refs` and *args, [8, 128] < [16, 128], __x__ \\ `a_b`"
    fix = Fix("Use x*y*z", "unsafe", ())
    finding = Diagnostic("no-such-rule", "warning", message, Location(PATH, span), (Related(Location(PATH, Span(0, 1)), "x"),), (fix,))
    found = hover(replace(bad, diagnostics=[finding]), span.start + 6)
    assert found is not None
    assert r"`*refs` and \*args, \[8, 128] \< \[16, 128], \_\_x\_\_ \\ `a_b`" in found.markdown
    assert r"- Fix (unsafe): Use x\*y\*z" in found.markdown


def test_findings_of_other_files_are_not_shown(bad: Analysis) -> None:
    moved = [replace(finding, location=replace(finding.location, path="/project/other.py")) for finding in bad.diagnostics]
    found = hover(replace(bad, diagnostics=moved), BAD.index("o_ref[0, 0]"))
    assert found is not None and "**error**" not in found.markdown


def test_every_offset_has_an_answer(bad: Analysis) -> None:
    broken = analysed(HEAD + "def kernel(x_ref, o_ref:\n    o_ref[0, 0] = jnp.sum(𝛼\n" + "x = pl.\n")
    for analysis in (bad, broken):
        for offset in range(len(analysis.source.text) + 1):
            found = hover(analysis, offset)
            assert found is None or found.span.start <= offset <= found.span.end

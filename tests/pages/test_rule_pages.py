"""Every rule page is a test: JAX refuses its example with its message on the marked line, and lowers what to use instead."""

from __future__ import annotations

import ast
import functools
import importlib.util
import re
from pathlib import Path

import pytest
from pages.reading import has_its_names, holds_for_this_jax, is_refused_by_this_jax, marked_line, page_of, quotes
from referee import Verdict, compile_many, libtpu_installed, lower

from pallas_lsp.pages import find_rules_by_message, rule_ids

HEADINGS = ["What it means", "Why JAX refuses it", "Example", "Use instead", "When the tool stays silent", "Sources"]
IDS = rule_ids()
TRIED = [rule_id for rule_id in IDS if has_its_names(page_of(rule_id))]
COMPILED = [rule_id for rule_id in IDS if page_of(rule_id).stage == "compile"]
QUOTED = [rule_id for rule_id in TRIED if is_refused_by_this_jax(page_of(rule_id)) and page_of(rule_id).jax_messages]


@pytest.mark.parametrize("rule_id", IDS)
def test_head_and_headings(rule_id: str) -> None:
    page = page_of(rule_id)
    headings = re.findall(r"^## (.*)$", page.body, re.MULTILINE)
    assert [heading for heading in headings if heading != "Quick fix"] == HEADINGS
    assert "Quick fix" not in headings or headings.index("Quick fix") == HEADINGS.index("Use instead") + 1
    assert page.severity in ("error", "warning", "info")
    assert page.stage in ("trace", "lower", "compile", "run", "none")
    assert page.severity != "error" or page.stage in ("trace", "lower")
    assert page.docs.startswith("https://docs.jax.dev/en/latest/")
    assert page.summary.endswith(".") and len(page.summary) <= 140
    assert page.raises_instead is None or page.jax_messages


@pytest.mark.parametrize("rule_id", IDS)
def test_example_and_use_instead_are_short_whole_modules(rule_id: str) -> None:
    page = page_of(rule_id)
    marked_line(page)
    for source in (page.example, page.use_instead):
        names = {node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
        assert "run" in names and "\nARGS = " in source and len(source.splitlines()) <= 40
        assert unused_imports(source) == set()
    assert f"# error: [{rule_id}]" not in page.use_instead


def unused_imports(source: str) -> set[str]:
    tree = ast.parse(source)
    imported = {
        (alias.asname or alias.name).split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    return imported - {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


@pytest.mark.parametrize("rule_id", TRIED)
def test_jax_refuses_the_example_as_the_page_says(rule_id: str) -> None:
    page = page_of(rule_id)
    verdict = lower(page.example)
    if not is_refused_by_this_jax(page):
        assert verdict.ok or not holds_for_this_jax(page)
        return
    messages = [page.raises_instead] if page.raises_instead else page.jax_messages
    assert not verdict.ok
    # Where JAX versions raise different exceptions, the page states the earliest stage.
    later = ("lower",) if page.stage == "trace" and len(page.exceptions) > 1 else ()
    assert verdict.stage in (page.stage, *later)
    assert verdict.exc in page.exceptions
    assert any(quotes(message, verdict.message) for message in messages) if messages else not verdict.message, verdict.message
    assert verdict.line == marked_line(page)


@pytest.mark.parametrize("rule_id", TRIED)
def test_jax_lowers_what_to_use_instead(rule_id: str) -> None:
    assert lower(page_of(rule_id).use_instead) == Verdict(ok=True)


@pytest.mark.parametrize("rule_id", TRIED)
def test_sources_name_functions_that_the_installed_jax_has(rule_id: str) -> None:
    sources = page_of(rule_id).body.partition("## Sources\n")[2].strip().splitlines()
    assert sources
    for source in sources:
        cited = re.match(r"- `(jax/[\w/]+\.py)`, `([\w.]+)`", source)
        assert cited, source
        assert cited[2] in definitions(cited[1]), source


@functools.cache
def definitions(path: str) -> set[str]:
    """The names of the functions and classes that a file of the installed JAX defines, methods as ``Class.method``."""
    spec = importlib.util.find_spec("jax")
    assert spec is not None and spec.origin is not None
    tree = ast.parse((Path(spec.origin).parent.parent / path).read_text())
    kinds = ast.FunctionDef | ast.ClassDef
    top = [node for node in ast.walk(tree) if isinstance(node, kinds)]
    methods = {f"{c.name}.{f.name}" for c in top if isinstance(c, ast.ClassDef) for f in c.body if isinstance(f, ast.FunctionDef)}
    return {node.name for node in top} | methods


@pytest.mark.parametrize("rule_id", QUOTED)
def test_what_jax_says_leads_to_the_page(rule_id: str) -> None:
    page = page_of(rule_id)
    message = lower(page.example).message
    found = find_rules_by_message(message)
    assert rule_id in found
    assert found[0] == rule_id or page.raises_instead, found


@pytest.fixture(scope="module")
def compiled() -> dict[tuple[str, str], Verdict]:
    """What libtpu says to the example and to *Use instead* of each page about the TPU compiler."""
    found: dict[tuple[str, str], Verdict] = {}
    for chip in sorted({page_of(rule_id).target or "v5e" for rule_id in COMPILED}):
        about = [rule_id for rule_id in COMPILED if (page_of(rule_id).target or "v5e") == chip]
        keys = [(rule_id, part) for rule_id in about for part in ("example", "use_instead")]
        found |= zip(keys, compile_many([getattr(page_of(rule_id), part) for rule_id, part in keys], chip), strict=True)
    return found


@pytest.mark.libtpu
@pytest.mark.skipif(not libtpu_installed(), reason="libtpu is not installed")
@pytest.mark.parametrize("rule_id", COMPILED)
def test_the_tpu_compiler_agrees_with_pages_about_it(rule_id: str, compiled: dict[tuple[str, str], Verdict]) -> None:
    page, refused = page_of(rule_id), compiled[rule_id, "example"]
    assert refused.stage == "compile" and refused.exc in page.exceptions, refused
    assert any(quotes(message, refused.message) for message in page.jax_messages), refused.message
    # Of whole buffers it says no line, of what a SparseCore runs the call.
    call = next((number for number, line in enumerate(page.example.splitlines(), 1) if "pl.kernel(" in line), None)
    assert refused.line in (marked_line(page), None, call)
    assert compiled[rule_id, "use_instead"] == Verdict(ok=True)

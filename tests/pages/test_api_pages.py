"""The API pages: their form, and that the signatures they show are those of the installed JAX."""

from __future__ import annotations

import ast
import inspect
import operator
import re
import warnings
from typing import Any

import jax
import jax.experimental.pallas
import jax.experimental.pallas.tpu
import pytest
from referee import jax_version

from pallas_lsp import pages
from pallas_lsp.data.names import load_names
from pallas_lsp.pages import ApiPage, load_api_page

PREFIXES = {"jax.experimental.pallas.tpu.": "pltpu.", "jax.experimental.pallas.": "pl.", "jax.": "jax."}
PAGES = {stem: pages._api_page(stem) for stem in pages._stems("api")}


def alias(name: str) -> str:
    """The name as kernels write it: ``jax.experimental.pallas.ds`` is ``pl.ds``."""
    prefix = next(prefix for prefix in PREFIXES if name.startswith(prefix))
    return PREFIXES[prefix] + name.removeprefix(prefix)


def signatures(page: ApiPage) -> dict[str, str]:
    """The signatures that head the page, by dotted name; a page about something that cannot be called has none."""
    block = page.body.split("```")[1].removeprefix("python\n")
    starts = {name: block.find(f"{alias(name)}(") for name in page.names}
    starts = {name: start for name, start in starts.items() if start == 0 or block[start - 1 : start] == "\n"}
    ends = sorted((*starts.values(), len(block)))
    return {name: block[start : ends[ends.index(start) + 1]] for name, start in starts.items()}


def shown(signature: str) -> list[tuple[str, Any]]:
    """Names and kinds of the parameters in a signature of a page that the installed JAX is said to have."""
    marks = re.findall(r"(\w+)=[^,]*,  # since ([\d.]+)", signature)
    later = {name for name, since in marks if tuple(map(int, since.split("."))) > jax_version()}
    function = ast.parse(re.sub(r"^[\w.]+", "def f", signature.strip()) + ": ...").body[0]
    assert isinstance(function, ast.FunctionDef)
    arguments, kind = function.args, inspect.Parameter
    groups = [
        (kind.POSITIONAL_ONLY, arguments.posonlyargs),
        (kind.POSITIONAL_OR_KEYWORD, arguments.args),
        (kind.VAR_POSITIONAL, [arguments.vararg]),
        (kind.KEYWORD_ONLY, arguments.kwonlyargs),
        (kind.VAR_KEYWORD, [arguments.kwarg]),
    ]
    parameters = [(argument.arg, kind) for kind, group in groups for argument in group if argument]
    return [parameter for parameter in parameters if parameter[0] not in later]


def installed(name: str) -> list[tuple[str, Any]]:
    """Names and kinds of the parameters of the thing itself, private ones left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some are deprecated
        thing = operator.attrgetter(name.removeprefix("jax."))(jax)
    if isinstance(thing, jax.experimental.pallas.tpu.MemorySpace):  # called as a method of the enumeration
        return [(p.name, p.kind) for p in list(inspect.signature(type(thing).__call__).parameters.values())[1:]]
    return [(p.name, p.kind) for p in inspect.signature(thing).parameters.values() if not p.name.startswith("_")]


@pytest.mark.parametrize("stem", PAGES)
def test_form(stem: str) -> None:
    page = PAGES[stem]
    before, _, mistakes = page.body.partition("\n\nOften wrong:\n\n")
    assert page.body.startswith("```python\n") and 10 <= len(page.body.splitlines()) <= 35
    assert len(re.findall(r"^- ", mistakes, re.MULTILINE)) == 2
    assert re.search(r"\n\[JAX documentation\]\(https://docs\.jax\.dev/en/latest/[\w/#.-]+\)$", page.body)
    assert stem in {name.rpartition(".")[2] for name in page.names} or stem.capitalize() in page.body
    assert before


@pytest.mark.parametrize("stem", PAGES)
def test_a_page_is_found_by_each_of_its_names_and_knows_the_canonical_one(stem: str) -> None:
    for name in PAGES[stem].names:
        assert load_api_page(name) == PAGES[stem], name
        assert load_names().canonical.get(name, name) in PAGES[stem].names, name


def test_no_name_has_two_pages() -> None:
    names = [name for page in PAGES.values() for name in page.names]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(("name", "signature"), [pair for page in PAGES.values() for pair in signatures(page).items()])
def test_signature(name: str, signature: str) -> None:
    assert shown(signature) == installed(name)


def test_most_pages_show_a_signature() -> None:
    without = {stem for stem, page in PAGES.items() if not signatures(page)}
    assert without == {"ANY", "MemorySpace", "SemaphoreType", "Squeezed", "no_block_spec", "repeat", "swap"}


def test_an_unknown_name_has_no_page() -> None:
    assert load_api_page("jax.numpy.dot") is None
    assert load_api_page("jax.experimental.pallas.mosaic_gpu.SMEM") is None

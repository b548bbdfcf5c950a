"""Loading and showing pages."""

from __future__ import annotations

import subprocess
import sys

import pytest
from pages.reading import page_of

from pallas_lsp.pages import load_api_page, load_rule_page, markdown, plain, rule_ids


def test_fields_of_a_page() -> None:
    page = page_of("swap-scalar-to-vmem")
    assert page.id == "swap-scalar-to-vmem" and page.severity == "error" and page.stage == "lower"
    assert page.jax_message == "Cannot swap scalars to VMEM."
    assert page.raises_instead == "Cannot store scalars to VMEM"
    assert page.exceptions == ("ValueError",)
    assert (page.since, page.until) == (None, None)
    assert page_of("removed-api").since == "0.9.0"
    assert page.body.startswith("## What it means\n")
    assert page.example.startswith("import jax\n") and "jax.ref.swap" in page.example
    assert page.use_instead.startswith("import jax\n") and page.use_instead != page.example


def test_a_page_without_a_message() -> None:
    page = page_of("masked-load")
    assert page.jax_message is None and page.jax_messages == ()
    assert "NotImplementedError with an empty message" in markdown(page)


@pytest.mark.parametrize("rule_id", ["", "no-such-rule", "../api/VMEM", "store-scalar-to-vmem.md"])
def test_an_unknown_rule_has_no_page(rule_id: str) -> None:
    assert load_rule_page(rule_id) is None


def test_rule_ids_are_sorted() -> None:
    assert list(rule_ids()) == sorted(rule_ids()) and "store-scalar-to-vmem" in rule_ids()


def test_markdown_shows_what_jax_says() -> None:
    shown = markdown(page_of("store-scalar-to-vmem"))
    assert shown.startswith("# store-scalar-to-vmem\n\nA scalar is stored")
    assert "JAX shows (ValueError):\n\n```text\nCannot store scalars to VMEM\n```" in shown
    assert shown.endswith("[JAX documentation](https://docs.jax.dev/en/latest/pallas/tpu/details.html#placing-operands-in-smem)\n")
    assert "The TPU compiler shows" in markdown(page_of("strided-last-dim"))
    assert "and never comes as far as:" in markdown(page_of("swap-scalar-to-vmem"))


@pytest.mark.parametrize("rule_id", rule_ids())
def test_plain_has_no_marks_of_markdown(rule_id: str) -> None:
    page = page_of(rule_id)
    shown = plain(page)
    prose = [line for line in shown.splitlines() if not line.startswith("    ")]
    assert not any(line.startswith(("#", "```")) or "**" in line for line in prose)
    assert not any("](http" in line for line in prose)
    assert shown.startswith(f"{rule_id}\n")
    for line in page.example.splitlines():
        assert not line or f"    {line}" in shown.splitlines()
    assert "WHAT IT MEANS" in shown and "SOURCES" in shown


def test_api_pages_show_as_they_are() -> None:
    page = load_api_page("jax.experimental.pallas.BlockSpec")
    assert page is not None and markdown(page) == page.body and plain(page).startswith("    pl.BlockSpec(")


def test_only_what_is_asked_for_is_read() -> None:
    """One rule's page costs one file; nothing heavy is imported for it."""
    program = """
import builtins, io, pathlib, sys
read = []
text = pathlib.Path.read_text
pathlib.Path.read_text = lambda self, *a, **k: (read.append(self.name), text(self, *a, **k))[1]
from pallas_lsp import pages
pages.load_rule_page("store-scalar-to-vmem")
pages.load_api_page("jax.experimental.pallas.tpu.VMEM")
assert read == ["store-scalar-to-vmem.md", "VMEM.md"], read
assert not {"jax", "pygls", "lsprotocol", "jedi"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True)

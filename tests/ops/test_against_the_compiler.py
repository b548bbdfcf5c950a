"""The checker and the TPU compiler on operations in kernels for v5e."""

from __future__ import annotations

import pytest
from checker import findings
from ops.compile_cases import COMPILED, V4
from ops.modules import binary
from referee import compile_many, libtpu_installed, lower

CASES = [pytest.param(rule, source, id=what) for what, rule, source in COMPILED]
OF_THE_CALL = {"block-padding-waste", "dtype-unsupported"}  # what is said of blocks, too


def warnings_of(text: str, target: str | None) -> set[str]:
    """The rules with a finding in a file with this text, in the kernel."""
    return {finding.rule for finding in findings(text, target)} - OF_THE_CALL


@pytest.mark.parametrize(("rule", "source"), CASES)
def test_the_rule_speaks_for_the_chip(rule: str | None, source: str) -> None:
    assert warnings_of(source, "v5e") == ({rule} if rule is not None else set())
    assert warnings_of(source, None) <= warnings_of(source, "v5e")
    assert lower(source).ok


@pytest.mark.parametrize(("rule", "source"), [pytest.param(rule, source, id=what) for what, rule, source in V4])
def test_the_rule_speaks_for_the_oldest_chip(rule: str | None, source: str) -> None:
    assert warnings_of(source, "v4") == ({rule} if rule is not None else set())
    assert not warnings_of(source, "v5e") and not warnings_of(source, None)
    assert lower(source, chip="v4").ok


@pytest.mark.parametrize("what", ["a buffer of float16", "operands of float16"])
def test_one_cause_is_told_once(what: str) -> None:
    text = next((source for name, _, source in COMPILED if name == what), binary("x * y + x", x="f16[64,256]"))
    assert len(findings(text)) == 1


@pytest.mark.libtpu
@pytest.mark.skipif(not libtpu_installed(), reason="libtpu is not installed")
def test_the_compiler_refuses_what_the_rules_speak_of() -> None:
    for (what, rule, _), verdict in zip(COMPILED, compile_many([source for _, _, source in COMPILED]), strict=True):
        assert verdict.ok == (rule is None), (what, verdict)


@pytest.mark.libtpu
@pytest.mark.skipif(not libtpu_installed(), reason="libtpu is not installed")
def test_the_compiler_refuses_for_the_oldest_chip_only() -> None:
    texts = [source for _, _, source in V4]
    for (what, rule, _), old, new in zip(V4, compile_many(texts, "v4"), compile_many(texts, "v5e"), strict=True):
        assert old.ok == (rule is None) and new.ok, (what, old, new)

"""What JAX lowers and the checker warns of: silent mistakes, and what the TPU compiler refuses."""

from __future__ import annotations

import pytest
from call.warning_cases import COMPILED, SILENT
from checker import findings
from referee import Verdict, compile_many, libtpu_installed, lower

CASES = [pytest.param(rules, source, id=what) for what, rules, source in (*SILENT, *COMPILED)]


@pytest.mark.parametrize(("rules", "source"), CASES)
def test_jax_lowers_what_the_checker_warns_of(rules: set[str], source: str) -> None:
    assert lower(source) == Verdict(ok=True)
    found = [finding for finding in findings(source, "v5e") if finding.severity != "info"]
    assert {finding.rule for finding in found} == rules
    assert all(finding.severity == "warning" for finding in found)


@pytest.mark.libtpu
@pytest.mark.skipif(not libtpu_installed(), reason="libtpu is not installed")
def test_the_tpu_compiler_refuses_what_the_checker_warns_of() -> None:
    verdicts = compile_many([source for _, _, source in COMPILED], "v5e")
    refused = {what: not verdict.ok for (what, _, _), verdict in zip(COMPILED, verdicts, strict=True)}
    assert refused == {what: bool(rules) for what, rules, _ in COMPILED}


@pytest.mark.parametrize("what", ["large blocks of arguments", "large scratch from step to step"])
def test_without_a_chip_only_what_exceeds_every_chip_is_told(what: str) -> None:
    source = next(text for name, _, text in COMPILED if name == what)
    larger = source.replace("(2048, 1024)", "(4096, 1024)").replace("8192,1024", "16384,1024").replace("(5120, 1024)", "(10240, 1024)")
    assert [finding.rule for finding in findings(source, None)] == []
    assert [finding.rule for finding in findings(larger, None)] == ["vmem-budget-exceeded"]


def test_what_the_compiler_may_keep_elsewhere_is_told_as_information() -> None:
    source = next(text for name, _, text in COMPILED if name == "large blocks between two operations")
    assert [(finding.rule, finding.severity) for finding in findings(source, "v5e")] == [("vmem-budget-exceeded", "info")]

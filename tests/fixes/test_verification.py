"""A fix is offered only when it was tried, and only for as long as the texts are those it was tried on."""

from __future__ import annotations

import pytest
from fixes.kernels import PATH, analysed, fixes, program

from pallas_lsp import interpreting
from pallas_lsp.analysis import analyze
from pallas_lsp.fixes import verification
from pallas_lsp.interpreter.entry_runs import Taken
from pallas_lsp.interpreter.modules import ModuleFile
from pallas_lsp.resolve.project import Project
from pallas_lsp.rules.diagnostic import Fix
from pallas_lsp.settings import Settings
from pallas_lsp.text.span import Edit, Span

BAD = program("o_ref[0, 0] = jnp.sum(x_ref[...])", out="f32[1,1]")


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The text of each file that is interpreted, in order."""
    seen: list[str] = []
    real = interpreting.run_module

    def counted(machine: object, module: ModuleFile, *others: object) -> list[Taken]:
        seen.append(module.source.text)
        return real(machine, module, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(interpreting, "run_module", counted)
    return seen


def offered(monkeypatch: pytest.MonkeyPatch, text: str, *edits: tuple[str, str]) -> bool:
    """Whether a candidate that replaces each of the texts is offered for the first finding."""
    spans = [Span(text.index(old), text.index(old) + len(old)) for old, _ in edits]
    candidate = Fix("Try this", "safe", tuple(Edit(PATH, span, new) for span, (_, new) in zip(spans, edits, strict=True)))
    monkeypatch.setattr(verification, "candidates", lambda *_: iter([(candidate,)]))
    return [fix.title for fix in analysed(text).diagnostics[0].fixes] == ["Try this"]


def test_a_candidate_that_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    assert offered(monkeypatch, BAD, ("o_ref[0, 0] = jnp", "o_ref[...] = jnp"), ("x_ref[...])", "x_ref[...], keepdims=True)"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("jnp.sum(x_ref[...])", "jnp.max(x_ref[...])"),  # the finding stays
        ("o_ref[0, 0] =", "o_ref[...] ="),  # another comes in its place
        ("o_ref[0, 0] =", "x_ref[...] = x_ref[0]; o_ref ="),  # one comes beside it
        ("o_ref[0, 0] =", "o_ref[0, 0 ="),  # no Python any more
        ("o_ref[0, 0] =", "o_ref[...] = what ="),  # nobody knows
        ("pl.pallas_call(\n        kernel", "pl.pallas_call(\n        lambda *refs: None"),  # the kernel is not run
        ("x_ref, o_ref):", "x_ref, o_ref, p_ref):"),  # the kernel cannot be run
        ("jnp.sum(x_ref[...])", "jnp.sum(x_ref[...] + jnp.zeros((3, 7)))"),  # an operation that JAX refuses
    ],
)
def test_candidates_that_do_not(monkeypatch: pytest.MonkeyPatch, old: str, new: str) -> None:
    assert not offered(monkeypatch, BAD, (old, new))


def test_edits_of_one_place_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not offered(monkeypatch, BAD, ("o_ref[0, 0]", "o_ref[...]"), ("[0, 0]", "[...]"))


def test_a_finding_further_down_the_line_is_not_taken_for_a_new_one() -> None:
    twice = program("o_ref[0, 0] = 1.5; o_ref[0, 0] = 2.5\no_ref[0, 0] = 3.5", out="f32[1,1]")
    assert [found.fixes[0].edits[-1].content for found in analysed(twice).diagnostics] == [")"] * 3


@pytest.mark.parametrize(("load", "moved"), [("jnp.zeros((1, 128))", True), ("x_ref[...]", False)])
def test_a_spec_that_serves_a_vector_too_is_not_moved(load: str, moved: bool) -> None:
    specs = {"in_specs": "[spec]", "out_specs": "[pl.BlockSpec(), spec]"}
    text = program(f"o_ref[...] = {load}\np_ref[0, 0] = 1.5", x="f32[1,128]", out=("f32[1,128]", "f32[1,128]"), **specs)
    text = text.replace("    return pl", "    spec = pl.BlockSpec((1, 128), lambda: (0, 0))\n    return pl")
    assert ("Put `p_ref` in SMEM" in [fix.title for fix in fixes(text)]) == moved


def test_nothing_is_tried_before_somebody_looks(runs: list[str]) -> None:
    (found,) = analysed(BAD).diagnostics
    assert runs == [BAD]
    assert found.fixes
    assert len(runs) == 2
    assert len(found.fixes) == len(found.fixes) == 2
    assert len(runs) == 3
    assert runs[1:] == [text for text in runs if text != BAD]


def test_many_findings_are_tried_together(runs: list[str]) -> None:
    text = program("\n".join(f"o_ref[{row}, 0] = 1.5" for row in range(8)))
    found = analysed(text).diagnostics
    assert len(found) == 8
    assert [finding.fixes[0].title for finding in found] == ["Store a slice of one element to `o_ref`"] * 8
    assert len(runs) == 2
    assert runs[1].count("jnp.full((1,), 1.5)") == 8


def test_many_findings_of_which_one_cannot_be_fixed_so(runs: list[str]) -> None:
    text = program("\n".join(f"o_ref[{row}, 0] = 1.5" for row in range(7)) + "\no_ref[0] = x_ref[0:2, 0]")
    found = analysed(text).diagnostics
    fixable = [bool(finding.fixes) for finding in found if finding.rule == "store-scalar-to-vmem"]
    assert fixable == [True] * 7


def test_the_texts_are_as_before_afterwards(tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("project") / "kernel.py"
    file.write_text(BAD)
    project = Project()
    source = project.read(str(file))
    assert source is not None
    (found,) = analyze(source, project, Settings(jax_version="0.10.2")).diagnostics
    assert len(found.fixes) == 2
    assert not project.is_open(str(file))
    assert project.read(str(file)) == source
    project.set_overlay(str(file), BAD)
    (found,) = analyze(source, project, Settings(jax_version="0.10.2")).diagnostics
    assert len(found.fixes) == 2
    assert project.is_open(str(file))
    assert project.read(str(file)) == source


def test_no_fix_for_a_text_that_has_changed() -> None:
    project = Project(overlay={PATH: BAD})
    source = project.read(PATH)
    assert source is not None
    (found,) = analyze(source, project, Settings(jax_version="0.10.2")).diagnostics
    project.set_overlay(PATH, f"\n{BAD}")
    assert list(found.fixes) == []


def test_no_fix_when_nobody_waits_any_more() -> None:
    left = False
    project = Project(overlay={PATH: BAD + "1 + 1\n" * 200})  # whether to go on is asked now and then
    source = project.read(PATH)
    assert source is not None
    (found,) = analyze(source, project, Settings(jax_version="0.10.2"), lambda: left).diagnostics
    left = True
    assert list(found.fixes) == []
    assert project.read(PATH) == source


def test_what_the_settings_leave_out_counts_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fix must not bring a finding that the user chose not to see."""
    project = Project(overlay={PATH: BAD})
    source = project.read(PATH)
    assert source is not None
    start = BAD.index("o_ref[0, 0]")
    broadcasting = Fix("Broadcast", "safe", (Edit(PATH, Span(start, start + 11), "o_ref[...]"),))
    monkeypatch.setattr(verification, "candidates", lambda *_: iter([(broadcasting,)]))
    settings = Settings(select=frozenset({"store-scalar-to-vmem"}), jax_version="0.10.2")
    (found,) = analyze(source, project, settings).diagnostics
    assert list(found.fixes) == []


def test_a_fix_beside_damage_in_another_function() -> None:
    text = BAD.replace("def run(", "def broken(:\n    pass\n\n\ndef run(")
    assert [fix.title for fix in fixes(text)][:1] == ["Keep the dims of the reduction and store to all of `o_ref`"]

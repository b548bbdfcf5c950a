"""What the rule pages say beside their examples, tried on JAX: other ways out, accesses that are fine, further refusals."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from pages.kernels import DMA, module
from pages.reading import named, page_of
from pages.rule_accepted import ACCEPTED
from pages.rule_compiled import COMPILED
from pages.rule_refused import REFUSED
from referee import Verdict, compile_many, jax_version, libtpu_installed, lower

from pallas_lsp.pages import rule_ids

JAX = jax_version()


def test_claims_are_about_rules_with_a_page() -> None:
    assert {claim[0] for claim in (*ACCEPTED, *REFUSED, *COMPILED)} <= set(rule_ids())


@pytest.mark.parametrize("source", named(ACCEPTED))
def test_jax_accepts(source: str) -> None:
    assert lower(source) == Verdict(ok=True)


@pytest.mark.parametrize(("message", "source"), named(REFUSED))
def test_jax_refuses(message: str, source: str) -> None:
    verdict = lower(source)
    assert not verdict.ok and message in verdict.message, verdict


@pytest.mark.skipif(JAX >= (0, 12), reason="JAX 0.12 checks slices that start at 0")
def test_older_jax_does_not_check_a_slice_that_starts_at_0() -> None:
    assert lower(module("o_ref[...] = x_ref[pl.ds(0, 16)]", out="f32[16,128]")).ok


@pytest.mark.skipif(JAX < (0, 12), reason="JAX before 0.12 does not check slices that start at 0")
def test_jax_checks_a_slice_that_starts_at_0() -> None:
    verdict = lower(module("o_ref[...] = x_ref[pl.ds(0, 16)]", out="f32[16,128]"))
    assert verdict.message == "Out of bound slice: start=0, size=16, stride=1, dim=8."


def test_a_value_sliced_by_pl_ds_at_a_number() -> None:
    verdict = lower(module("o_ref[...] = x_ref[...][pl.ds(0, 4)]", out="f32[4,128]"))
    assert verdict.ok == (JAX >= (0, 12))


def test_a_copy_that_is_no_ref_is_noticed_where_it_starts() -> None:
    source = module("copy = pltpu.make_async_copy(x_ref[...], o_ref, s_ref)\ncopy.start()\ncopy.wait()", scratch=[DMA])
    line = lower(source).line
    assert line is not None and source.splitlines()[line - 1].strip() == "copy.start()"


def test_for_a_strided_copy_jax_names_no_line() -> None:
    verdict = lower(module("pltpu.sync_copy(x_ref.at[pl.ds(0, 8, 2)], o_ref)", x="f32[16,128]", in_specs="[ANY]"))
    assert verdict.line is None and "Strided slices" in verdict.message


def test_interpret_mode_counts_negative_indices_from_the_end() -> None:
    namespace: dict = {}
    exec(module("o_ref[...] = x_ref[-1]", out="f32[128]", interpret="True"), namespace)
    x = np.arange(1024, dtype=np.float32).reshape(8, 128)
    assert np.array_equal(namespace["run"](x), x[-1])


def test_names_are_gone_since_the_versions_in_the_table() -> None:
    import jax.experimental.pallas as pl
    from jax.experimental.pallas import tpu as pltpu

    rows = re.findall(r"^\| (`.*`) \| ([\d.]+) \|", page_of("removed-api").body, re.MULTILINE)
    assert len(rows) == 5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some are still there, on their way out
        for names, since in rows:
            gone = tuple(map(int, since.split("."))) <= JAX
            for module_name, name in re.findall(r"`(\w+)\.(\w+)`", names):
                assert hasattr({"pl": pl, "pltpu": pltpu}[module_name], name) != gone, name


@pytest.fixture(scope="module")
def compiled() -> dict[str, Verdict]:
    sources = [claim[3] for claim in COMPILED]
    return dict(zip(sources, compile_many(sources), strict=True))


@pytest.mark.libtpu
@pytest.mark.skipif(not libtpu_installed(), reason="libtpu is not installed")
@pytest.mark.parametrize(("outcome", "source"), named(COMPILED))
def test_the_tpu_compiler(outcome: bool | str, source: str, compiled: dict[str, Verdict]) -> None:
    verdict = compiled[source]
    assert verdict.ok is True if outcome is True else outcome in f"{verdict.exc}: {verdict.message}", verdict

"""From a kernel's parameter to its spec, from the spec to the operand, from a use to the parameter."""

from __future__ import annotations

import pytest
from features.analysed import analysed
from features.test_places import CALL, KERNEL
from small_kernel import HEAD

from pallas_lsp.analysis import Analysis
from pallas_lsp.features.definition import definition, type_definition
from pallas_lsp.text.span import Location

TEXT = "import functools\n" + HEAD + KERNEL + CALL
X_SPEC = "pl.BlockSpec((8, 128), lambda i, j, n: (i, j))"
O_SPEC = "pl.BlockSpec((None, 8, 128), lambda i, j, n: (0, i, j))"
SCRATCH = "pltpu.VMEM((8, 128), jnp.float32)"


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return analysed(TEXT)


def texts(places: list[Location]) -> list[str]:
    return [TEXT[place.span.start : place.span.end] for place in places]


@pytest.mark.parametrize("inside", range(6))
def test_from_a_parameter_to_its_spec_and_its_operand(analysis: Analysis, inside: int) -> None:
    assert texts(definition(analysis, TEXT.index("x_ref, *rest") + inside)) == [X_SPEC, "x * 2"]


def test_from_parameters_that_come_together_to_all_of_theirs(analysis: Analysis) -> None:
    found = texts(definition(analysis, TEXT.index("rest, scale")))
    assert found == [O_SPEC, "jax.ShapeDtypeStruct((1, 32, 256), jnp.float32)", SCRATCH]


@pytest.mark.parametrize("inside", range(6))
def test_from_a_use_to_the_parameter(analysis: Analysis, inside: int) -> None:
    (place,) = definition(analysis, TEXT.index("x_ref[...]") + inside)
    assert place.span.start == TEXT.index("x_ref, *rest")


@pytest.mark.parametrize(("spec", "inside"), [(X_SPEC, "(8, 128)"), (X_SPEC, ", lambda"), (X_SPEC, "8, 128), l"), (X_SPEC, "lambda i")])
def test_from_a_spec_to_the_parameter_and_the_operand(analysis: Analysis, spec: str, inside: str) -> None:
    found = definition(analysis, TEXT.index(spec) + spec.index(inside))
    assert texts(found) == ["x_ref", "x * 2"]


def test_scratch_has_no_operand(analysis: Analysis) -> None:
    assert texts(definition(analysis, TEXT.index(SCRATCH) + len("pltpu.VMEM("))) == ["rest"]


@pytest.mark.parametrize("name", ["BlockSpec((8", "i, j))]", "scale=2", "jnp.float32)],", "kernel, scale", "x * 2", "run(n"])
def test_names_are_left_to_a_type_checker(analysis: Analysis, name: str) -> None:
    assert definition(analysis, TEXT.index(name)) == []


def test_the_spec_is_the_type_of_a_ref(analysis: Analysis) -> None:
    for use in ("x_ref, *rest", "x_ref[...]"):
        assert texts(type_definition(analysis, TEXT.index(use))) == [X_SPEC]
    assert texts(type_definition(analysis, TEXT.index("o_ref[...]"))) == [O_SPEC]
    assert type_definition(analysis, TEXT.index("x * 2")) == []


def test_without_a_spec_the_call_says_it() -> None:
    text = HEAD + "def kernel(x_ref, o_ref):\n    o_ref[...] = x_ref[...]\n\n\n"
    text += "def run(x):\n    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32))(x)\n"
    spec, operand = definition(analysed(text), text.index("x_ref"))
    assert text[spec.span.start :].startswith("pl.pallas_call(kernel") and text[operand.span.start : operand.span.end] == "x"
    assert definition(analysed(text), text.index(", out_shape")) == [], "the call is no spec"


def test_a_kernel_in_another_file() -> None:
    kernels = "def kernel(x_ref, o_ref):\n    o_ref[...] = x_ref[...]\n"
    text = "import kernels\n" + HEAD + "def run(x):\n    spec = pl.BlockSpec((8, 128), lambda: (0, 0))\n"
    text += "    return pl.pallas_call(kernels.kernel, in_specs=[spec], out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32))(x)\n"
    parameter, operand = definition(analysed(text, kernels=kernels), text.index("(8, 128), lambda"))
    assert (parameter.path, kernels[parameter.span.start : parameter.span.end]) == ("/project/kernels.py", "x_ref")
    assert text[operand.span.start : operand.span.end] == "x"


def test_a_kernel_that_is_called_in_another_file() -> None:
    ops = HEAD + "from kernel import kernel\ndef run(x):\n    spec = pl.BlockSpec((8, 128), lambda: (0, 0))\n"
    ops += "    return pl.pallas_call(kernel, in_specs=[spec], out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32))(x)\n"
    text = "# pallas\ndef kernel(x_ref, o_ref):\n    o_ref[...] = x_ref[...]\n"
    analysis = analysed(text, ops=ops)
    spec, operand = definition(analysis, text.index("x_ref"))
    assert spec.path == operand.path == "/project/ops.py"
    assert ops[spec.span.start : spec.span.end] == "pl.BlockSpec((8, 128), lambda: (0, 0))"
    (parameter,) = definition(analysis, text.index("x_ref[...]"))
    assert parameter.span.start == text.index("x_ref")


def test_a_name_that_refs_are_unpacked_into() -> None:
    analysis = analysed(TEXT.replace("o_ref[...] = x_ref[...]", "acc_ref[...] = x_ref[...]\n    o_ref[...] = acc_ref[...]"))
    text = analysis.source.text
    (parameter,) = definition(analysis, text.index("acc_ref[...] ="))
    assert text[parameter.span.start : parameter.span.end] == "rest"
    (spec,) = type_definition(analysis, text.index("acc_ref[...] ="))
    assert text[spec.span.start : spec.span.end] == SCRATCH

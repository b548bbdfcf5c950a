"""What a kernel takes of VMEM, against the least limit with which the TPU compiler takes it."""

from __future__ import annotations

import jax
import pytest
from call.vmem_cases import KERNELS
from hypothesis import given, settings
from hypothesis import strategies as st
from referee import compile_many, libtpu_installed

from pallas_lsp.analysis import analyze
from pallas_lsp.kernels.vmem import padded_bytes
from pallas_lsp.resolve.project import Project
from pallas_lsp.settings import Settings

PATH = "/project/kernel.py"
STEP = 1024


def need(text: str) -> int:
    """The bytes of VMEM that the checker finds a module's kernel to need."""
    project = Project(overlay={PATH: text.replace("LIMIT", "1 << 24")})
    source = project.read(PATH)
    assert source is not None
    found = {site.vmem_bytes for site in analyze(source, project, Settings(jax_version=jax.__version__)).sites} - {None}
    assert len(found) == 1, found
    return found.pop() or 0


@pytest.mark.parametrize("what", KERNELS)
def test_the_need_of_every_kernel_is_known(what: str) -> None:
    assert need(KERNELS[what]) > 0


@pytest.mark.libtpu
@pytest.mark.skipif(not libtpu_installed(), reason="libtpu is not installed")
def test_the_compiler_needs_as_much() -> None:
    needs = {what: need(text) for what, text in KERNELS.items()}
    limited = [KERNELS[what].replace("LIMIT", str(limit)) for what, size in needs.items() for limit in (size, size - STEP)]
    verdicts = [verdict.ok for verdict in compile_many(limited, "v5e")]
    exact = [what for what, fits, less in zip(needs, verdicts[::2], verdicts[1::2], strict=True) if fits and not less]
    assert len(needs) >= 60 and len(exact) >= 0.95 * len(needs), sorted(set(needs) - set(exact))


_BITS = {"float32": 32, "bfloat16": 16, "int8": 8, "int4": 4, "bool": 32}


@settings(derandomize=True, deadline=None)
@given(st.lists(st.integers(1, 300), min_size=1, max_size=4), st.sampled_from(sorted(_BITS)))
def test_padding_only_adds_and_grows_with_the_shape(shape: list[int], dtype: str) -> None:
    size = padded_bytes(tuple(shape), dtype)
    dense = _BITS[dtype]
    for dim in shape:
        dense *= dim
    assert isinstance(size, int) and 8 * size >= dense
    wider = padded_bytes((*shape[:-1], shape[-1] + 1), dtype)
    assert isinstance(wider, int) and wider >= size
    assert padded_bytes((2, *shape), dtype) == 2 * size or len(shape) == 1


@pytest.mark.parametrize(
    ("shape", "dtype", "size"),
    [
        ((8, 128), "float32", 4096),
        ((1, 128), "float32", 512),
        ((3, 128), "float32", 2048),
        ((9, 128), "float32", 8192),
        ((1, 128), "bfloat16", 512),
        ((3, 128), "bfloat16", 1024),
        ((1, 128), "int8", 512),
        ((1024, 1), "float32", 524288),
        ((100,), "float32", 512),
        ((300,), "bfloat16", 1024),
        ((8, 128), "bool", 4096),
        ((None, 128), "float32", None),
        (None, "float32", None),
        ((8, 128), None, None),
    ],
)
def test_sizes(shape: tuple[int | None, ...] | None, dtype: str | None, size: int | None) -> None:
    assert padded_bytes(shape, dtype) == size

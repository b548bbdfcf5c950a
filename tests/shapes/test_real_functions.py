"""The functions that released TPU kernels, and the functions around them, call at least ten times in public code: each gives a value.

Counted over 888 sites of ``pallas_call`` in 43 code bases; below, those of JAX, NumPy and Python. A function has a shape function, which
`test_table_against_jax` compares with JAX, or a model in the interpreter, or there is a reason to know nothing of what it gives.
"""

from __future__ import annotations

import pytest

from pallas_lsp.interpreter.library.registry import MODELS
from pallas_lsp.resolve.canonical import canonical
from pallas_lsp.shapes import table

CALLED = {
    "jax": """
        ShapeDtypeStruct ShapeDtypeStruct.like ad_checkpoint.checkpoint_name block_until_ready default_backend device_count devices
        dtypes.itemsize_bits jit named_scope sharding.Mesh sharding.NamedSharding sharding.PartitionSpec shard_map typeof vmap
        tree.leaves tree.map tree_util.tree_leaves
        """,
    "jax.lax": """
        axis_index axis_size bitcast_convert_type broadcast_in_dim broadcasted_iota cond div dot dot_general fori_loop pcast psum psum_scatter
        all_gather rem select shift_right_logical while_loop scan
        """,
    "jax.nn": "gelu sigmoid silu relu softmax",
    "jax.numpy": """
        abs arange array array_equal asarray bitwise_and bitwise_or bitwise_right_shift bool_ broadcast_to clip concat concatenate dot dtype
        einsum exp exp2 expand_dims eye finfo full full_like iinfo int32 isscalar issubdtype log logical_and logical_not logical_or matmul max
        maximum minimum nan_to_num ones ones_like pad repeat reshape sqrt stack sum tanh tile transpose tril uint32 where zeros zeros_like
        """,
    "jax.random": "bernoulli fold_in key normal split uniform",
    "jax.experimental.pallas": """
        BlockSpec BoundedSlice Buffered CostEstimate Indirect Slice cdiv debug_print ds dslice load loop multiple_of num_programs
        pallas_call program_id reciprocal semaphore_signal semaphore_wait store when
        """,
    "jax.experimental.pallas.tpu": """
        CompilerParams InterpretParams PrefetchScalarGridSpec SMEM SemaphoreType.DMA VMEM async_copy bitcast emit_pipeline
        get_barrier_semaphore get_tpu_info make_async_copy make_async_remote_copy repeat roll semaphore_signal sync_copy
        with_memory_space_constraint
        """,
    "jax.experimental.pallas.tpu_sc": "parallel_loop",
    "numpy": "arange array prod",
    "": "functools.partial itertools.product math.prod int isinstance len map max min range sum tuple",
}

# A class of a library's keeps what it is made with; what else it does is nobody's claim.
CLASSES = {"jax.sharding.Mesh", "jax.sharding.PartitionSpec", "jax.experimental.pallas.tpu.InterpretParams"}
REASONS = {"jax.device_count": "how many devices there are is known only where the program runs"}


def names() -> list[str]:
    return [f"{module}.{name}".removeprefix(".") for module, called in CALLED.items() for name in called.split()]


def answers(name: str) -> bool:
    known = canonical(name)
    return known in MODELS or table.lookup(known) is not None or table.lookup(f"jax.{known}") is not None


@pytest.mark.parametrize("name", names())
def test_a_function_that_real_kernels_call_gives_a_value(name: str) -> None:
    assert answers(name) or name in CLASSES or name in REASONS


def test_no_exception_is_made_for_what_is_known() -> None:
    assert {*CLASSES, *REASONS} <= {*names()}
    assert [name for name in (*CLASSES, *REASONS) if answers(name)] == []


def test_a_model_has_the_name_that_calls_are_looked_up_by() -> None:
    assert [name for name in MODELS if canonical(name) not in MODELS] == []

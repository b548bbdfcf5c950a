"""Causal attention, one block of queries a step: the accumulators stay in VMEM while the keys go by."""

import functools

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

BLOCK_Q = 128
BLOCK_K = 128
MASK = -0.7 * float(jnp.finfo(jnp.float32).max)  # − ∞ would turn fully masked rows into nan


def attention_kernel(q_ref, k_ref, v_ref, o_ref, m_scratch, l_scratch, acc_scratch, *, causal: bool, scale: float):
    """Online softmax over the last grid axis."""
    step = pl.program_id(2)

    @pl.when(step == 0)
    def _start():
        m_scratch[...] = jnp.full(m_scratch.shape, MASK, jnp.float32)
        l_scratch[...] = jnp.zeros_like(l_scratch)
        acc_scratch[...] = jnp.zeros_like(acc_scratch)

    q = q_ref[0].astype(jnp.float32) * scale
    logits = lax.dot_general(
        q,
        k_ref[0].astype(jnp.float32),
        (((1,), (1,)), ((), ())),  # rows × rows
        preferred_element_type=jnp.float32,
    )
    if causal:
        rows = pl.program_id(1) * BLOCK_Q + lax.broadcasted_iota(jnp.int32, logits.shape, 0)
        columns = step * BLOCK_K + lax.broadcasted_iota(jnp.int32, logits.shape, 1)
        logits = jnp.where(rows >= columns, logits, MASK)
    m_next = jnp.maximum(m_scratch[...], jnp.max(logits, axis=1, keepdims=True))
    weights = jnp.exp(logits - m_next)
    alpha = jnp.exp(m_scratch[...] - m_next)
    l_scratch[...] = alpha * l_scratch[...] + jnp.sum(weights, axis=1, keepdims=True)
    acc_scratch[...] = alpha * acc_scratch[...] + jnp.dot(weights, v_ref[0].astype(jnp.float32))
    m_scratch[...] = m_next

    @pl.when(step == pl.num_programs(2) - 1)
    def _finish():
        o_ref[0] = (acc_scratch[...] / l_scratch[...]).astype(o_ref.dtype)


@functools.partial(jax.jit, static_argnames=["causal"])
def run(q, k, v, causal=True):
    heads, length, depth = q.shape
    kernel = functools.partial(attention_kernel, causal=causal, scale=depth**-0.5)
    return pl.pallas_call(
        kernel,
        grid=(heads, length // BLOCK_Q, length // BLOCK_K),
        in_specs=[
            pl.BlockSpec((1, BLOCK_Q, depth), lambda h, i, j: (h, i, 0)),
            pl.BlockSpec((1, BLOCK_K, depth), lambda h, i, j: (h, j, 0)),
            pl.BlockSpec((1, BLOCK_K, depth), lambda h, i, j: (h, j, 0)),
        ],
        out_specs=pl.BlockSpec((1, BLOCK_Q, depth), lambda h, i, j: (h, i, 0)),
        out_shape=jax.ShapeDtypeStruct(q.shape, q.dtype),
        scratch_shapes=[
            pltpu.VMEM((BLOCK_Q, 1), jnp.float32),
            pltpu.VMEM((BLOCK_Q, 1), jnp.float32),
            pltpu.VMEM((BLOCK_Q, depth), jnp.float32),
        ],
    )(q, k, v)


ARGS = [jax.ShapeDtypeStruct((2, 256, 128), jnp.bfloat16)] * 3

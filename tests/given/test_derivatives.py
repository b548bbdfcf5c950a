"""Functions that bring their own derivative: which kernels a gradient runs is what JAX's program holds."""

from __future__ import annotations

import jax
import pytest
from given.against_jax import kernels_of_jax, known_kernels

OPS = '''
import functools
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def _forward_kernel(x_ref, o_ref):
    o_ref[...] = jnp.exp(x_ref[...])


def _residual_kernel(x_ref, o_ref, r_ref):
    o_ref[...] = jnp.exp(x_ref[...])
    r_ref[...] = o_ref[...]


def _backward_kernel(r_ref, g_ref, dx_ref):
    dx_ref[...] = r_ref[...] * g_ref[...]


def _call(kernel, *operands, outputs=1):
    spec = pl.BlockSpec((8, 128), lambda i: (i, 0))
    out = [jax.ShapeDtypeStruct(operands[0].shape, operands[0].dtype)] * outputs
    return pl.pallas_call(kernel, grid=(operands[0].shape[0] // 8,), in_specs=[spec] * len(operands), out_specs=[spec] * outputs, out_shape=out)(*operands)


{decorator}
def apply(x, scale, name="plain"):
    return _call(_forward_kernel, x * scale)[0]


def _fwd(x, scale, name):
    out, residual = _call(_residual_kernel, x * scale, outputs=2)
    return out, (residual, scale)


def _bwd({constants}residuals, g):
    residual, scale = residuals
    return {gradients}


apply.defvjp(_fwd, _bwd)


def jitted(x):
    return jax.jit(lambda y: apply(y, 2.0))(x)
'''
BY_POSITION = OPS.format(
    decorator="@functools.partial(jax.custom_vjp, nondiff_argnums=range(2, 3))",
    constants="name, ",
    gradients="_call(_backward_kernel, residual, g)[0] * scale, jnp.sum(g)",
)
BY_NAME = OPS.format(
    decorator="@functools.partial(jax.custom_vjp, nondiff_argnames=('name', 'scale'))",
    constants="scale_, name, ",
    gradients="(_call(_backward_kernel, residual, g)[0] * scale,)",
)

CALLS = {
    "apply(f32[16,128], 2.0)": ["_forward_kernel"],
    "jax.grad(lambda x: apply(x, 2.0).sum())(f32[16,128])": ["_backward_kernel", "_residual_kernel"],
    "jax.grad(lambda a, x: apply(x, 2.0, name='other').sum(), 1)(f32[16,128], f32[16,128])": ["_backward_kernel", "_residual_kernel"],
    "jax.value_and_grad(lambda x: jitted(x).sum())(f32[16,128])": ["_backward_kernel", "_residual_kernel"],
    "jax.grad(lambda a, x: (a * apply(x, 2.0)).sum())(f32[16,128], f32[16,128])": ["_forward_kernel"],
}


@pytest.mark.parametrize("module", [BY_POSITION, BY_NAME], ids=["by position", "by name"])
@pytest.mark.parametrize("call", CALLS)
def test_the_kernels_of_a_gradient(module: str, call: str) -> None:
    jax.clear_caches()
    assert sorted(kernels_of_jax(module, call)) == CALLS[call]
    assert sorted(known_kernels(module, call)) == CALLS[call]

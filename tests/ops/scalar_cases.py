"""NumPy's scalars among a kernel's values: floats for Python, for JAX arrays of their own dtype."""

from __future__ import annotations

from ops.modules import Case, unary

_NARROW = "store-dtype-mismatch"
_X = "bf16[16,128]"

_STRONG = """
x * np.float64(2.0)
x * np.sqrt(2.0)
x * (1 / np.sqrt(x.shape[-1]))
x * np.log2(jnp.e)
x * (np.log(2) * 2.0 - 1)
x * abs(-np.exp(1.0)) ** 2
x * (np.sqrt(2) * jnp.bfloat16(2))
x ** np.sqrt(2)
jnp.maximum(x, np.float64(0))
jnp.where(x > 0, x, np.log1p(0))
jnp.full(x.shape, np.sqrt(4))
"""
_WEAK = """
x * float(np.sqrt(2))
x * (np.sqrt(4) // 2 == 1)
x * int(np.log2(8))
x * (3 + int(np.sqrt(4)) / 2)
x * jnp.bfloat16(np.sqrt(2))
(x * np.sqrt(2)).astype(x.dtype)
jnp.where(x > np.float64(0), x, 0)
x * jnp.sqrt(2)
x[:int(np.sqrt(256))]
"""

SCALARS: list[Case] = [
    *((line, _NARROW, unary(line, x=_X)) for line in _STRONG.strip().splitlines()),
    *((f"{line} into float32", None, unary(line, x=_X, out="f32[16,128]")) for line in _STRONG.strip().splitlines()),
    *((line, None, unary(line, x=_X)) for line in _WEAK.strip().splitlines()),
]

"""Numbers of the host among a kernel's values: NumPy's scalars, floats for Python and arrays of their own dtype for JAX; limits of dtypes."""

from __future__ import annotations

from call.modules import module
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

_LIMITED = "jnp.where(x > 0, x, {}(x.dtype).min)"
_TRIED = """\
try:
    least = jnp.finfo(x_ref.dtype).min
except ValueError:
    least = jnp.iinfo(x_ref.dtype).min
o_ref[...] = jnp.where(x_ref[...] > 0, x_ref[...], least)"""

_LIMITS: list[Case] = [
    *(
        (f"{function} of {x}", None if right else "invalid-operands", unary(_LIMITED.format(function), x=x))
        for function in ("jnp.finfo", "np.finfo", "jnp.iinfo", "np.iinfo")
        for x, right in (("f32[8,128]", function.endswith("finfo")), ("i32[8,128]", function.endswith("iinfo")))
    ),
    *((f"limits that are tried, of {x}", None, module(_TRIED, x=x, out=x)) for x in ("f32[8,128]", "i32[8,128]")),
]

SCALARS: list[Case] = [
    *_LIMITS,
    *((line, _NARROW, unary(line, x=_X)) for line in _STRONG.strip().splitlines()),
    *((f"{line} into float32", None, unary(line, x=_X, out="f32[16,128]")) for line in _STRONG.strip().splitlines()),
    *((line, None, unary(line, x=_X)) for line in _WEAK.strip().splitlines()),
]

"""Random expressions over the values of a kernel, in the words that kernels use: jnp, lax, jax.nn and operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from random_kernels.plan import Dice, Shape

MODULES = MappingProxyType({"jax": jax, "jnp": jnp, "np": np, "lax": lax, "pl": pl, "pltpu": pltpu})
DTYPES = MappingProxyType(
    {"float32": 40, "bfloat16": 18, "int32": 18, "int8": 6, "uint8": 4, "bool_": 4, "float16": 2, "float8_e4m3fn": 2, "float8_e5m2": 1, "uint32": 3, "int16": 2}
)  # fmt: skip
Env = Mapping[str, jax.ShapeDtypeStruct]


def typed(lines: list[str], name: str, env: Env) -> jax.ShapeDtypeStruct | None:
    """What JAX says that ``lines`` leave in ``name``, where the names of ``env`` hold values; None where it refuses them."""

    def value(arrays: dict[str, jax.Array]) -> object:
        scope = {**MODULES, **arrays}
        exec("\n".join(lines), scope)
        return scope[name]

    try:
        made = jax.eval_shape(value, dict(env))
    except Exception:
        return None
    return made if isinstance(made, jax.ShapeDtypeStruct) else None


@dataclass(frozen=True)
class Operators:
    """Draws an expression about one of the values of ``env``."""

    dice: Dice
    env: Env

    def some(self, about: str | None = None) -> str:
        """An expression about the value ``about``, or about any of them."""
        kinds: Mapping[Callable[[str], str], float] = {
            self._unary: 20, self._with_number: 12, self._binary: 18, self._compared: 6, self._cast: 8, self._reduced: 12, self._product: 9,
            self._shaped: 14, self._joined: 6, self._made: 4, self._part: 8, self._moving: 3, self._gathered: 2, self._ordered: 1.2,
        }  # fmt: skip
        return self.dice.weighted(kinds)(about or self._any())

    def _any(self) -> str:
        return self.dice.choice(list(self.env))

    def _shape(self, name: str) -> Shape:
        return self.env[name].shape

    def _axis(self, name: str) -> int:
        rank = len(self._shape(name))
        return self.dice.randrange(-rank, rank) if rank else 0

    def _other(self, name: str) -> str:
        """A value that goes well with the named one, most of the time."""
        dice = self.dice
        alike = [other for other, own in self.env.items() if own.shape == self._shape(name)]
        if self._shape(name) and dice.chance(0.25):
            reduce = dice.pick("sum", "max", "min", "mean")
            return f"jnp.{reduce}({name}, axis={self._axis(name)}, keepdims=True)"
        return dice.choice(alike) if dice.chance(0.85) else self._any()

    def _dtype(self) -> str:
        return f"jnp.{self.dice.weighted(DTYPES)}"

    def _unary(self, a: str) -> str:
        dice = self.dice
        if dice.chance(0.25):
            nn = dice.pick("relu", "sigmoid", "silu", "gelu", "softplus", "relu6", "leaky_relu", "elu", "swish", "log_sigmoid", "hard_tanh", "soft_sign")
            return f"jax.nn.{nn}({a})"
        if dice.chance(0.1):
            return f"jax.nn.{dice.pick('softmax', 'log_softmax', 'standardize', 'logsumexp')}({a}, axis={self._axis(a)})"
        if dice.chance(0.25):
            return f"lax.{dice.pick('exp', 'log', 'rsqrt', 'tanh', 'logistic', 'abs', 'neg', 'sign', 'floor', 'erf', 'square', 'is_finite', 'stop_gradient')}({a})"
        if dice.chance(0.2):
            return dice.pick(f"-{a}", f"abs({a})", f"~{a}", f"pl.reciprocal({a}, approx=True)", f"lax.integer_pow({a}, 3)", f"{a} ** 2")
        return f"jnp.{dice.weighted(_NUMPY)}({a})"

    def _with_number(self, a: str) -> str:
        dice = self.dice
        number = dice.pick("2", "3", "0.5", "1.0", "-1", "1e-6", "0", "jnp.float32(2)", "np.float32(0.25)", "jnp.inf", "i", "n", "True")
        operator = dice.weighted({"+": 4, "-": 4, "*": 5, "/": 3, "//": 1, "%": 1, "**": 0.7, "&": 0.7, "|": 0.5, "^": 0.3, "<<": 0.4, ">>": 0.4})
        if dice.chance(0.25):
            return f"jnp.{dice.pick('maximum', 'minimum', 'add', 'power', 'mod', 'multiply')}({a}, {number})"
        if dice.chance(0.1):
            return f"jnp.clip({a}, {dice.pick('0', '-1.0', 'None')}, {dice.pick('1', '6.0')})"
        return f"{a} {operator} {number}" if dice.chance(0.75) else f"{number} {operator} {a}"

    def _binary(self, a: str) -> str:
        dice, b = self.dice, self._other(a)
        operator = dice.weighted({"+": 6, "-": 5, "*": 6, "/": 3, "//": 0.7, "%": 0.7, "**": 0.5, "&": 1, "|": 1, "^": 0.5})
        if dice.chance(0.6):
            return f"{a} {operator} {b}"
        return f"{dice.pick('jnp.maximum', 'jnp.minimum', 'jnp.arctan2', 'jnp.logaddexp', 'jnp.logical_and', 'lax.add', 'lax.mul', 'lax.max', 'lax.div', 'lax.pow', 'lax.rem', 'jnp.hypot', 'jnp.divide', 'jnp.floor_divide')}({a}, {b})"

    def _compared(self, a: str) -> str:
        dice = self.dice
        b = self._other(a) if dice.chance(0.5) else dice.pick("0", "0.5", "n", "i")
        test = f"{a} {dice.pick('>', '<', '>=', '<=', '==', '!=')} {b}"
        if dice.chance(0.35):
            return test
        if dice.chance(0.15):
            return f"lax.select({test}, {a}, {self._other(a)})"
        return f"jnp.where({test}, {a}, {dice.pick('0', '-jnp.inf', '0.0', f'jnp.zeros_like({a})', self._other(a))})"

    def _cast(self, a: str) -> str:
        dice, dtype = self.dice, self._dtype()
        if dice.chance(0.7):
            return dice.pick(f"{a}.astype({dtype})", f"lax.convert_element_type({a}, {dtype})", f"jnp.asarray({a}, {dtype})", f"{dtype}({a})")
        return dice.pick(f"lax.bitcast_convert_type({a}, {dtype})", f"pltpu.bitcast({a}, {dtype})", f"{a}.view({dtype})")

    def _reduced(self, a: str) -> str:
        dice = self.dice
        name = dice.weighted({"sum": 8, "max": 7, "min": 4, "mean": 4, "any": 1.5, "all": 1.5, "argmax": 2, "argmin": 1.5, "prod": 0.5, "var": 1, "std": 1, "count_nonzero": 0.5, "linalg.norm": 0.4})  # fmt: skip
        axes = "" if dice.chance(0.15) else f"axis={self._axis(a)}"
        if len(self._shape(a)) > 1 and dice.chance(0.1):
            axes = f"axis={dice.pick('(0, 1)', '(-2, -1)', '(0, -1)')}"
        keep = "keepdims=True" if dice.chance(0.6) else ""
        given = ", ".join(part for part in (axes, keep) if part)
        if "." not in name and name != "count_nonzero" and dice.chance(0.3):
            return f"{a}.{name}({given})"
        return f"jnp.{name}({', '.join(part for part in (a, given) if part)})"

    def _product(self, a: str) -> str:
        dice = self.dice
        matrices = [name for name, own in self.env.items() if len(own.shape) == 2] or [a]
        left = a if len(self._shape(a)) in (2, 3) else dice.choice(matrices)
        alike = [name for name in matrices if self.env[name].dtype == self.env[left].dtype] if dice.chance(0.85) else matrices
        right = dice.choice(alike or matrices)
        shape = self._shape(right)
        more = f", preferred_element_type={dice.weighted({'jnp.float32': 6, 'jnp.int32': 2, 'jnp.bfloat16': 0.4})}" if dice.chance(0.65) else ""
        more += f", precision={dice.pick('lax.Precision.HIGHEST', 'lax.Precision.DEFAULT', 'lax.Precision.HIGH')}" if dice.chance(0.08) else ""
        same = shape and self._shape(left)[-1:] == shape[-1:]
        turned = f"{right}.T" if same else right
        kind = dice.weighted({"dot": 4, "matmul": 2, "@": 3, "general": 4, "einsum": 3, "batched": 1, "tensordot": 0.4, "vdot": 0.2})
        if kind == "@":
            return f"{left} @ {turned}"
        if kind == "general":
            contracted = f"(({dice.pick('1', '1', '-1') if dice.chance(0.05) else '1'},), ({1 if same else 0},))"
            return f"lax.dot_general({left}, {right}, ({contracted}, ((), ())){more})"
        if kind == "einsum":
            return f'jnp.einsum("{"ij,kj->ik" if same else dice.pick("ij,jk->ik", "ij,jk->ki", "ij,ij->i")}", {left}, {right}{more})'
        if kind == "batched" and len(self._shape(a)) == 3:
            return dice.pick(
                f'jnp.einsum("bij,bkj->bik", {a}, {a}{more})', f"lax.dot_general({a}, {a}, (((2,), (2,)), ((0,), (0,))){more})",
                f"jnp.matmul({a}, jnp.swapaxes({a}, 1, 2){more})",
            )  # fmt: skip
        name = kind if kind in ("dot", "matmul", "vdot") else "tensordot" if kind == "tensordot" else "dot"
        return f"jnp.{name}({left}, {turned}{', 1' if name == 'tensordot' else ''}{more})"

    def _shaped(self, a: str) -> str:
        dice, shape = self.dice, self._shape(a)
        size = int(np.prod(shape, dtype=int))
        forms = [(size,), (-1,), (1, *shape), (*shape, 1), (-1, 128), (8, -1), shape[::-1]]
        if len(shape) > 1:
            forms += [(shape[0] * shape[1], *shape[2:]), (1, *shape[:-1], shape[-1])]
            if shape[0] % 8 == 0:
                forms += [(shape[0] // 8, 8, *shape[1:]), (shape[0] // 2, shape[1] * 2, *shape[2:])]
        wider = tuple(dice.pick(2, 8, 128) if dim == 1 else dim for dim in shape)
        form, axis = dice.choice(forms), self._axis(a)
        return dice.pick(
            f"{a}.reshape{form}", f"jnp.reshape({a}, {form})", f"lax.reshape({a}, {form})", f"{a}.T", f"jnp.swapaxes({a}, 0, {axis})",
            f"jnp.transpose({a}, {tuple(reversed(range(len(shape))))})", f"jnp.broadcast_to({a}, {wider})", f"jnp.broadcast_to({a}, {(dice.pick(2, 8), *shape)})",
            f"jnp.expand_dims({a}, {axis})", f"{a}[None]", f"{a}[:, None]", f"{a}[..., None]", f"jnp.squeeze({a})", f"jnp.squeeze({a}, axis={axis})",
            f"{a}.ravel()", f"lax.broadcast_in_dim({a}, {(4, *shape)}, {tuple(range(1, len(shape) + 1))})", f"jnp.moveaxis({a}, 0, {axis})",
        )  # fmt: skip

    def _joined(self, a: str) -> str:
        dice, axis, b = self.dice, self._axis(a), self._other(a)
        return dice.pick(
            f"jnp.concatenate([{a}, {b}], axis={axis})", f"jnp.stack([{a}, {b}], axis={axis})", f"jnp.repeat({a}, {dice.pick(2, 4)}, axis={axis})",
            f"jnp.tile({a}, {dice.pick('(2, 1)', '(1, 2)', '2')})", f"jnp.pad({a}, {dice.pick('1', '((0, 8), (0, 0))', '((8, 8), (0, 0))')})",
            f"jnp.hstack([{a}, {b}])", f"jnp.vstack([{a}, {b}])", f"lax.concatenate([{a}, {a}], {axis})", f"jnp.split({a}, 2, axis={axis})[{dice.pick(0, 1)}]",
        )  # fmt: skip

    def _made(self, a: str) -> str:
        dice, shape = self.dice, self._shape(a) or (8, 128)
        dtype = dice.weighted({"jnp.int32": 5, "jnp.float32": 1, "jnp.uint32": 0.5, "jnp.int8": 0.3})
        return dice.pick(
            f"lax.broadcasted_iota({dtype}, {a}.shape, {abs(self._axis(a))})", f"lax.iota({dtype}, {shape[-1]})", f"jnp.arange({shape[-1]})",
            f"jnp.zeros({shape}, {self._dtype()})", f"jnp.full({shape}, {dice.pick('-jnp.inf', '1', '0.5')}, {self._dtype()})", f"jnp.ones_like({a})",
            f"jnp.full_like({a}, 2)", f"jnp.eye({shape[-1]})", f"jnp.tril({a})", f"jnp.arange({shape[-1]}, dtype={dtype})", f"jnp.empty_like({a})",
        )  # fmt: skip

    def _part(self, a: str) -> str:
        dice, shape = self.dice, self._shape(a) or (1,)
        half = max(shape[0] // 2, 1)
        return dice.pick(
            f"{a}[:{half}]", f"{a}[{half}:]", f"{a}[::2]", f"{a}[0]", f"{a}[-1]", f"{a}[-1:]", f"{a}[..., 0]", f"{a}[..., :{max(shape[-1] // 2, 1)}]",
            f"{a}[:, ::2]", f"{a}[::-1]", f"{a}[1::3]", f"lax.slice_in_dim({a}, 0, {half}, axis=0)", f"{a}[:, 1:2]", f"{a}[0:1, ...]", f"{a}[{shape[0]}]",
            f"lax.slice({a}, {(0,) * len(shape)}, {(half, *shape[1:])})",
        )  # fmt: skip

    def _moving(self, a: str) -> str:
        dice, shape, axis = self.dice, self._shape(a) or (1,), self._axis(a)
        start = dice.pick("i", "n", "0")
        return dice.pick(
            f"lax.dynamic_slice({a}, ({', '.join([start] + ['0'] * (len(shape) - 1))},), {(max(shape[0] // 2, 1), *shape[1:])})", f"{a}[{start}]",
            f"jnp.roll({a}, {dice.pick('1', '-1', 'n', '3')}, axis={axis})", f"pltpu.roll({a}, {dice.pick('1', 'n', '3')}, {axis})", f"{a}[pl.ds({start}, 1)]",
            f"pltpu.roll({a}, shift=2, axis={abs(axis)})", f"lax.dynamic_index_in_dim({a}, {start}, 0)", f"jnp.flip({a}, axis={axis})", f"{a}[:n]",
        )  # fmt: skip

    def _gathered(self, a: str) -> str:
        dice, axis = self.dice, self._axis(a)
        index = dice.pick(f"jnp.zeros({a}.shape, jnp.int32)", f"lax.broadcasted_iota(jnp.int32, {a}.shape, 0)", self._any(), f"{a}.astype(jnp.int32)")
        return dice.pick(f"jnp.take_along_axis({a}, {index}, axis={axis})", f"jnp.take({a}, {index}, axis={axis})", f"{a}[{index}]", f"jax.nn.one_hot({index}, 8)")

    def _ordered(self, a: str) -> str:
        name = self.dice.pick("sort", "argsort", "cumsum", "cumprod", "median", "diff", "nansum", "nonzero", "unique")
        return f"jnp.{name}({a}{'' if name in ('nonzero', 'unique') else f', axis={self._axis(a)}'})"


_NUMPY = MappingProxyType(
    {"exp": 5, "log": 3, "tanh": 3, "sqrt": 3, "sin": 2, "cos": 2, "abs": 4, "square": 3, "floor": 1, "ceil": 1, "round": 1, "sign": 1, "isnan": 1,
     "isfinite": 1, "exp2": 1, "log1p": 1, "expm1": 0.5, "log2": 0.5, "tan": 0.5, "arctan": 0.3, "sinh": 0.3, "cbrt": 0.2, "logical_not": 1, "negative": 1,
     "reciprocal": 1, "trunc": 0.3, "bitwise_not": 0.5, "signbit": 0.3, "nan_to_num": 0.5, "isinf": 0.4, "deg2rad": 0.2, "rint": 0.2}
)  # fmt: skip

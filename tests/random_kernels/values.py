"""Random expressions of a wanted shape and dtype."""

from __future__ import annotations

import math

from random_kernels.indexers import Indexer, Indexers
from random_kernels.plan import DTYPES, FLOATS, Dice, Ref, Scope, Shape

BIGGER = ((8, 128), (16, 128), (4, 128), (2, 8, 128))


class Values:
    """Draws values in one scope."""

    def __init__(self, dice: Dice, scope: Scope) -> None:
        self.dice = dice
        self.scope = scope
        self.indexers = Indexers(dice, scope)

    def shape(self, shape: Shape) -> str:
        """The text of a shape: a ref's or value's own, or a tuple of numbers, some of them by name."""
        dice = self.dice
        same = [ref.name for ref in self.scope.refs if ref.is_array and ref.shape == shape]
        same += [bound.name for bound in self.scope.bound if bound.shape == shape]
        if same and dice.chance(0.4):
            return f"{dice.choice(same)}.shape"
        return f"({', '.join(self.dim(dim) for dim in shape)}{',' if len(shape) == 1 else ''})"

    def dim(self, size: int) -> str:
        """A number, or something that has this value."""
        dice = self.dice
        places = [
            f"{ref.name}.shape[{axis}]" for ref in self.scope.refs if ref.is_array for axis, dim in enumerate(ref.shape) if dim == size
        ]
        names = self.scope.numbers.get(size, ())
        if names and dice.chance(0.4):
            return dice.choice(names)
        if places and dice.chance(0.2):
            return dice.choice(places)
        return f"{size // 2} * 2" if size % 2 == 0 and dice.chance(0.05) else str(size)

    def dtype(self, dtype: str) -> str:
        same = [f"{ref.name}.dtype" for ref in self.scope.refs if ref.is_array and ref.dtype == dtype]
        if same and self.dice.chance(0.4):
            return self.dice.choice(same)
        return f"jnp.{DTYPES[dtype]}"

    def load(self, ref: Ref, indexer: Indexer) -> str:
        """A load, in one of its spellings."""
        dice = self.dice
        at = f"{ref.name}.at[{indexer.inside}]"
        first, rest = indexer.entries[:1], indexer.entries[1:]
        ways = {f"{ref.name}[{indexer.inside}]": 16.0, f"{at}[...]": 1, f"{at}.get()": 0.5, f"pltpu.load({at})": 0.7}
        ways[f"jax.ref.get({ref.name}, {indexer.as_argument})"] = 0.7
        ways[f"{ref.name}.get(idx={indexer.as_argument})"] = 0.5
        if indexer.entries == ("...",):
            ways |= {f"{ref.name}.get()": 1, f"pltpu.load({ref.name})": 0.7, f"jax.ref.get({ref.name})": 0.5}
        if first and rest and first[0].lstrip("-").isdigit():
            ways[f"{ref.name}.at[{first[0]}][{', '.join(rest)}]"] = 1
        return dice.weighted(ways)

    def of(self, shape: Shape, dtype: str, depth: int = 2) -> str:
        """An expression with exactly this shape and dtype (a weakly typed one for a float now and then)."""
        dice = self.dice
        made = None
        kind = dice.weighted({
            "load": 8, "new": 3, "bound": 4, "operator": 5 * depth, "cast": 1.5 * depth, "reduced": 2.5 * depth, "shaped": 2 * depth,
            "choice": 1 * depth, "constant": 1.5 if not shape else 0,
        })  # fmt: skip
        if kind == "load":
            made = self.loaded(shape, dtype)
        elif kind == "bound":
            names = [bound.name for bound in self.scope.bound if (bound.shape, bound.dtype) == (shape, dtype)]
            made = dice.choice(names) if names else None
        elif kind == "operator":
            made = self._operator(shape, dtype, depth)
        elif kind == "cast":
            other = dice.pick(*(d for d in ("f32", "i32", "bf16") if d != dtype))
            made = (
                f"{self.of(shape, other, depth - 1)}.astype({self.dtype(dtype)})"
                if dtype != "bool"
                else f"({self.of(shape, 'f32', depth - 1)} > 0)"
            )
        elif kind == "reduced":
            made = self._reduced(shape, dtype, depth)
        elif kind == "shaped":
            made = self._shaped(shape, dtype, depth)
        elif kind == "choice" and dtype in ("f32", "i32"):
            made = f"jnp.where({self.of(shape, dtype, depth - 1)} > 0, {self.of(shape, dtype, depth - 1)}, {self.number(dtype)})"
        elif kind == "constant":
            made = f"jnp.{DTYPES[dtype]}({self.number(dtype)})"
        return made or self.new(shape, dtype)

    def loaded(self, shape: Shape, dtype: str) -> str | None:
        """A load of this shape and dtype, from a ref that can be loaded from."""
        refs = self.scope.those("vmem", "smem", dtypes=(dtype,))
        self.dice.shuffle(refs)
        for ref in refs:
            if (ref.space == "smem" and shape != ()) or (shape == () and ref.dtype not in ("f32", "i32") and ref.space == "vmem"):
                continue
            indexer = self.indexers.of_shape(ref, shape)
            if indexer is not None:
                return self.load(ref, indexer)
        return None

    def new(self, shape: Shape, dtype: str) -> str:
        """An array made of nothing."""
        dice, text, type_ = self.dice, self.shape(shape), self.dtype(dtype)
        if not shape and dice.chance(0.8):
            return f"jnp.{DTYPES[dtype]}({self.number(dtype)})"
        like = [ref.name for ref in self.scope.refs if ref.is_array and (ref.shape, ref.dtype) == (shape, dtype)]
        if like and dice.chance(0.4):
            name = dice.choice(like)
            return dice.pick(f"jnp.zeros_like({name})", f"jnp.ones_like({name})", f"jnp.full_like({name}, {self.number(dtype)})")
        if dtype == "i32" and len(shape) > 1 and dice.chance(0.3):
            return f"lax.broadcasted_iota(jnp.int32, {text}, {dice.randrange(len(shape))})"
        if dtype == "f32" and dice.chance(0.3):
            return dice.pick(f"jnp.zeros({text})", f"jnp.ones({text})", f"jnp.full({text}, 1.5)")
        return dice.pick(
            f"jnp.zeros({text}, {type_})", f"jnp.ones({text}, dtype={type_})", f"jnp.full({text}, {self.number(dtype)}, {type_})"
        )

    def number(self, dtype: str) -> str:
        if dtype == "bool":
            return self.dice.pick("True", "False")
        return self.dice.pick("0.0", "1.0", "0.5", "2.5") if dtype in FLOATS else self.dice.pick("0", "1", "2", "7")

    def _operator(self, shape: Shape, dtype: str, depth: int) -> str | None:
        dice = self.dice
        left = self.of(shape, dtype, depth - 1)
        if dtype == "bool":
            return f"({self.of(shape, dice.pick('f32', 'i32'), depth - 1)} {dice.pick('>', '<', '>=')} 0)"
        if dtype not in ("f32", "i32", "bf16"):
            return None
        if dice.chance(0.3):
            functions = ("jnp.exp", "jnp.tanh", "jnp.abs", "lax.exp", "-") if dtype == "f32" else ("-", "jnp.abs")
            return f"{dice.choice(functions)}({left})"
        other = dice.weighted({self.of(shape, dtype, depth - 1): 3, self.number(dtype): 3, self._narrower(shape, dtype, depth): 2})
        if dice.chance(0.15):
            return f"{dice.pick('jnp.maximum', 'jnp.minimum')}({left}, {other})"
        pair = (left, other) if dice.chance(0.7) else (other, left)
        return f"({pair[0]} {dice.pick('+', '-', '*')} {pair[1]})"

    def _narrower(self, shape: Shape, dtype: str, depth: int) -> str:
        """Something that broadcasts to ``shape``."""
        ones = tuple(dim if self.dice.chance(0.5) else 1 for dim in shape)
        return self.of(self.dice.pick(ones, (), shape), dtype, depth - 1)

    def _reduced(self, shape: Shape, dtype: str, depth: int) -> str | None:
        dice = self.dice
        if dtype != "f32":
            return None
        function = dice.pick("sum", "max", "min", "mean", "sum")
        if not shape:
            whole = self.of(dice.choice(BIGGER), dtype, depth - 1)
            return f"jnp.{function}({whole})" if dice.chance(0.8) else f"{whole}.{function}()"
        axis = dice.randrange(len(shape))
        if shape[axis] == 1 and dice.chance(0.7):
            longer = (*shape[:axis], dice.pick(8, 128), *shape[axis + 1 :])
            whole = self.of(longer, dtype, depth - 1)
            return dice.pick(f"jnp.{function}({whole}, axis={axis}, keepdims=True)", f"{whole}.{function}(axis={axis}, keepdims=True)")
        if len(shape) > 2:
            return None
        longer = (*shape[:axis], dice.pick(4, 8), *shape[axis:])
        return f"jnp.{function}({self.of(longer, dtype, depth - 1)}, axis={axis})"

    def _shaped(self, shape: Shape, dtype: str, depth: int) -> str | None:
        dice = self.dice
        way = dice.pick("broadcast", "none", "reshape", "transpose", "dot", "stack", "squeeze")
        if way == "broadcast" and shape:
            smaller = tuple(dim if dice.chance(0.5) else 1 for dim in shape)
            return f"jnp.broadcast_to({self.of(dice.pick(smaller, ()), dtype, depth - 1)}, {self.shape(shape)})"
        if way == "none" and 1 in shape:
            axis = shape.index(1)
            index = ", ".join("None" if k == axis else ":" for k in range(len(shape)))
            return f"{self.of((*shape[:axis], *shape[axis + 1 :]), dtype, depth - 1)}[{index}]"
        if way == "reshape" and shape:
            other = dice.pick((1, *shape), (math.prod(shape[:-1]), shape[-1]), shape)
            return f"{self.of(other, dtype, depth - 1)}.reshape({self.shape(shape)})"
        if way == "transpose" and len(shape) == 2:
            return f"{self.of(shape[::-1], dtype, depth - 1)}.T"
        if way == "dot" and len(shape) == 2 and dtype == "f32":
            left, right = self.of((shape[0], 128), "f32", depth - 1), self.of((128, shape[1]), "f32", depth - 1)
            return dice.pick(
                f"jnp.dot({left}, {right})", f"({left} @ {right})", f"jnp.dot({left}, {right}, preferred_element_type=jnp.float32)"
            )
        if way == "stack" and len(shape) > 1 and shape[0] <= 4 and dtype == "f32":
            parts = [self.of(shape[1:], dtype, 0) for _ in range(shape[0])]
            return f"jnp.stack([{', '.join(parts)}])"
        if way == "squeeze" and dtype in ("f32", "i32"):
            return f"jnp.squeeze({self.of((1, *shape), dtype, depth - 1)}, axis=0)"
        return None

    def misshapen(self, shape: Shape, dtype: str) -> str:
        """A value whose shape is near the wanted one, but another."""
        dice = self.dice
        others: list[Shape] = [(), (1, *shape), (*shape, 1)]
        if shape:
            others += [
                shape[:-1],
                shape[1:],
                shape[::-1],
                (1,) * len(shape),
                (*shape[:-1], shape[-1] * 2),
                (max(shape[0] // 2, 1), *shape[1:]),
            ]
            others += [(*shape[:-1], 1), (1, *shape[1:])]
        other = dice.choice([o for o in others if o != shape])
        return dice.pick(
            self.of(other, dtype, 1), self.new(other, dtype), self.number(dtype) if dtype != "bool" else self.new(other, dtype)
        )

    def mistyped(self, shape: Shape, dtype: str) -> str:
        """A value of another dtype."""
        other = self.dice.choice([d for d in ("f32", "bf16", "i32", "bool") if d != dtype])
        return self.dice.pick(self.of(shape, other, 1), self.new(shape, other), self.number(other) if not shape else self.new(shape, other))

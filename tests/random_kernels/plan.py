"""What a random kernel is about before it is written: its grid, its refs, and what a place in its body can see."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

Shape = tuple[int, ...]
T = TypeVar("T")

DTYPES = {"f32": "float32", "bf16": "bfloat16", "i32": "int32", "i8": "int8", "u32": "uint32", "bool": "bool_"}
FLOATS = ("f32", "bf16")


class Dice(random.Random):
    """Random choices that read well."""

    def chance(self, share: float) -> bool:
        return self.random() < share

    def pick(self, *options: T) -> T:
        return self.choice(options)

    def weighted(self, weights: Mapping[T, float]) -> T:
        return self.choices(list(weights), list(weights.values()))[0]

    def some(self, options: Sequence[T], count: int) -> list[T]:
        """``count`` of them in their own order."""
        return [options[k] for k in sorted(self.sample(range(len(options)), count))]


@dataclass(frozen=True)
class Ref:
    """A ref as the kernel sees it, and the array or scratch behind it.

    ``space``: ``vmem smem any hbm dma_sem regular_sem``; ``block``: the block shape with None for squeezed dims, None for no block shape.
    """

    name: str
    role: str
    array: Shape
    dtype: str
    space: str
    block: tuple[int | None, ...] | None = None

    @property
    def shape(self) -> Shape:
        """Without the squeezed dims."""
        return self.array if self.block is None else tuple(dim for dim in self.block if dim is not None)

    @property
    def is_array(self) -> bool:
        """Whether it holds numbers."""
        return not self.space.endswith("_sem")


@dataclass(frozen=True)
class Bound:
    """A local variable with an array in it."""

    name: str
    shape: Shape
    dtype: str


@dataclass
class Scope:
    """What a place in a kernel's body can name.

    ``traced``: expressions that are traced integer scalars; ``static``: Python ints as expression and the largest value they take;
    ``numbers``: the names that stand for a dim, by its value.
    """

    refs: tuple[Ref, ...]
    grid: Shape = ()
    traced: tuple[str, ...] = ()
    static: tuple[tuple[str, int], ...] = ()
    numbers: dict[int, tuple[str, ...]] = field(default_factory=dict)
    bound: list[Bound] = field(default_factory=list)
    flags: tuple[tuple[str, bool], ...] = ()
    under_python_loop: bool = False

    def inner(self, **changes: object) -> Scope:
        """The scope of a nested block: what it binds is not seen outside."""
        return replace(self, bound=list(self.bound), **changes)  # type: ignore[arg-type]

    def those(self, *spaces: str, dtypes: Iterable[str] = DTYPES) -> list[Ref]:
        """The refs in these memory spaces that hold these dtypes."""
        return [ref for ref in self.refs if ref.space in spaces and ref.dtype in dtypes]


VECTORS: tuple[Shape, ...] = (
    (8, 128),
    (16, 128),
    (8, 256),
    (4, 128),
    (2, 8, 128),
    (1, 128),
    (8, 1),
    (1, 1),
    (128,),
    (256,),
    (2, 4, 8, 128),
    (32, 128),
    (8, 8),
)
SCALARS: tuple[Shape, ...] = ((4,), (1,), (1, 1), (2, 3), (8,), (2, 2, 4), ())
WHOLE: tuple[Shape, ...] = ((16, 128), (4, 8, 128), (64,), (2, 16, 256), (8, 128))
DTYPE_SHARES = {"f32": 60, "i32": 14, "bf16": 14, "i8": 4, "bool": 5, "u32": 3}


def random_grid(dice: Dice) -> Shape:
    return dice.weighted({(): 5, (2,): 3, (4,): 2, (2, 2): 2, (1,): 0.5, (2, 1, 3): 0.5})


def random_refs(dice: Dice, grid: Shape) -> list[Ref]:
    """Prefetch, inputs, outputs and scratch, in the order of a kernel's parameters."""
    inputs = dice.weighted({1: 4, 2: 4, 3: 1})
    refs = [_prefetch(dice, k) for k in range(dice.weighted({0: 8, 1: 2, 2: 0.5}))]
    names = dice.pick(("x_ref", "y_ref", "w_ref"), ("q_ref", "k_ref", "v_ref"), ("a", "b", "bias"), ("lhs_ref", "rhs_ref", "bias_ref"))
    refs += [_operand(dice, name, "input", grid) for name in names[:inputs]]
    outs = dice.pick(("o_ref", "p_ref"), ("out_ref", "stats_ref"), ("o", "m"), ("z_ref", "l_ref"))
    refs += [_operand(dice, name, "output", grid) for name in outs[: dice.weighted({1: 7, 2: 3})]]
    for name in dice.some(("acc_ref", "buf", "scratch", "tmp_ref", "m_scratch"), dice.weighted({0: 4, 1: 4, 2: 2, 3: 1})):
        refs.append(_scratch(dice, name))
    if dice.chance(0.35):
        refs.append(Ref(dice.pick("sem", "sem_ref", "copy_sem"), "scratch", dice.pick((), (2,), (4,)), "i32", "dma_sem"))
    return refs


def _prefetch(dice: Dice, k: int) -> Ref:
    return Ref(("ids_ref", "lens_ref")[k], "prefetch", dice.pick((4,), (8,), (2, 4), ()), "i32", "smem")


def _operand(dice: Dice, name: str, role: str, grid: Shape) -> Ref:
    dtype = dice.weighted(DTYPE_SHARES)
    space = dice.weighted({"vmem": 13, "smem": 4, "any": 2, "hbm": 1})
    if space == "smem":
        array = dice.pick(*SCALARS)
        dtype = dice.weighted({"f32": 5, "i32": 4, "bf16": 0.5, "bool": 0.5})
        block = array if array and dice.chance(0.3) else None
        if block and array.count(1) == len(array) and dice.chance(0.4):
            block = (None,) * len(array)
        return Ref(name, role, array, dtype, space, block)
    if space in ("any", "hbm"):
        return Ref(name, role, dice.pick(*WHOLE), dtype, space)
    shape = dice.pick(*VECTORS)
    if dice.chance(0.35):
        return Ref(name, role, shape, dtype, space)
    return _blocked(dice, Ref(name, role, shape, dtype, space), grid)


def _blocked(dice: Dice, whole: Ref, grid: Shape) -> Ref:
    """The ref in blocks that JAX's tiling takes: the last two dims whole or in multiples of (8, 128), leading ones of any size."""
    shape = whole.array
    array = list(shape)
    if grid and len(shape) > 1 and dice.chance(0.6):
        axis = dice.randrange(len(shape) - 1) if shape[-1] % 128 else dice.randrange(len(shape))
        if axis < len(shape) - 2 or shape[axis] % (128 if axis == len(shape) - 1 else 8) == 0:
            array[axis] *= dice.choice([n for n in grid if n > 1] or [1])
    block: list[int | None] = list(shape)
    if dice.chance(0.35):  # squeezed leading dims
        extra = dice.pick(1, 2)
        array[:0] = [dice.pick(1, 2, 4) if grid and (len(shape) > 1 or k < extra - 1) else 1 for k in range(extra)]
        block[:0] = [None if dice.chance(0.8) else 1 for _ in range(extra)]
    if all(dim == 1 for dim in array[-2:]) and len(array) > 1 and dice.chance(0.2):
        block[-1] = None
    return replace(whole, array=tuple(array), block=tuple(block))


def _scratch(dice: Dice, name: str) -> Ref:
    space = dice.weighted({"vmem": 8, "smem": 3, "hbm": 0.5})
    if space == "smem":
        return Ref(name, "scratch", dice.pick(*SCALARS), dice.pick("f32", "i32"), space)
    return Ref(name, "scratch", dice.pick(*VECTORS), dice.weighted({"f32": 7, "i32": 2, "bf16": 2}), space)

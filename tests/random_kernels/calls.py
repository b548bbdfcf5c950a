"""Random kernel calls, most of them with one fault."""

from __future__ import annotations

from random_kernels.call_faults import FAULTS
from random_kernels.call_plan import random_plan, text_of
from random_kernels.modules import Kernel
from random_kernels.plan import Dice

_TRIES = 9


def random_call(seed: object) -> Kernel:
    """The kernel call of this seed, the same one always."""
    dice = Dice(f"call {seed}")
    plan = random_plan(dice)
    faulty = dice.chance(0.7) and any(dice.weighted(FAULTS)(plan, dice) for _ in range(_TRIES))
    return Kernel(text_of(plan), stated=True, sound=not faulty)

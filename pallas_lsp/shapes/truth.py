"""Answers that may be open: yes, no, maybe."""

from __future__ import annotations

import enum


class Truth(enum.Enum):
    """The answer to a comparison. It has no ``bool``: compare with ``is Truth.YES`` or ``is Truth.NO``."""

    YES = "yes"
    NO = "no"
    MAYBE = "maybe"

    def __bool__(self) -> bool:
        raise TypeError("a Truth has no bool: compare it with Truth.YES or Truth.NO")


def truth(value: bool) -> Truth:
    """The decided answer for a Python bool."""
    return Truth.YES if value else Truth.NO


def not_(answer: Truth) -> Truth:
    """The negation; MAYBE stays MAYBE."""
    if answer is Truth.MAYBE:
        return answer
    return Truth.NO if answer is Truth.YES else Truth.YES


def and_(*answers: Truth) -> Truth:
    """NO if any is NO, YES if all are YES, else MAYBE."""
    return Truth.NO if Truth.NO in answers else Truth.MAYBE if Truth.MAYBE in answers else Truth.YES


def or_(*answers: Truth) -> Truth:
    """YES if any is YES, NO if all are NO, else MAYBE."""
    return Truth.YES if Truth.YES in answers else Truth.MAYBE if Truth.MAYBE in answers else Truth.NO

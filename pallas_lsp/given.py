"""Calls that stand in no file: ``inspect --call`` and the table ``shapes`` of the configuration give them as text.

``flash_attention(f32[1,2,512,128], f32[1,2,512,128], f32[1,2,512,128], causal=True)`` is Python but for ``f32[]``, so Python's own
parser reads it. Nothing of it is run: what it is worth is for the interpreter to say.
"""

from __future__ import annotations

import ast
import os
import re
from dataclasses import dataclass, field

from .errors import CannotRun

_NO_DIMS = re.compile(r"(?<=\w)\[\s*\]")


class WrongCall(CannotRun):
    """The text is no call, or none that can be made; one clear line says why."""


@dataclass(frozen=True, slots=True)
class GivenCall:
    """A call as it was written. ``module``: the dotted name of the module it is made in, "" for the file at hand."""

    text: str
    module: str = ""
    tree: ast.Call = field(compare=False, repr=False, kw_only=True)

    def is_of(self, path: str) -> bool:
        """Whether ``path`` is the module's file: the dotted name is the end of it (``ops.attention`` of ``src/ops/attention.py``)."""
        parts = path.removesuffix(".py").removesuffix(f"{os.sep}__init__").split(os.sep)
        wanted = self.module.split(".")
        return bool(self.module) and parts[-len(wanted) :] == wanted


def read_call(text: str, module: str = "") -> GivenCall:
    """The call that ``text`` writes. Raises WrongCall where it writes none."""
    readable = _NO_DIMS.sub("[()]", text.strip())
    try:
        tree = ast.parse(readable, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        raise WrongCall(f"{text!r} is no call: {reason}") from None
    if not isinstance(tree, ast.Call):
        raise WrongCall(f"{text!r} is no call (expected one like 'f(f32[8,128], causal=True)')")
    return GivenCall(text, module, tree=tree)

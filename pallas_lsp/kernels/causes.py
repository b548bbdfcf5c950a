"""What would have to be known of the refs of a kernel: the parameters and expressions of the program behind them, each once.

The dims and dtypes of refs are written in the program's own names (``q.shape[3]``, ``q.dtype``, ``block_q``), which say what they hang on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..interpreter.unknowns import parameter_of
from ..shapes.poly import symbols_of
from .refs import RefInfo

_DIM = re.compile(r"\.shape\[-?\d+\]$")
_AGAIN = re.compile(r" #\d+$")  # the number of an expression that is computed again
_BASE = re.compile(r"[A-Za-z_]\w*(?=[.\[])")
_ORDER = ("memory space", "shape", "dtype", "value")


@dataclass(frozen=True, slots=True)
class _Lack:
    """What is not known, one of `_ORDER`, of an expression of the program; ``why``, in words."""

    what: str
    of: str
    why: str = ""


def root_causes(refs: Iterable[RefInfo]) -> list[str]:
    """What is not known behind the refs, in words: first what most of them hang on."""
    by_base: dict[str, dict[_Lack, None]] = {}
    weight: dict[str, int] = {}
    for ref in refs:
        lacks = list(dict.fromkeys(_lacks(ref)))
        for lack in lacks:
            by_base.setdefault(_base(lack.of), {})[lack] = None
        for base in {_base(lack.of) for lack in lacks}:
            weight[base] = weight.get(base, 0) + 1
    first = sorted(by_base, key=lambda base: -weight[base])
    return [words for base in first for words in _words(base, list(by_base[base]))]


def _lacks(ref: RefInfo) -> Iterator[_Lack]:
    own = parameter_of(ref.why)  # where the expressions have no name, a parameter still may be behind them
    is_blocked = ref.window is not None and "unknown" in (ref.window.kinds or ())
    named = ref.dtype_name.removesuffix(".dtype") if ref.dtype_name is not None and ref.dtype_name.endswith(".dtype") else None
    if ref.memory_space is None:
        yield _Lack("memory space", ref.name, ref.why)
    if ref.shape is None and named is not None and not is_blocked:
        yield _Lack("shape", named)
    elif ref.shape is None or None in ref.shape:
        yield _Lack("shape", own) if own else _Lack("shape", ref.name, ref.why)
    for symbol in dict.fromkeys(symbol for dim in ref.shape or () for symbol in symbols_of(dim)):
        array = _DIM.sub("", symbol.name)
        yield _Lack("shape", array) if array != symbol.name else _Lack("value", _AGAIN.sub("", symbol.name))
    if ref.dtype is None:
        if named is not None:
            yield _Lack("dtype", named)
        elif ref.dtype_name is not None:
            yield _Lack("value", ref.dtype_name)
        else:
            yield _Lack("dtype", own) if own else _Lack("dtype", ref.name, ref.why)


def _base(of: str) -> str:
    """The variable that an expression reads a part of: ``mask_info`` for ``mask_info.data_next``; else the expression itself."""
    found = _BASE.match(of)
    return found[0] if found is not None and not re.search(r"[() ]", of) else of


def _words(base: str, lacks: list[_Lack]) -> Iterator[str]:
    """``the shape and dtype of `q```, ``the shapes and dtypes in `mask_info` (`.data_next`, `.block_mask`)``."""
    values, arrays = [lack for lack in lacks if lack.what == "value"], [lack for lack in lacks if lack.what != "value"]
    for group in filter(None, (arrays, values)):
        whats = sorted({lack.what for lack in group}, key=_ORDER.index)
        parts = list(dict.fromkeys(lack.of for lack in group if lack.of != base)) or [base]
        why = next((f" ({lack.why})" for lack in group if lack.why), "")
        if len(parts) == 1:
            yield f"the {' and '.join(whats)} of `{parts[0]}`{why}"
        else:
            inside = ", ".join(f"`{part.removeprefix(base)}`" for part in parts)
            yield f"the {' and '.join(f'{what}s' for what in whats)} in `{base}` ({inside}){why}"

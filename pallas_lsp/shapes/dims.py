"""Dimensions of arrays: integers, and polynomials over named symbols.

A known dimension is a plain ``int``. A symbolic one is a :class:`Poly` in normal form, so that two ways of writing one
quantity compare equal (``cdiv(4 * n, 8) == cdiv(n, 2)``). ``None`` stands for a dimension of which nothing is known.
Comparisons answer with a :class:`Truth`, which has no ``bool``: an undecided question can not be taken for a yes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from math import gcd
from typing import Literal, TypeAlias

from pallas_lsp.shapes.bounds import nonnegative
from pallas_lsp.shapes.poly import (
    MEMO,
    TERM_LIMIT,
    Atom,
    Dim,
    MaybeDim,
    Monomial,
    Op,
    Poly,
    Symbol,
    add,
    atom_dim,
    atoms_of,
    build,
    constant_of,
    content_of,
    mul,
    neg,
    order,
    over,
    power,
    product,
    render,
    replace,
    single,
    sub,
    symbol,
    terms_of,
)
from pallas_lsp.shapes.truth import Truth, and_, not_, or_, truth

__all__ = [
    "Atom",
    "Dim",
    "MaybeDim",
    "Op",
    "Poly",
    "Shape",
    "Symbol",
    "Truth",
    "add",
    "and_",
    "cdiv",
    "divides",
    "equal",
    "floordiv",
    "less",
    "less_equal",
    "maximum",
    "minimum",
    "mod",
    "mul",
    "neg",
    "not_",
    "or_",
    "power",
    "product",
    "render",
    "sub",
    "substitute",
    "symbol",
    "truth",
]

Shape: TypeAlias = tuple[MaybeDim, ...] | None


def floordiv(a: MaybeDim, b: MaybeDim) -> MaybeDim:
    """``a // b`` rounded down as Python does; None for a division by a certain zero."""
    if a is None or b is None or b == 0:
        return None
    if isinstance(a, int) and isinstance(b, int):
        return a // b
    return _floordiv(a, b)


@lru_cache(MEMO)
def _floordiv(a: Dim, b: Dim) -> MaybeDim:
    quotient, rest = _divide(a, b)
    return None if quotient is None or rest is None else add(quotient, _floor(rest, b))


def mod(a: MaybeDim, b: MaybeDim) -> MaybeDim:
    """``a % b`` with the sign of ``b`` as Python does; None for a certain zero ``b``."""
    if a is None or b is None or b == 0:
        return None
    if isinstance(a, int) and isinstance(b, int):
        return a % b
    return _mod(a, b)


@lru_cache(MEMO)
def _mod(a: Dim, b: Dim) -> MaybeDim:
    _, rest = _divide(a, b)
    return None if rest is None else _remainder(rest, b)


def cdiv(a: MaybeDim, b: MaybeDim) -> MaybeDim:
    """``a / b`` rounded up, for a positive ``b``."""
    if a is None or b is None or b == 0:
        return None
    if isinstance(a, int) and isinstance(b, int):
        return a // b if a % b == 0 else (a + b - 1) // b
    return _cdiv(a, b)


@lru_cache(MEMO)
def _cdiv(a: Dim, b: Dim) -> MaybeDim:
    quotient, rest = _divide(a, b)
    return quotient if rest == 0 else floordiv(sub(add(a, b), 1), b)


def minimum(a: MaybeDim, b: MaybeDim) -> MaybeDim:
    """``min(a, b)``."""
    return _extremum("min", a, b)


def maximum(a: MaybeDim, b: MaybeDim) -> MaybeDim:
    """``max(a, b)``."""
    return _extremum("max", a, b)


def _divide(a: Dim, b: Dim) -> tuple[MaybeDim, MaybeDim]:
    """``(q, r)`` with ``a == q * b + r`` for every value of the symbols, ``r`` as simple as can be.

    A divisor of one term is taken out of each term that it divides exactly; one of several terms only where what is left is a
    constant, because other remainders read worse than the quotient that they replace.
    """
    divisor = terms_of(b)
    (lead, lead_coef), *tail = sorted(divisor.items(), key=order)
    quotient: MaybeDim = 0
    rest: MaybeDim = a
    for _ in range(TERM_LIMIT):
        if rest is None or isinstance(rest, int):
            break
        step = next((step for step in (_quotient_term(term, lead, lead_coef) for term in rest.terms) if step), None)
        if step is None:
            break
        part = build({step[0]: step[1]})
        quotient, rest = add(quotient, part), sub(rest, mul(part, b))
    if tail and not isinstance(rest, int):
        return 0, a
    if isinstance(b, int) and rest is not None and quotient is not None:
        whole = constant_of(rest) // b
        return add(quotient, whole), sub(rest, whole * b)
    return quotient, rest


def _quotient_term(term: tuple[Monomial, int], lead: Monomial, coef: int) -> tuple[Monomial, int] | None:
    mono = over(term[0], lead)
    # The constant of a constant divisor is split afterwards, by floor division.
    if mono is None or term[1] % coef or (not lead and not mono):
        return None
    return mono, term[1] // coef


def _reduce(a: Dim, b: Dim) -> tuple[int, Dim, Dim, int]:
    """``(g, n, d, c)`` with ``a == g * n + c``, ``b == g * d`` and ``0 <= c < g``: then ``a // b == n // d``."""
    g = gcd(content_of(a), content_of(b), constant_of(b))
    if g <= 1:
        return 1, a, b, 0
    c = constant_of(a) % g
    n = build({mono: coef // g for mono, coef in terms_of(a).items()})
    d = build({mono: coef // g for mono, coef in terms_of(b).items()})
    assert n is not None and d is not None
    return g, n, d, c


def _common_factor(a: Dim, b: Dim) -> Monomial:
    """The greatest monomial that divides every term of both."""
    monos = [dict(mono) for mono in (*terms_of(a), *terms_of(b))]
    shared = {atom: min(m.get(atom, 0) for m in monos) for atom in monos[0]}
    return tuple(sorted(((atom, n) for atom, n in shared.items() if n), key=lambda item: item[0].key))


def _strip(d: Dim, factor: Monomial) -> Dim:
    terms = {over(mono, factor): coef for mono, coef in terms_of(d).items()}
    result = build({mono: coef for mono, coef in terms.items() if mono is not None})
    assert result is not None
    return result


def _floor(a: Dim, b: Dim) -> MaybeDim:
    """``a // b`` after the exact part has been taken out."""
    if isinstance(a, int) and isinstance(b, int):
        return a // b
    if (factor := _common_factor(a, b)) and a != 0:
        return floordiv(_strip(a, factor), _strip(b, factor))
    _, n, d, _ = _reduce(a, b)
    if (n, d) != (a, b):
        return floordiv(n, d)
    if n == 0:
        return 0
    if nonnegative(sub(d, 1)):
        if nonnegative(n) and nonnegative(sub(d, add(n, 1))):
            return 0
        if nonnegative(sub(-1, n)) and nonnegative(add(n, d)):
            return -1
        if (inner := single(n, "//")) and nonnegative(sub(inner.args[1], 1)):
            return floordiv(inner.args[0], mul(inner.args[1], d))
        if isinstance(n, Poly) and n.terms[0][1] < 0:
            return neg(floordiv(sub(sub(d, 1), n), d))
    return atom_dim(Op("//", (n, d)))


def _remainder(a: Dim, b: Dim) -> MaybeDim:
    """``a % b`` after the exact part has been taken out."""
    if isinstance(a, int) and isinstance(b, int):
        return a % b
    if (factor := _common_factor(a, b)) and a != 0:
        return mul(build({factor: 1}), mod(_strip(a, factor), _strip(b, factor)))
    g, n, d, c = _reduce(a, b)
    if (n, d) != (a, b):
        return add(mul(g, mod(n, d)), c)
    if isinstance(d, int):
        n = _small_coefficients(n, d)
    if n == 0:
        return 0
    if nonnegative(n) and nonnegative(sub(d, add(n, 1))):
        return n
    if (inner := single(n, "%")) and isinstance(d, int) and isinstance(inner.args[1], int) and inner.args[1] % d == 0:
        return mod(inner.args[0], d)
    return n if isinstance(n, int) and isinstance(d, int) else atom_dim(Op("%", (n, d)))


def _small_coefficients(n: Dim, m: int) -> Dim:
    """``n`` with each coefficient replaced by the smallest one of its class modulo ``m``."""

    def smallest(mono: Monomial, coef: int) -> int:
        rest = coef % m
        return rest - m if mono and 2 * abs(rest) > abs(m) else rest

    result = build({mono: smallest(mono, coef) for mono, coef in terms_of(n).items()})
    assert result is not None
    return result


def _extremum(op: Literal["min", "max"], a: MaybeDim, b: MaybeDim) -> MaybeDim:
    if a is None or b is None:
        return None
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b) if op == "min" else max(a, b)
    return _extremum_of(op, a, b)


@lru_cache(MEMO)
def _extremum_of(op: Literal["min", "max"], a: Dim, b: Dim) -> MaybeDim:
    kept: list[Dim] = []
    for d in (a, b):
        inner = single(d, op)
        for arg in inner.args if inner else (d,):
            if any(_wins(op, other, arg) for other in kept):
                continue
            kept = [other for other in kept if not _wins(op, arg, other)]
            kept.append(arg)
    if len(kept) == 1:
        return kept[0]
    return atom_dim(Op(op, tuple(sorted(kept, key=lambda d: d.key if isinstance(d, Poly) else str(d)))))


def _wins(op: str, a: Dim, b: Dim) -> bool:
    """Whether the extremum of both is certainly ``a``."""
    return nonnegative(sub(b, a) if op == "min" else sub(a, b))


# --- comparison ---


def equal(a: MaybeDim, b: MaybeDim) -> Truth:
    """Whether ``a == b`` for every value of the symbols (YES), for none (NO), or it is not known (MAYBE)."""
    if a is None or b is None:
        return Truth.MAYBE
    if isinstance(a, int) and isinstance(b, int):
        return truth(a == b)
    return Truth.YES if a == b else _equal(a, b)


@lru_cache(MEMO)
def _equal(a: Dim, b: Dim) -> Truth:
    difference = _expand_mod(sub(a, b))
    if difference is None:
        return Truth.MAYBE
    if isinstance(difference, int):
        return truth(difference == 0)
    if constant_of(difference) % content_of(difference):
        return Truth.NO
    if nonnegative(sub(difference, 1)) or nonnegative(sub(-1, difference)):
        return Truth.NO
    return Truth.MAYBE


def less_equal(a: MaybeDim, b: MaybeDim) -> Truth:
    """Whether ``a <= b``: YES or NO only if so for every value of the symbols."""
    if a is None or b is None:
        return Truth.MAYBE
    return truth(a <= b) if isinstance(a, int) and isinstance(b, int) else _less_equal(a, b)


@lru_cache(MEMO)
def _less_equal(a: Dim, b: Dim) -> Truth:
    difference = _expand_mod(sub(b, a))
    if nonnegative(difference):
        return Truth.YES
    return Truth.NO if nonnegative(sub(-1, difference)) else Truth.MAYBE


def less(a: MaybeDim, b: MaybeDim) -> Truth:
    """Whether ``a < b``: YES or NO only if so for every value of the symbols."""
    return not_(less_equal(b, a))


def divides(k: MaybeDim, d: MaybeDim) -> Truth:
    """Whether ``k`` divides ``d`` without a rest; 0 divides only 0."""
    if k == 0:
        return equal(d, 0)
    if d == 0:
        return Truth.YES
    rest = mod(d, k)
    return equal(rest, 0) if rest is not None else Truth.MAYBE


def _expand_mod(d: MaybeDim) -> MaybeDim:
    """``d`` with each ``x % y`` written as ``x - y * (x // y)``, in which form more differences cancel."""
    if not any(isinstance(atom, Op) and atom.op == "%" for atom in atoms_of(d)):
        return d

    def expanded(atom: Atom) -> MaybeDim:
        if isinstance(atom, Symbol) or atom.op != "%":
            return atom_dim(atom)
        x, y = atom.args
        return sub(x, mul(y, floordiv(x, y)))

    result = replace(d, expanded)
    return d if result is None else result


# --- substitution ---


def substitute(d: Dim, mapping: Mapping[Atom, Dim]) -> Dim:
    """``d`` with atoms replaced by their values; ``d`` itself where the replaced form has no value (a division by zero)."""
    result = _substituted(d, mapping) if mapping else d
    return d if result is None else result


_APPLY: Mapping[str, Callable[[MaybeDim, MaybeDim], MaybeDim]] = {
    "//": floordiv,
    "%": mod,
    "min": minimum,
    "max": maximum,
}


def _substituted(d: MaybeDim, mapping: Mapping[Atom, Dim]) -> MaybeDim:
    def value(atom: Atom) -> MaybeDim:
        found = mapping.get(atom)
        if found is not None:
            return found
        if isinstance(atom, Symbol):
            return atom_dim(atom)
        first, *others = (_substituted(arg, mapping) for arg in atom.args)
        for other in others:
            first = _APPLY[atom.op](first, other)
        return first

    return replace(d, value)

"""Integer polynomials over named symbols and operations, in normal form: the representation behind :mod:`pallas_lsp.shapes.dims`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import gcd
from typing import Literal, TypeAlias, Union, cast

Dim: TypeAlias = Union[int, "Poly"]
MaybeDim: TypeAlias = Union[int, "Poly", None]
Atom: TypeAlias = Union["Symbol", "Op"]
Monomial: TypeAlias = tuple[tuple["Symbol | Op", int], ...]

# A polynomial with more terms than this is given up as unknown: sums of products of user shapes stay far below it.
TERM_LIMIT = 64

# The same few sums and products come again on every path of a kernel.
MEMO = 1 << 15


@dataclass(frozen=True, slots=True)
class Symbol:
    """A named integer; ``least`` is a lower bound of it (None: any integer)."""

    name: str
    least: int | None = None
    key: str = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", f"{self.name}\0{self.least}")

    def __hash__(self) -> int:
        return hash(self.key)  # which a text works out once


@dataclass(frozen=True, slots=True)
class Op:
    """An operation that no polynomial expresses; its operands are in normal form."""

    op: Literal["//", "%", "min", "max"]
    args: tuple[Dim, ...]
    key: str = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        # "\x7f" sorts operations after symbols, so that messages name the user's symbols first.
        object.__setattr__(self, "key", f"\x7f{self.op}({','.join(key_of(arg) for arg in self.args)})")

    def __hash__(self) -> int:
        return hash(self.key)


class Poly:
    """An integer polynomial over atoms that is not a constant: immutable, hashable, in normal form.

    Made by :func:`symbol` and by arithmetic, never directly. ``==`` and ``hash`` are those of the normal form;
    whether two different polynomials have the same value is a question for :func:`equal`.
    """

    __slots__ = ("_hash", "_key", "terms")

    terms: tuple[tuple[Monomial, int], ...]
    _hash: int
    _key: str | None

    def __init__(self, terms: tuple[tuple[Monomial, int], ...]) -> None:
        self.terms = terms
        self._hash = hash(terms)
        self._key = None

    @property
    def key(self) -> str:
        """A text that orders polynomials the same way in every run."""
        key = self._key
        if key is None:
            key = self._key = " ".join(f"{coef}*{monomial_key(mono)}" for mono, coef in self.terms)
        return key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Poly) and self._hash == other._hash and self.terms == other.terms

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"Poly({render(self)})"

    def __add__(self, other: Dim) -> Dim:
        return _operator(add, self, other)

    def __radd__(self, other: Dim) -> Dim:
        return _operator(add, other, self)

    def __sub__(self, other: Dim) -> Dim:
        return _operator(sub, self, other)

    def __rsub__(self, other: Dim) -> Dim:
        return _operator(sub, other, self)

    def __mul__(self, other: Dim) -> Dim:
        return _operator(mul, self, other)

    def __rmul__(self, other: Dim) -> Dim:
        return _operator(mul, other, self)

    def __floordiv__(self, other: Dim) -> Dim:
        return _operator(_floordiv, self, other)

    def __rfloordiv__(self, other: Dim) -> Dim:
        return _operator(_floordiv, other, self)

    def __mod__(self, other: Dim) -> Dim:
        return _operator(_mod, self, other)

    def __rmod__(self, other: Dim) -> Dim:
        return _operator(_mod, other, self)

    def __neg__(self) -> Dim:
        return _operator(mul, self, -1)


@lru_cache(MEMO)
def symbol(name: str, least: int | None = None) -> Poly:
    """The dimension called ``name``, at least ``least`` where that is given."""
    return atom_dim(Symbol(name, least))


@lru_cache(MEMO)
def atom_dim(atom: Atom) -> Poly:
    """The dimension that is this one atom."""
    return Poly(((((atom, 1),), 1),))


def _floordiv(a: MaybeDim, b: MaybeDim) -> MaybeDim:
    from pallas_lsp.shapes.dims import floordiv  # division needs the bounds, which need this module

    return floordiv(a, b)


def _mod(a: MaybeDim, b: MaybeDim) -> MaybeDim:
    from pallas_lsp.shapes.dims import mod

    return mod(a, b)


def _operator(function: Callable[[MaybeDim, MaybeDim], MaybeDim], a: object, b: object) -> Dim:
    if not (isinstance(a, int | Poly) and isinstance(b, int | Poly)):
        return cast("Dim", NotImplemented)
    result = function(a, b)
    if result is None:
        raise ArithmeticError("division by zero, or a polynomial of too many terms")
    return result


# --- normal form -----------------------------------------------------------------------------------------------------


def key_of(d: Dim) -> str:
    return d.key if isinstance(d, Poly) else str(d)


def monomial_key(mono: Monomial) -> str:
    return "*".join(f"{atom.key}^{power}" for atom, power in mono)


def terms_of(d: Dim) -> dict[Monomial, int]:
    if isinstance(d, Poly):
        return dict(d.terms)
    return {(): int(d)} if d else {}


def order(item: tuple[Monomial, int]) -> tuple[int, str]:
    mono, _ = item
    return -sum(power for _, power in mono), monomial_key(mono)


def build(terms: Mapping[Monomial, int]) -> MaybeDim:
    """The dimension with these terms: highest degree first, zeros dropped, a constant as an int."""
    kept = [(mono, coef) for mono, coef in terms.items() if coef]
    if len(kept) > TERM_LIMIT:
        return None
    if not kept:
        return 0
    if len(kept) == 1 and not kept[0][0]:
        return kept[0][1]
    return Poly(tuple(sorted(kept, key=order)))


def times(a: Monomial, b: Monomial) -> Monomial:
    if not a or not b:
        return a or b
    powers = dict(a)
    for atom, power in b:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted(powers.items(), key=lambda item: item[0].key))


def over(a: Monomial, b: Monomial) -> Monomial | None:
    """``a / b`` where ``b`` divides ``a``."""
    powers = dict(a)
    for atom, power in b:
        left = powers.pop(atom, 0) - power
        if left < 0:
            return None
        if left:
            powers[atom] = left
    return tuple(item for item in sorted(powers.items(), key=lambda item: item[0].key))


def constant_of(d: Dim) -> int:
    return terms_of(d).get((), 0)


def content_of(d: Dim) -> int:
    """The greatest common divisor of the coefficients of all terms but the constant."""
    return gcd(*(coef for mono, coef in terms_of(d).items() if mono))


# --- arithmetic ---


def add(a: MaybeDim, b: MaybeDim) -> MaybeDim:
    """``a + b``."""
    if isinstance(b, int):
        a, b = b, a
    if isinstance(a, int):
        if isinstance(b, int):
            return a + b
        if a == 0:
            return b
    return None if a is None or b is None else _sum(a, b)


@lru_cache(MEMO)
def _sum(a: Dim, b: Dim) -> MaybeDim:
    terms = terms_of(a)
    for mono, coef in terms_of(b).items():
        terms[mono] = terms.get(mono, 0) + coef
    return build(terms)


def neg(a: MaybeDim) -> MaybeDim:
    """``-a``."""
    return mul(a, -1)


def sub(a: MaybeDim, b: MaybeDim) -> MaybeDim:
    """``a - b``."""
    return add(a, neg(b))


def mul(a: MaybeDim, b: MaybeDim) -> MaybeDim:
    """``a * b``; zero times an unknown dimension is zero."""
    if isinstance(b, int):
        a, b = b, a
    if isinstance(a, int):
        if isinstance(b, int):
            return a * b
        if a in (0, 1):
            return b if a else 0
    return None if a is None or b is None else _multiply(a, b)


@lru_cache(MEMO)
def _multiply(a: Dim, b: Dim) -> MaybeDim:
    left, right = terms_of(a), terms_of(b)
    if len(left) * len(right) > TERM_LIMIT:
        return None
    terms: dict[Monomial, int] = {}
    for mono_a, coef_a in left.items():
        for mono_b, coef_b in right.items():
            mono = times(mono_a, mono_b)
            terms[mono] = terms.get(mono, 0) + coef_a * coef_b
    return build(terms)


def product(dims: Iterable[MaybeDim]) -> MaybeDim:
    """The product of all; 1 for none."""
    result: MaybeDim = 1
    for d in dims:
        result = mul(result, d)
    return result


def power(a: MaybeDim, b: MaybeDim) -> MaybeDim:
    """``a ** b`` for a known exponent of at least 0; None otherwise (Python gives a float, or no polynomial exists)."""
    if a is None or not isinstance(b, int) or b < 0:
        return None
    if isinstance(a, int):
        return int(a**b) if b <= 4096 else None
    return a if b == 1 else product([a] * b) if b <= 16 else None


def atoms_of(d: MaybeDim) -> tuple[Atom, ...]:
    if not isinstance(d, Poly):
        return ()
    return tuple(dict.fromkeys(atom for mono, _ in d.terms for atom, _ in mono))


def symbols_of(d: MaybeDim) -> tuple[Symbol, ...]:
    """The symbols that the dim depends on, in order, each once."""
    found: dict[Symbol, None] = {}
    for atom in atoms_of(d):
        found |= dict.fromkeys([atom] if isinstance(atom, Symbol) else [symbol for arg in atom.args for symbol in symbols_of(arg)])
    return tuple(found)


def replace(d: MaybeDim, value: Callable[[Atom], MaybeDim]) -> MaybeDim:
    """``d`` with each atom of its terms replaced by ``value(atom)``; None where one of these is None."""
    if not isinstance(d, Poly):
        return d
    total: MaybeDim = 0
    for mono, coef in d.terms:
        factor: MaybeDim = coef
        for atom, exponent in mono:
            factor = mul(factor, power(value(atom), exponent))
        total = add(total, factor)
    return total


def single(d: Dim, op: str) -> Op | None:
    """The operation that ``d`` consists of alone."""
    if isinstance(d, Poly) and len(d.terms) == 1:
        mono, coef = d.terms[0]
        if coef == 1 and len(mono) == 1 and mono[0][1] == 1 and isinstance(mono[0][0], Op) and mono[0][0].op == op:
            return mono[0][0]
    return None


# --- words ---


def render(d: MaybeDim) -> str:
    """``d`` as a user would write it: ``4·bq``, ``s // 128``, ``cdiv(s, 128)``; ``?`` for None."""
    if d is None:
        return "?"
    return str(d) if isinstance(d, int) else _rendered(d)


@lru_cache(MEMO)
def _rendered(d: Poly) -> str:
    left = dict(d.terms)
    texts: list[tuple[int, str]] = []
    for mono, coef in d.terms:
        rounded_up, rest = _rounded_up(mono)
        other = left.get(rest, 0)
        if rounded_up and abs(other) >= abs(coef) and (other > 0) == (coef > 0):
            left[rest], left[mono] = other - coef, 0
            texts.append((coef, _scaled(coef, "·".join(filter(None, (_render_monomial(rest), rounded_up))))))
    alone = not texts and len(left) == 1 and abs(d.terms[0][1]) == 1
    texts += [(coef, _scaled(coef, _render_monomial(mono, alone))) for mono, coef in left.items() if coef]
    texts.sort(key=lambda item: item[0] < 0)
    first, *others = texts
    return ("-" if first[0] < 0 else "") + first[1] + "".join(f" {'-' if coef < 0 else '+'} {text}" for coef, text in others)


def _scaled(coef: int, text: str) -> str:
    if not text:
        return str(abs(coef))
    return text if abs(coef) == 1 else f"{abs(coef)}·{text}"


def _rounded_up(mono: Monomial) -> tuple[str, Monomial]:
    """``cdiv(x + 1, y)`` and the other factors, for a monomial with a factor ``x // y`` where ``x`` ends in ``- 1``.

    ``1 + (x - 1) // y`` is the normal form of a division by a symbol that is rounded up.
    """
    for atom, exponent in mono:
        if exponent == 1 and isinstance(atom, Op) and atom.op == "//":
            x, y = atom.args
            if isinstance(y, Poly) and constant_of(x) == -1:
                return f"cdiv({render(add(x, 1))}, {render(y)})", tuple(item for item in mono if item[0] != atom)
    return "", mono


def _render_monomial(mono: Monomial, alone: bool = False) -> str:
    alone = alone and len(mono) == 1 and mono[0][1] == 1
    return "·".join(_render_atom(atom, alone) + (f"**{exponent}" if exponent > 1 else "") for atom, exponent in mono)


def _render_atom(atom: Atom, alone: bool) -> str:
    if isinstance(atom, Symbol):
        return atom.name
    if atom.op in ("min", "max"):
        return f"{atom.op}({', '.join(render(arg) for arg in atom.args)})"
    x, y = atom.args
    if atom.op == "//" and isinstance(y, int) and y > 1 and constant_of(x) == y - 1:
        return f"cdiv({render(sub(x, y - 1))}, {y})"
    text = f"{_operand(x)} {atom.op} {_operand(y)}"
    return text if alone else f"({text})"


def _operand(d: Dim) -> str:
    text = render(d)
    if not isinstance(d, Poly) or any(single(d, op) for op in ("min", "max")):
        return text
    return f"({text})" if any(mark in text for mark in " ·-") else text

"""What can be shown of the sign of a dimension from the lower bounds of its symbols."""

from __future__ import annotations

from collections.abc import Mapping

from pallas_lsp.shapes.poly import Atom, Dim, MaybeDim, Monomial, Op, Symbol, add, atom_dim, atoms_of, mul, replace, sub, terms_of


def nonnegative(d: MaybeDim) -> bool:
    """Whether ``d >= 0`` can be shown from the bounds of its symbols, with at most one fact about its operations."""
    if d is None or isinstance(d, int):
        return d is not None and d >= 0
    if _at_least_zero(d):
        return True
    return any(_at_least_zero(sub(d, fact)) for atom in atoms_of(d) if isinstance(atom, Op) for fact in _facts(atom))


def _facts(atom: Op) -> list[MaybeDim]:
    """Expressions that are never negative, by the meaning of one operation."""
    value: Dim = atom_dim(atom)
    if atom.op == "min":
        return [sub(arg, value) for arg in atom.args]
    if atom.op == "max":
        return [sub(value, arg) for arg in atom.args]
    x, y = atom.args
    if not _at_least_zero(sub(y, 1)):
        return []
    rest = value if atom.op == "%" else sub(x, mul(y, value))
    facts = [rest, sub(sub(y, 1), rest)]
    if atom.op == "//" and _at_least_zero(x):
        facts.append(sub(x, value))
    if atom.op == "%" and _at_least_zero(x):
        facts.append(sub(x, value))
    return facts


def _at_least_zero(d: MaybeDim) -> bool:
    """Whether ``d >= 0`` follows from the bounds of its atoms alone.

    Each atom with a lower bound is written as that bound plus a rest of at least zero; then the terms are bounded one by one.
    """
    if d is None or isinstance(d, int):
        return d is not None and d >= 0
    bounds = {atom: _bounds(atom) for atom in atoms_of(d)}
    # The rest keeps the atom's name here: below, an atom stands for its distance from its lower bound.
    shifted = replace(d, lambda atom: add(atom_dim(atom), bounds[atom][0] or 0)) if any(low for low, _ in bounds.values()) else d
    if shifted is None:
        return False
    total = 0
    for mono, coef in terms_of(shifted).items():
        if coef > 0:
            if any(bounds[atom][0] is None and power % 2 for atom, power in mono):
                return False
            total += coef if not mono else 0
        elif not mono:
            total += coef
        else:
            highest = _highest(mono, bounds)
            if highest is None:
                return False
            total += coef * highest
    return total >= 0


def _highest(mono: Monomial, bounds: Mapping[Atom, tuple[int | None, int | None]]) -> int | None:
    """The greatest value of a product of distances from lower bounds."""
    highest = 1
    for atom, exponent in mono:
        low, high = bounds[atom]
        if low is None or high is None:
            return None
        highest *= int(max(high - low, 0) ** exponent)
    return highest


def _bounds(atom: Atom) -> tuple[int | None, int | None]:
    """The least and the greatest value of an atom, None where there is none."""
    if isinstance(atom, Symbol):
        return atom.least, None
    ranges = [_range(arg) for arg in atom.args]
    if atom.op in ("min", "max"):
        lows, highs = [low for low, _ in ranges], [high for _, high in ranges]
        return (_least(lows), _least_known(highs)) if atom.op == "min" else (_greatest_known(lows), _greatest(highs))
    (low, high), (divisor, divisor_high) = ranges
    if divisor is None or divisor < 1:
        return None, None
    if atom.op == "%":
        return 0, None if divisor_high is None else divisor_high - 1
    # x // y for y >= 1 lies between x and 0, and an exact y gives exact bounds.
    if divisor == divisor_high:
        return None if low is None else low // divisor, None if high is None else high // divisor
    return None if low is None else min(low // divisor, 0), None if high is None else max(high // divisor, 0)


def _range(d: Dim) -> tuple[int | None, int | None]:
    if isinstance(d, int):
        return d, d
    low: int | None = 0
    high: int | None = 0
    for mono, coef in d.terms:
        term_low, term_high = _monomial_range(mono)
        if coef < 0:
            term_low, term_high = term_high, term_low
        low = None if low is None or term_low is None else low + coef * term_low
        high = None if high is None or term_high is None else high + coef * term_high
    return low, high


def _monomial_range(mono: Monomial) -> tuple[int | None, int | None]:
    """The range of a product of atoms; only products of atoms that are never negative have one."""
    if len(mono) == 1 and mono[0][1] == 1:
        return _bounds(mono[0][0])
    low: int | None = 1
    high: int | None = 1
    for atom, exponent in mono:
        atom_low, atom_high = _bounds(atom)
        if atom_low is None or atom_low < 0 or low is None:
            return None, None
        low *= atom_low**exponent
        high = None if high is None or atom_high is None else high * atom_high**exponent
    return low, high


def _least(values: list[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return min(known) if len(known) == len(values) else None


def _greatest(values: list[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return max(known) if len(known) == len(values) else None


def _least_known(values: list[int | None]) -> int | None:
    return min((value for value in values if value is not None), default=None)


def _greatest_known(values: list[int | None]) -> int | None:
    return max((value for value in values if value is not None), default=None)

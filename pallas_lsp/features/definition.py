"""Where a ref comes from: from a kernel's parameter to its spec, and from the spec to the operand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..text.span import Location

if TYPE_CHECKING:
    from ..analysis import Analysis
    from ..kernels.refs import RefInfo


def definition(analysis: Analysis, offset: int) -> list[Location]:
    """Where to go from ``offset``.

    From a kernel's parameter: its spec in each call, and the operand or the entry of ``out_shape``. From a use of the name: the parameter.
    From a spec, beside the names in it (which a type checker follows): the parameter and the operand.
    """
    refs, path = _refs(analysis), analysis.source.path
    if at_parameter := [ref for ref in refs if _is_at(ref.parameter, path, offset)]:
        return _distinct(place for ref in at_parameter for place in (ref.spec, ref.source))
    if used := _used(analysis, refs, offset):
        return _distinct(ref.parameter for ref in used)
    if analysis.notes.is_name(_in_word(analysis.source.text, offset)):
        return []
    calls = {site.location for site in analysis.sites}
    in_spec = [ref for ref in refs if _is_at(ref.spec, path, offset) and ref.spec not in calls]
    return _distinct(place for ref in in_spec for place in (ref.parameter, ref.source))


def type_definition(analysis: Analysis, offset: int) -> list[Location]:
    """The specs of the ref that is named at ``offset``, as a parameter or in use: they say what it is."""
    refs = _refs(analysis)
    found = [ref for ref in refs if _is_at(ref.parameter, analysis.source.path, offset)] or _used(analysis, refs, offset)
    return _distinct(ref.spec for ref in found)


def _refs(analysis: Analysis) -> list[RefInfo]:
    """The refs of the kernel calls in the file, and of those in other files of kernels that are in it."""
    return [ref for site in (*analysis.sites, *analysis.uses) for ref in site.refs]


def _used(analysis: Analysis, refs: Iterable[RefInfo], offset: int) -> list[RefInfo]:
    """The refs that the name at ``offset`` can be."""
    found = analysis.notes.ref_at(_in_word(analysis.source.text, offset))
    if found is None:
        return []
    root = found[1].root
    same = [ref for ref in refs if ref.spec == root.decided_at and ref.role == root.role]
    return [ref for ref in same if ref.name == root.name] or same


def _is_at(place: Location | None, path: str, offset: int) -> bool:
    """Whether the cursor at ``offset`` touches ``place``."""
    return place is not None and place.path == path and place.span.start <= offset <= place.span.end


def _in_word(text: str, offset: int) -> int:
    """``offset``, or the one before where the cursor is just behind a word."""
    behind = offset and (text[offset - 1].isalnum() or text[offset - 1] == "_") and not (text[offset : offset + 1] or " ").isidentifier()
    return offset - 1 if behind else offset


def _distinct(places: Iterable[Location | None]) -> list[Location]:
    def known() -> Iterator[Location]:
        yield from (place for place in places if place is not None)

    return list(dict.fromkeys(known()))

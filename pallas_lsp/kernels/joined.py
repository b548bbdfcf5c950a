"""What all configurations of a kernel agree on: the one answer that a hint or a lens has room for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from ..shapes.dims import MaybeDim, Shape
from ..text.span import Location
from .refs import RefInfo
from .site import KernelSite


def joined_dim(dims: Iterable[MaybeDim]) -> MaybeDim:
    """One dim for several configurations, the best known first: the one number that there is, else a formula, else None.

    A formula covers the numbers: the program's own calls put numbers in the place of its names.
    """
    found = list(dict.fromkeys(dims))
    numbers, formulas = [dim for dim in found if isinstance(dim, int)], [dim for dim in found if not isinstance(dim, int)]
    if len(numbers) == 1:
        return numbers[0]
    return formulas[0] if formulas and (not numbers or len(formulas) == 1) else None


def joined_shape(shapes: Iterable[Shape]) -> Shape:
    """One shape for several configurations; None where one has a rank of its own, or none has a known one."""
    known = [shape for shape in shapes if shape is not None]
    if len({len(shape) for shape in known}) != 1:
        return None
    return tuple(map(joined_dim, zip(*known, strict=True)))


def joined_refs(sites: Iterable[KernelSite]) -> dict[Location, list[RefInfo]]:
    """The refs that each parameter of a kernel receives, in all of the calls together: one, or several for ``*refs`` and pytrees."""
    by_parameter: dict[Location, dict[str, list[RefInfo]]] = {}
    for site in sites:
        for ref in site.refs:
            if ref.parameter is not None:
                by_parameter.setdefault(ref.parameter, {}).setdefault(ref.name, []).append(ref)
    return {parameter: [_joined(refs) for refs in by_name.values()] for parameter, by_name in by_parameter.items()}


def calls(sites: Sequence[KernelSite]) -> Iterator[tuple[Location, list[KernelSite]]]:
    """The kernel calls in the order of the text, each with its configurations."""
    for location, group in groupby(sites, key=lambda site: site.location):
        yield location, list(group)


def _joined(refs: Sequence[RefInfo]) -> RefInfo:
    return replace(
        refs[0],
        shape=joined_shape(ref.shape for ref in refs),
        dtype=_only(ref.dtype for ref in refs),
        dtype_name=_only(ref.dtype_name for ref in refs),
        memory_space=_only(ref.memory_space for ref in refs),
    )


def _only(names: Iterable[str | None]) -> str | None:
    """The one name that is known, None where there are several."""
    found = set(names) - {None}
    return found.pop() if len(found) == 1 else None

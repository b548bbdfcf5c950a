"""The refs of a kernel, as ``inspect`` and an editor show them."""

from __future__ import annotations

from dataclasses import dataclass

from ..interpreter.call_events import Window
from ..interpreter.events import KernelRun
from ..interpreter.library.refusals import location_of
from ..interpreter.library.uses import named_refs
from ..interpreter.values import Function, Ref, RefRoot
from ..shapes.dims import MaybeDim, Shape
from ..text.span import Location, Span


@dataclass(frozen=True, slots=True)
class RefWindow:
    """What a ref shows of an operand or output, step by step.

    ``array``: the shape of the whole (None: rank unknown); ``block``: its dims as the BlockSpec has them, ``squeezed`` for a squeezed one;
    ``kinds``: ``blocked``, ``squeezed``, ``element`` … for each dim; ``index``: what the index map gives, as polynomials of the grid
    indices (``interpreter.library.index_maps.grid_symbol``) with None for one that is none, and as a whole where there is no such map;
    ``axes``: what the map calls the grid indices.
    """

    array: Shape
    block: tuple[MaybeDim | str, ...] | None
    kinds: tuple[str, ...] | None
    index: tuple[MaybeDim, ...] | None
    axes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RefInfo:
    """One ref of a kernel; one of the program's own that a mesh kernel closes over counts as an input.

    ``shape``: None when the rank is unknown, even by how the kernel indexes it; ``dtype_name``: what the program calls a dtype that is not
    known (``q.dtype``), None where it has no name for it; ``why``: the cause of what is unknown.

    ``parameter``: the name in the kernel's head that receives it; ``spec``: the BlockSpec or scratch entry that made it, or the call where
    none is written; ``source``: the operand's expression, or the entry of ``out_shape``.
    """

    name: str
    role: str
    shape: Shape
    dtype: str | None
    memory_space: str | None
    why: str = ""
    parameter: Location | None = None
    spec: Location | None = None
    source: Location | None = None
    window: RefWindow | None = None
    dtype_name: str | None = None

    @property
    def lacks(self) -> bool:
        """Whether its memory space, its rank, or even a name for its dtype is missing."""
        return self.memory_space is None or self.shape is None or (self.dtype or self.dtype_name) is None


def refs_of(event: KernelRun) -> tuple[RefInfo, ...]:
    """The refs that a kernel receives, in the order of its parameters, those inside pytrees by their place there."""
    parameters = _parameters(event.kernel) if isinstance(event.kernel, Function) else {}
    return tuple(_info(name, ref, parameters.get(given)) for given, value in event.refs for name, ref in named_refs(given, value))


def _parameters(kernel: Function) -> dict[str, Location]:
    """Where the names of a function's parameters stand."""
    spec, source = kernel.node.args, kernel.module.source
    nodes = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs, *filter(None, (spec.vararg, spec.kwarg))]
    starts = {node.arg: source.span_of(node).start for node in nodes}
    return {name: Location(source.path, Span(start, start + len(name))) for name, start in starts.items()}


def _info(name: str, ref: Ref, parameter: Location | None) -> RefInfo:
    root = ref.root
    shape = (None,) * min(root.ranks) if root.shape is None and len(root.ranks) == 1 else root.shape
    source = root.given_at or (location_of(root.typed) if root.role == "output" and root.typed is not None else None)
    places = (parameter, root.decided_at, source)
    role = "input" if root.role == "outside" else root.role
    return RefInfo(root.own_name or name, role, shape, root.dtype, root.space, root.why, *places, _window(root), root.named)


def _window(root: RefRoot) -> RefWindow | None:
    window = root.window
    if not isinstance(window, Window):
        return None
    index: tuple[MaybeDim, ...] | None = window.result.formula if window.result is not None else None
    if not window.mapped and root.block is not None:
        index = (0,) * len(root.block)
    return RefWindow(root.array, root.block, window.kinds, index, _axes(window))


def _axes(window: Window) -> tuple[str, ...]:
    """The names of an index map's parameters that receive grid indices."""
    if window.result is None:
        return ()
    spec = window.result.function.node.args
    names = tuple(node.arg for node in (*spec.posonlyargs, *spec.args))
    return names if window.grid is None else names[: len(window.grid)]

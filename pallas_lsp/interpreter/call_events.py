"""What happened to the parts of a kernel call: facts without words, for the rules. The events of a kernel's body are in ``events``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..data.signatures import Fault
from ..shapes.dims import MaybeDim
from ..text.span import Location
from .events import Access, Event
from .meshes import Mesh
from .values import Array, BlockSpec, Function, Ref, RefRoot, Value

Grid = tuple[MaybeDim, ...] | None
"""The sizes of a grid: () for none, a None for one that is traced or not known, None where not even their number is known."""


@dataclass(slots=True)
class SignatureFault(Event):
    """A function or class that a kernel call is made of (``function``) is called with arguments that it does not take."""

    function: str
    fault: Fault


@dataclass(slots=True)
class StructureFault(Event):
    """``in_specs`` and the operands, or ``out_specs`` and ``out_shape`` (``side``), are trees of different structure.

    ``path``: where they first differ, ``[0]['w']``; ``specs`` and ``arrays``: what stands there, ABSENT for arrays where what stands for a
    spec is none; ``prefetched``: how many operands come before those that have specs; ``arrays_at``: where the operands or ``out_shape``
    are given.
    """

    side: str
    path: str
    specs: Value
    arrays: Value
    prefetched: int
    arrays_at: Location


@dataclass(slots=True)
class ArityFault(Event):
    """The arguments that a kernel or an index map (``what``) gets do not fit its parameters; ``text`` is Python's own message.

    ``given``: the arguments in words, positional ones first; ``missing``: parameters that get nothing; ``unexpected``: an argument's name
    that is no parameter; ``bound``: a partial passes that one, not the call.
    """

    what: str
    function: Function
    given: tuple[str, ...]
    missing: tuple[str, ...]
    unexpected: str | None
    text: str
    bound: bool = False


@dataclass(frozen=True, slots=True)
class MapResult:
    """What an index map returns.

    ``value``: as JAX traces it; ``entries``: its indices; ``formula``: these as polynomials of the grid indices (``grid_symbol``), None for
    one that is none; ``function``: the map; ``conditions``: the assumptions of its own path.
    """

    value: Value
    entries: tuple[Value, ...]
    formula: tuple[MaybeDim, ...] | None
    function: Function
    conditions: tuple[str, ...] = ()


@dataclass(slots=True)
class Window(Event):
    """One operand or output with its spec.

    ``root``: the ref that the kernel gets, with block and array; ``place``: how JAX calls it (``args[1]``); ``spec``: None where none is
    written; ``kinds``: of the block's dims (``blocked squeezed element bounded indirect``); ``mapped``: an index map is written;
    ``result``: what it returns; ``prefetched``: how many operands it receives behind the grid indices; ``siblings``: another spec of the
    call has an index map made at the same place in the text. ``call``: the kernel call; ``grid_at``: where its grid is given. ``fault``:
    what JAX refuses while tracing, as ``(rule id, detail)``. ``batch``: the axis that a ``vmap`` puts into the array: size, position,
    place. ``batched``: a ``vmap`` is around the call, which gives it a grid.
    """

    root: RefRoot
    place: str
    spec: BlockSpec | None
    kinds: tuple[str, ...] | None
    grid: Grid
    mapped: bool
    result: MapResult | None
    call: Location
    grid_at: Location
    fault: tuple[str, Any] | None = None
    prefetched: int = 0
    siblings: bool = False
    batch: tuple[MaybeDim, int, Location] | None = None
    batched: bool = False


@dataclass(slots=True)
class Captured(Event):
    """A kernel (``what``: ``kernel`` of a ``pallas_call``, or ``mesh``) computes with ``array``, which was made outside of it.

    ``user``: what was computed from it, None where it is stored as it is.
    """

    what: str
    function: Function
    array: Array
    user: Array | None


@dataclass(slots=True)
class Returned(Event):
    """A kernel returns something."""

    function: Function
    value: Value


@dataclass(slots=True)
class GridAxis(Event):
    """``program_id`` or ``num_programs`` (``function``) of an axis, with its ``result``; ``inside``: ``kernel`` or ``index map``."""

    function: str
    axis: int
    grid: Grid
    inside: str
    result: Value


@dataclass(slots=True)
class Aliased(Event):
    """One pair of ``input_output_aliases``.

    ``inputs`` and ``outputs``: the numbers of flattened operands and outputs, None where not known; ``source`` and ``result``: what the
    indices name, None where they are out of range or not known; ``earlier``: another input that names the same output.
    """

    input: int | str | None
    output: int | str | None
    inputs: int | None
    outputs: int | None
    source: Value
    result: Value
    earlier: int | str | None = None


@dataclass(slots=True)
class Options(Event):
    """The compiler parameters of a kernel call (``kind``: ``pallas_call`` or ``kernel``); ``barrier``: whether its kernel takes the
    barrier semaphore, None where that is not known."""

    kind: str
    parameters: Value
    cost: Value
    grid: Grid
    barrier: bool | None


@dataclass(slots=True)
class MeshMade(Event):
    """A mesh of cores is made: what ``kind`` of cores, and the ``sizes`` of its axes, None for the chip's own."""

    kind: str
    sizes: tuple[Value, ...]


@dataclass(slots=True)
class MeshesTogether(Event):
    """One ``pl.kernel`` runs over several meshes, in this order."""

    meshes: tuple[Mesh, ...]


@dataclass(slots=True)
class FirstRead(Event):
    """A kernel reads a ref to which it has stored nothing before on this path, or only in branches.

    ``accumulates``: what it reads takes part in what it then stores there; ``guards``: the grid axes whose index is 0 where it has stored
    before, empty where it has not.
    """

    access: Access
    accumulates: bool
    guards: frozenset[int] = frozenset()


@dataclass(slots=True)
class NeverWritten(Event):
    """A kernel stores nothing to an output, on none of its paths."""

    function: Function
    root: RefRoot


@dataclass(slots=True)
class RefPassed(Event):
    """A ref is handed to something that may read and write it (a pipeline)."""

    ref: Ref


@dataclass(slots=True)
class ScratchBuffer(Event):
    """A scratch buffer of a kernel call."""

    root: RefRoot


@dataclass(slots=True)
class Footprint(Event):
    """What a kernel call keeps in the memories of a core.

    ``roots``: of its operands, outputs and scratch buffers, as far as they are known; ``complete``: these are all. ``entry``: the ids of
    the roots whose arrays are arguments of a compiled program, or its results; ``parameters``: the compiler parameters; ``batched``: a
    ``vmap`` may change the windows.
    """

    roots: tuple[RefRoot, ...]
    complete: bool
    entry: set[int]
    grid: Grid
    parameters: Value
    batched: bool

"""What a kernel computes, traces, copies and loops over, as facts without words (see ``events``)."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from .events import CopyEvent, CopyRef, Event
from .values import ABSENT, Array, Library, Ref, Unknown, Value


@dataclass(slots=True)
class Operation(Event):
    """An array function is applied in a kernel, outside ``vmap`` and ``grad``, which would change what is lowered.

    ``function``: its public name (for an operator or a method the function that it is); ``written``: the operator's symbol, ``.name`` for a
    method, empty for a call. ``args`` and ``kwargs`` as written, the array of a method first. ``result`` is what liveness is asked of.
    ``wide``: 64-bit dtypes are certainly on.
    """

    function: str
    args: tuple[Value, ...]
    kwargs: dict[str, Value]
    result: Value
    written: str = ""
    wide: bool = False

    def get(self, position: int, name: str, default: Value = None) -> Value:
        """The argument at ``position`` or of that name."""
        return self.args[position] if position < len(self.args) else self.kwargs.get(name, default)


@dataclass(slots=True)
class TracedAsStatic(Event):
    """A traced value stands where Python or JAX needs to know it while tracing.

    ``kind``: ``index`` (Python's ``__index__``), ``key`` (a dict key), ``number`` (``int``, ``float`` …), ``numpy``, ``shape``, ``size``
    (an argument that is a size), ``slice`` (a bound of a value's slice), ``mask`` (a boolean index), ``nonzero`` (a result of
    data-dependent size), ``unroll``. ``user``: what needs it.
    """

    kind: str
    value: Value
    user: str


@dataclass(slots=True)
class LoopCarry(Event):
    """A loop's body gives back another carry than it received: ``before`` and ``after`` are the leaf or subtree that differ.

    ``kind``: ``structure`` or ``type``, or ``number``: the carry holds one and the loop takes arrays only; ``loop``: ``scan``,
    ``while_loop`` or ``parallel_loop``, as JAX names it.
    """

    kind: str
    loop: str
    before: Value
    after: Value


@dataclass(slots=True)
class BranchResults(Event):
    """Two branches give back different things. ``kind``: ``structure`` or ``type``; ``function``: ``cond``, ``switch`` or ``when``."""

    kind: str
    function: str
    first: Value
    other: Value


@dataclass(frozen=True, slots=True)
class Target:
    """Where a remote copy or signal goes: the device as written, how its id is to be read (``ABSENT`` where nothing says it), the axes of
    the mesh around the kernel with their sizes (None: not known), and the semaphores of a copy, ``ABSENT`` for one that is not given.
    """

    device: Value
    kind: Value
    axes: dict[str, Value] | None
    send: Value = None
    receive: Value = None

    @property
    def ids(self) -> int | None:
        """How many coordinates the device is given by, one after another; None for names, for a logical id, or where that is not known."""
        if self.kind is not ABSENT and not (isinstance(self.kind, Library) and self.kind.name.endswith("DeviceIdType.MESH")):
            return None
        if isinstance(self.device, tuple | list):
            return None if any(isinstance(part, tuple | list | dict | Unknown | None) for part in self.device) else len(self.device)
        return 1 if isinstance(self.device, int | Array) else None


@dataclass(slots=True)
class CopyMade(Event):
    """A copy between two refs is made (``make_async_copy`` and its like).

    ``semaphore``: ``ABSENT`` where none is given, None where the function needs none of the program's; ``target``: of a remote copy;
    ``operands``: the events of what it is given.
    """

    function: str
    source: Value
    destination: Value
    semaphore: Value
    target: Target | None = None
    operands: tuple[CopyEvent | CopyRef, ...] = ()


@dataclass(slots=True)
class CopyStep(Event):
    """A method of a copy is called: ``start``, ``wait``, ``wait_send``, ``wait_recv``; a copy that is done at once is started only.

    ``priority`` and ``add``: what ``start`` is given.
    """

    step: str
    copy: CopyMade
    priority: Value = 0
    add: Value = False


@dataclass(slots=True)
class UnseenMesh(Event):
    """A remote copy by coordinates is started in a kernel that never uses an axis of the mesh: JAX takes the mesh for one without axes."""

    copy: CopyMade


@dataclass(slots=True)
class AxisAsked(Event):
    """A kernel asks for its place on the mesh axis ``name``; ``axes``: those that there are, None where that is not known;
    ``in_parallel_loop``: in the body of a ``plsc.parallel_loop``, of an axis of cores."""

    function: str
    name: str
    axes: dict[str, Value] | None
    in_parallel_loop: bool = False


@dataclass(slots=True)
class CopyLeft(Event):
    """No path of a kernel finishes a copy. ``kind``: the last that happens to it, ``made``, ``started``, or ``waited`` without a start."""

    kind: str
    copy: CopyMade


@dataclass(slots=True)
class SemaphoreUse(Event):
    """A semaphore function (``signal``, ``wait``, ``read``) is given ``ref``; ``target``: of a signal to another device."""

    operation: str
    ref: Ref
    target: Target | None = None


@dataclass(slots=True)
class ScopedRun(Event):
    """``pl.run_scoped`` calls a function that does not fit (``arity``, ``detail`` is Python's message) or gives back a scoped ref
    (``escape``).
    """

    kind: str
    detail: Any


@dataclass(slots=True)
class PipelineFault(Event):
    """``emit_pipeline``, or what it gives, is called in a way that JAX refuses: ``kind`` says how, ``detail`` holds the facts."""

    kind: str
    detail: Any = None


@dataclass(slots=True)
class ScanMade(Event):
    """A ``scan`` or ``map`` in a kernel: the rows of what it walks over; final carry and stacked outputs without what it hands through.

    ``effects``: its body has effects, so that it is kept though nothing uses what it gives.
    """

    rows: tuple[Array, ...]
    carry: Value
    stacked: Value
    reverse: bool
    effects: bool


@dataclass(slots=True)
class SubcoreCall(Event):
    """A function of SparseCores (``function``: its name in ``plsc``) is given these arguments, ``ABSENT`` for one that is left out."""

    function: str
    given: dict[str, Value]


@dataclass(slots=True)
class AccumulatorUse(Event):
    """A function works on an accumulator, or what is given as one: ``lhs`` is what ``matmul_acc_lhs`` multiplies (ABSENT for others),
    ``staged`` its ``load_staged_rhs``."""

    function: str
    acc: Ref
    lhs: Value
    staged: Value


@dataclass(slots=True)
class PartsFault(Event):
    """A kernel takes parts of a tuple, list or dict that it does not have.

    ``kind``: ``count`` (it is unpacked into ``part`` names, one of them ``starred``), ``index`` (``part`` is no index of a sequence),
    ``range`` (there is no item of that number) or ``key``. ``holder``: the expression of the value, where it is written out.
    """

    kind: str
    value: Value
    part: Value
    starred: bool = False
    holder: ast.expr | None = None

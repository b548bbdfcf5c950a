"""What happened while a kernel was interpreted: facts without words, for the rules.

An event is made once for each time a path passes a place; it keeps the abstract values as they were there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..shapes.dims import Shape
from ..text.span import Location, Span
from .cores import TENSOR, Core
from .values import Array, Ref, RefTransform, Region, Value

if TYPE_CHECKING:
    from .modules import ModuleFile
    from .paths import Decision, Facts


@dataclass(slots=True, eq=False)
class Record:
    """What belongs to one kernel call: the events whose ``Where`` names the record, and what no event can tell.

    ``doubts``: what was met that nobody can judge, in the program's words, first met first; ``doubted``: the expressions among it.
    ``parts``: the records of its index maps and bodies; calls that run the same body share its record. ``conditions``: what the path
    assumed where it began; ``elsewhere``: those of them that another path with the same body did without.
    """

    doubts: dict[str, None] = field(default_factory=dict)
    doubted: set[ast.AST] = field(default_factory=set)
    parts: list[Record] = field(default_factory=list)
    conditions: tuple[str, ...] = ()
    elsewhere: set[str] = field(default_factory=set)

    def met_under(self, conditions: tuple[str, ...]) -> None:
        """Note that a path that assumes ``conditions`` runs the same body: what it does not assume is of no account to what is in there."""
        dropped = {words for words in self.conditions if words not in conditions}
        for part in self.whole() if dropped else ():
            part.elsewhere |= dropped

    def whole(self) -> Iterator[Record]:
        """The record and its parts, theirs too, each once."""
        pending, seen = [self], {id(self)}
        while pending:
            record = pending.pop()
            yield record
            fresh = {id(part): part for part in record.parts if id(part) not in seen}
            seen.update(fresh)
            pending.extend(reversed(fresh.values()))


@dataclass(slots=True)
class Where:
    """The place of an event: file, node, and how the path got there.

    ``facts``: what the path knows; ``call``: the kernel call whose body this is; ``conditions``: answers to undecided host conditions that
    led the path here, as words; ``keeps_loads``: JAX drops no unused load here (``pl.kernel`` bodies, ``emit_pipeline`` bodies).
    ``inside``: what runs here: ``kernel``, ``index map``, ``pipeline``, ``mesh``, empty on the host. ``guards``: conditions of the traced
    branches around, None for a loop's. ``region``: what JAX drops or keeps whole around it. ``record``: of the kernel call that it belongs
    to. ``trail``: the path's decisions, for an event that must not rest on guesses among them. ``core``: the kind of core that it
    happens on.
    """

    module: ModuleFile
    node: ast.AST
    facts: Facts
    call: Location | None = None
    conditions: tuple[str, ...] = ()
    keeps_loads: bool = False
    inside: str = ""
    guards: tuple[Value, ...] = ()
    region: Region | None = None
    record: Record | None = None
    trail: tuple[Decision, ...] = ()
    core: Core = TENSOR

    @property
    def assumed(self) -> tuple[str, ...]:
        """The conditions without those that another path to the same body did without."""
        elsewhere = self.record.elsewhere if self.record is not None else ()
        return tuple(words for words in self.conditions if words not in elsewhere) if elsewhere else self.conditions

    @property
    def dead_code_kept(self) -> bool:
        """Whether JAX lowers loads here that nothing uses."""
        return self.keeps_loads or (self.region is not None and not self.region.dropped)

    @property
    def dropped(self) -> bool:
        """Whether JAX traces what is here but never lowers it."""
        return self.region is not None and self.region.dropped

    @property
    def span(self) -> Span:
        """The node's span in its file."""
        return self.module.source.span_of(self.node)

    @property
    def location(self) -> Location:
        """The node's location."""
        return Location(self.module.path, self.span)

    def at(self, node: ast.AST | None) -> Location:
        """The location of another node of the same file (this place's own when there is none)."""
        return Location(self.module.path, self.module.source.span_of(node if node is not None else self.node))


@dataclass(slots=True)
class Event:
    """Something that a rule may speak about."""

    where: Where


@dataclass(slots=True)
class IndexEntry:
    """One entry of an indexer with its node (None where the program has none) and kind.

    ``kind``: ``int slice ds ellipsis none array ref bool float str list numpy unknown``.
    """

    kind: str
    value: Value
    node: ast.AST | None = None


@dataclass(slots=True)
class Access(Event):
    """A load from or a store to a ref.

    ``op``: ``load store swap addupdate``; ``api``: how it is written (``subscript``, ``augmented``, ``method``, ``jax.ref``, ``pltpu``,
    ``pl``). ``ref``: the ref or view that is indexed; ``entries``: the indexer; ``shape``: the indexed shape, None when its rank is
    unknown; ``fault``: the first trace-time fault of the indexer, as ``(rule id, detail, node)``; ``value``: what is stored; ``cast``: JAX
    casts it to the ref's dtype where only weak or integer types differ; ``mask``: of ``pltpu.load/store``. ``before`` and ``transforms``:
    the shape that the last indexer sees (squeezed dims included) and the view steps before it. ``live``: set when something uses a loaded
    value.
    """

    op: str
    api: str
    ref: Ref
    entries: tuple[IndexEntry, ...]
    shape: Shape
    fault: tuple[str, Any, ast.AST | None] | None = None
    value: Value = None
    value_node: ast.AST | None = None
    target_node: ast.AST | None = None
    cast: bool = True
    mask: Value = None
    before: Shape = None
    transforms: tuple[RefTransform, ...] = ()
    live: bool = False
    operands: tuple[Any, ...] = ()
    result: Array | None = None


@dataclass(slots=True)
class ViewEvent(Event):
    """``ref.at[...]`` (``index``), ``.reshape``, ``.bitcast`` or a transposed view of ``ref``; ``detail``: the new shape or dtype."""

    kind: str
    ref: Ref
    entries: tuple[IndexEntry, ...] = ()
    fault: tuple[str, Any, ast.AST | None] | None = None
    detail: Any = None


@dataclass(slots=True)
class CopyEvent(Event):
    """An operand of a copy (``source``, ``destination`` or ``semaphore``) that is no ref; ``live``: as for a `CopyRef`."""

    role: str
    value: Value
    live: bool = False


@dataclass(slots=True)
class CopyRef(Event):
    """A ref or view is the ``source`` or ``destination`` of a copy; ``live``: the copy is started or waited for, when JAX looks at it."""

    role: str
    ref: Ref
    live: bool = False


@dataclass(slots=True)
class ValueIndex(Event):
    """A loaded or computed value is indexed."""

    array: Array
    entries: tuple[Value, ...]


@dataclass(slots=True)
class RefAsArray(Event):
    """A ref or view stands where an array is needed: ``operation`` says which."""

    operation: str
    ref: Ref


@dataclass(slots=True)
class KernelCall(Event):
    """A ``pallas_call`` gets its operands, or is refused before (``where.record`` is the call's own).

    ``kernel``: what was given as one; ``grid``: as given; ``before``: what happened earlier on the host, on the way to the call.
    """

    kernel: Value
    grid: Value
    before: tuple[Event, ...] = ()


@dataclass(slots=True)
class KernelRun(Event):
    """One kernel call whose refs are known: what ``inspect`` shows. ``given``: what was given as the kernel, around the function
    ``kernel``; ``inside``: what runs it, as in a `Where`; ``missing``: what is not known of the call beside the refs, in words.
    """

    kernel: Value
    grid: Value
    refs: tuple[tuple[str, Value], ...]
    missing: tuple[str, ...] = ()
    given: Value = None
    inside: str = "kernel"


@dataclass(slots=True)
class TracedBranch(Event):
    """Python asks a traced value for its truth."""

    value: Value


@dataclass(slots=True)
class ShapeFault(Event):
    """A shape function proved that JAX refuses these operands; ``reason`` is its rule in short."""

    operation: str
    reason: str
    operands: tuple[Value, ...]


@dataclass(slots=True)
class RemovedName(Event):
    """A name of ``module`` (a Pallas namespace) is read, which some JAX versions may not have."""

    module: str
    name: str


@dataclass(slots=True)
class ValueStore(Event):
    """Item assignment to something that does not take it: a value (``target`` an array) or ``ref.at``."""

    holder: Value
    target: ast.AST


@dataclass(slots=True)
class UnmodelledCall(Event):
    """A library function that no model describes is called."""

    name: str
    args: tuple[Value, ...]


@dataclass(slots=True)
class NotARef(Event):
    """A function that takes a ref (``function``) is given ``value``."""

    function: str
    value: Value


@dataclass(slots=True)
class CallFault(Event):
    """An argument of a kernel call, or of a part of one, that JAX refuses before the kernel runs: ``kind`` says how, ``detail`` holds the
    facts.
    """

    kind: str
    detail: Any = None


@dataclass(slots=True)
class SemaphoreValue(Event):
    """A semaphore of ``dtype`` takes part in ``operation`` as if it were a number."""

    operation: str
    dtype: str


@dataclass(slots=True)
class Computed(Event):
    """A value is computed from ``source`` in a way that some lowering refuses.

    ``kind``: ``squeeze`` (a scalar out of a vector), ``extremum`` (max or min of everything), ``sum``, ``scatter``, ``dynamic-slice``
    (a traced index), ``ds-slice`` (``pl.ds`` on a value), ``outside`` (a number that is no position of its dim), ``gather`` (an array
    among the ``indices``), ``rev`` (a negative step), ``strided-slice``, ``empty`` (no elements), ``new-last-dim`` (``None`` at the end),
    ``predicate`` (the condition of a traced branch), ``while-predicate``.
    """

    kind: str
    source: Array
    result: Array
    indices: tuple[Value, ...] = ()

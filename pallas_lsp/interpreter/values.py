"""What an expression of the user's program can be worth.

Exact Python constants and containers (``None``, ``bool``, ``int``, ``float``, ``str``, ``tuple``, ``list``, ``dict``, ``set``,
``slice``, ``...``) stand for themselves; a symbolic whole number is a ``shapes.dims.Poly``. Everything else is a class here.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..shapes.avals import Aval
from ..shapes.dims import MaybeDim, Shape
from ..shapes.elements import Elements
from ..text.span import Location
from .regions import Region as Region
from .spec_values import SPEC_FIELDS as SPEC_FIELDS
from .spec_values import BlockSpec as BlockSpec
from .spec_values import DynamicSlice as DynamicSlice
from .spec_values import GridSpec as GridSpec
from .spec_values import PallasCall as PallasCall
from .spec_values import Scratch as Scratch
from .spec_values import ShapeDtype as ShapeDtype
from .unknowns import ABSENT as ABSENT
from .unknowns import ChipFacts as ChipFacts
from .unknowns import Condition as Condition
from .unknowns import Number as Number
from .unknowns import PartOfShape as PartOfShape
from .unknowns import ShapeOfRef as ShapeOfRef
from .unknowns import Unknown as Unknown
from .unknowns import UnknownLength as UnknownLength
from .unknowns import UnknownRange as UnknownRange
from .unknowns import UnknownShape as UnknownShape
from .unknowns import Value as Value
from .view_steps import RefTransform as RefTransform

if TYPE_CHECKING:
    from ..resolve.imports import Target
    from .frames import Frame
    from .modules import ModuleFile

next_birth = itertools.count(1).__next__


@dataclass(slots=True, eq=False)
class Array:
    """An array or a traced scalar: its aval, and what it was computed from (for liveness).

    ``operands`` holds arrays and load events. ``traced``: JAX knows no concrete value while it traces. ``constant``: the Python
    number it was made of, where there is one. ``assumed``: only a use of it (an unpacked shape) says that it is an array; it may be a ref.
    ``space``: the memory space the user constrained it to. ``born``: its place in the order in which arrays were made: what is older than
    a kernel's run was made outside of it. ``numpy``: it is NumPy's. ``multiple``: a number by which the TPU compiler can prove a traced
    index to be divisible (see ``divisibility``), None where that is not known. ``through``: the operand that JAX gives back in its place if
    the function that made it changes nothing. ``why``: the root cause of a shape or dtype that is not known. ``elements``: those of a NumPy
    array, where they are known (see ``host_arrays``).
    """

    aval: Aval
    operands: tuple[Any, ...] = ()
    traced: bool = True
    constant: int | float | bool | None = None
    space: str | None = None
    made_by: ast.AST | None = None
    assumed: bool = False
    live: bool = False
    numpy: bool = False
    born: int = field(default_factory=next_birth)
    multiple: int | None = None
    through: Array | None = None
    why: str = ""
    elements: Elements | None = None

    @property
    def shape(self) -> Shape:
        """The array's dims, None when the rank is unknown."""
        return self.aval.shape

    @property
    def dtype(self) -> str | None:
        """The canonical dtype name, None when unknown."""
        return self.aval.dtype


@dataclass(slots=True, eq=False)
class RefRoot:
    """The memory a kernel parameter stands for, and where the user decided it.

    ``dims`` is the block's shape with ``squeezed`` for a squeezed dim (None as a whole: rank unknown), ``array`` the shape of what it is a
    window of; ``space`` is one of ``vmem smem any hbm semaphore host cmem vmem_shared acc``, None when unknown; ``defaulted``: nobody named
    a space. ``decided_at``: the BlockSpec, scratch entry or call that fixed the space, with its words in ``decided_by``. ``sure``: False
    where the operand may be a whole pytree of refs. ``wide``: the 64-bit dtype that was asked for; ``typed``: the ShapeDtypeStruct or
    scratch entry that says shape and dtype. ``read``, ``written``: the kernel does so on some path; ``aliased``: an output that starts, or
    may start, with what an operand holds. ``window``: the ``Window`` event of an operand or output. ``kept``: why no compiler can do
    without the memory of a scratch buffer: ``carried`` from one grid step to the next, or ``indexed`` by what is not known before it runs.
    ``given_at``: the expression of the operand. ``named``: as for an ``Aval``. ``own_name``: what the kernel calls a ref that came with
    ``*refs``, empty until it does, None for one that has its name from a parameter. ``ranks``: what the kernel's own use tells of a rank
    that is not known: into how many dims it unpacks the shape, with how many scalars it indexes SMEM, which holds nothing else.
    """

    name: str
    role: str
    shape: Shape
    block: tuple[MaybeDim | str, ...] | None
    dtype: str | None
    space: str | None
    defaulted: bool = False
    decided_at: Location | None = None
    decided_by: str = ""
    decider: SpecOrigin | None = None
    why: str = ""
    array: Shape = None
    sure: bool = True
    wide: str | None = None
    typed: SpecOrigin | None = None
    read: bool = False
    written: bool = False
    aliased: bool = False
    window: Any = None
    kept: str = ""
    given_at: Location | None = None
    named: str | None = None
    own_name: str | None = None
    ranks: frozenset[int] = frozenset()

    def call_it(self, name: str) -> None:
        """Take the name that the kernel gives a ref which came with ``*refs``."""
        if self.own_name == "" and name:
            self.name = self.own_name = name

    def learn_from(self, ran: RefRoot) -> None:
        """Take over what a run of the kernel told of the ref that stood in this one's place."""
        self.kept, self.ranks = ran.kept, ran.ranks
        self.call_it(ran.own_name or "")

    def whole(self) -> Ref:
        """The ref of the whole of it, as the kernel receives it."""
        return Ref(self, self.shape, self.dtype, named=self.named)


@dataclass(frozen=True, slots=True)
class SpecOrigin:
    """The expression that made a ref: a BlockSpec, a scratch constructor or a pallas_call, and the file it stands in."""

    module: ModuleFile
    node: ast.expr


@dataclass(slots=True, eq=False)
class Ref:
    """A ref or a view of one.

    ``shape`` is what indexing it sees; ``before`` is the shape before the last indexer; ``named`` as for an ``Aval``.
    """

    root: RefRoot
    shape: Shape
    dtype: str | None
    transforms: tuple[RefTransform, ...] = ()
    before: Shape = None
    key: tuple[Any, ...] | None = None
    named: str | None = None

    @property
    def is_view(self) -> bool:
        """Whether a transform stands between this and the kernel parameter."""
        return bool(self.transforms)


@dataclass(slots=True, eq=False)
class RefIndexer:
    """``ref.at``: waits for its subscript."""

    ref: Ref


@dataclass(slots=True, eq=False)
class ValueIndexer:
    """``x.at`` of an array, with or without its subscript."""

    array: Array


@dataclass(slots=True, eq=False)
class Library:
    """A name of a library, by its canonical public dotted name."""

    name: str


@dataclass(slots=True, eq=False)
class Imported:
    """An imported name whose module has not been read yet: that is done when the name is first used."""

    target: Target
    importer: ModuleFile


@dataclass(slots=True, eq=False)
class Dtype:
    """A dtype object, by canonical name."""

    name: str


@dataclass(slots=True, eq=False)
class Function:
    """A ``def`` or ``lambda`` of the user's with the frame it closes over."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    module: ModuleFile
    frame: Frame
    defaults: tuple[Value, ...] = ()
    kw_defaults: tuple[Value, ...] = ()
    owner: Class | None = None
    kind: str = "function"
    jax_wraps: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The function's name, ``<lambda>`` for a lambda."""
        return getattr(self.node, "name", "<lambda>")


@dataclass(slots=True, eq=False)
class Partial:
    """``functools.partial``."""

    func: Value
    args: tuple[Value, ...]
    kwargs: dict[str, Value]


@dataclass(slots=True, eq=False)
class BoundMethod:
    """A function of a class, bound to an instance (or a class)."""

    receiver: Value
    func: Function


@dataclass(slots=True, eq=False)
class ValueMethod:
    """A method of a value that is not the user's class: ``x.astype``, ``ref.set``, ``items.append``."""

    receiver: Value
    name: str


@dataclass(slots=True, eq=False)
class Transformed:
    """A function behind a JAX transformation or wrapper: ``jit``, ``vmap``, ``grad``, ``shard_map``, ``custom_vjp`` …"""

    kind: str
    func: Value
    options: dict[str, Value] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Builtin:
    """A callable that the interpreter itself provides."""

    name: str
    call: Callable[..., Value]


@dataclass(slots=True, eq=False)
class Class:
    """A class of the user's.

    ``kind``: ``plain``, ``dataclass``, ``namedtuple`` or ``enum``; ``complete``: all bases are known; ``meta``: the fields that the
    program registered as no subtrees of a pytree.
    """

    node: ast.ClassDef
    module: ModuleFile
    frame: Frame
    bases: tuple[Value, ...] = ()
    kind: str = "plain"
    complete: bool = True
    meta: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The class's name."""
        return self.node.name

    def lineage(self) -> Iterator[Class]:
        """The class and its bases, nearest first."""
        yield self
        for base in self.bases:
            if isinstance(base, Class):
                yield from base.lineage()


@dataclass(slots=True, eq=False)
class Instance:
    """An object of a user's class. ``complete``: its ``__init__`` was run whole, so an absent attribute is really absent."""

    cls: Class
    attrs: dict[str, Value] = field(default_factory=dict)
    complete: bool = True


@dataclass(slots=True, eq=False)
class EnumMember:
    """A member of a user's enum."""

    cls: Class
    name: str
    value: Value


@dataclass(slots=True, eq=False)
class ModuleValue:
    """A module of the user's project."""

    module: ModuleFile


@dataclass(slots=True, eq=False)
class Copy:
    """An asynchronous copy, as ``make_async_copy`` returns it; ``made``: the event of its making."""

    source: Value
    destination: Value
    made: Any = None


@dataclass(slots=True, eq=False)
class Iteration:
    """``iter(...)`` over known items: consumed by ``next`` and by loops."""

    items: list[Value]


@dataclass(slots=True, eq=False)
class SuperProxy:
    """``super()`` inside a method."""

    cls: Class
    receiver: Value


@dataclass(slots=True, eq=False)
class Opaque:
    """A library object of which only the class matters (``CompilerParams(...)``, ``Mesh(...)``): keeps its arguments."""

    name: str
    args: tuple[Value, ...]
    kwargs: dict[str, Value]
    origin: SpecOrigin | None = None

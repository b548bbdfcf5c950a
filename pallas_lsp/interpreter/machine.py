"""The interpreter's state, and the four verbs everything else is made of: evaluate, execute, call, decide.

``expressions``, ``statements`` and ``library`` fill the tables below when they are imported; their mutual recursion goes through a
``Machine``. Nothing here knows an operation, a rule or a message.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from ..resolve.canonical import exists
from ..resolve.imports import LibraryName, Target
from ..resolve.project import Project
from ..shapes import dims
from ..shapes.avals import Aval
from ..shapes.dims import Poly
from ..text.span import Location
from .contexts import KernelContext as KernelContext
from .cores import TENSOR
from .events import Event, Record, Where
from .frames import Frame
from .host_arrays import forget
from .modules import ModuleFile, Place
from .noted import Noted
from .paths import Explorer, Path, PathEnd
from .shared import Shared
from .surroundings import Surroundings
from .telling import doubt_of
from .values import (
    ABSENT,
    Array,
    Condition,
    Function,
    Imported,
    Number,
    Opaque,
    PartOfShape,
    Ref,
    RefRoot,
    Region,
    Unknown,
    UnknownShape,
    Value,
)

EVALUATE: dict[type[ast.AST], Callable[..., Value]] = {}
EXECUTE: dict[type[ast.AST], Callable[..., None]] = {}
CALL: dict[type[Any], Callable[..., Value]] = {}
CONTEXTS: dict[str, Callable[[Machine, Opaque], AbstractContextManager[None]]] = {}
"""What a library's context manager changes while its body runs, by its public name."""

DEPTH = 60
RECURSION = 4


@dataclass(slots=True)
class Arguments:
    """What a call passes. ``exact`` is False when a starred argument of unknown length is among them; ``head`` stand before it."""

    args: list[Value]
    kwargs: dict[str, Value] = field(default_factory=dict)
    exact: bool = True
    arg_nodes: list[ast.expr] = field(default_factory=list)
    kwarg_nodes: dict[str, ast.expr] = field(default_factory=dict)
    head: int = 0

    def get(self, position: int, name: str, default: Value = None) -> Value:
        """The argument given at ``position`` or as ``name``."""
        if position < len(self.args):
            return self.args[position]
        return self.kwargs.get(name, default)

    def node(self, position: int, name: str) -> ast.expr | None:
        """The expression of that argument, where the call writes it out."""
        if position < len(self.arg_nodes):
            return self.arg_nodes[position]
        return self.kwarg_nodes.get(name)


@dataclass(slots=True)
class Scope:
    """A ``run_scoped`` that runs: its body, the refs it made, and whether its body has an effect on anything else."""

    region: Region
    roots: set[int]
    has_effect: bool = False


class Machine:
    """The interpreting of one document.

    ``project`` reads files; ``focus``: the file whose values are noted for hover; ``jax_version``: the JAX that is stated; ``installed``
    looks up names of packages that are neither the project's nor known (None: not now; the names are collected in ``unresolved``);
    ``cancelled`` says that nobody wants the result. ``details``: what hover and verdicts need is noted too; ``target``: the
    chip that is stated.
    """

    def __init__(
        self,
        project: Project,
        focus: str | None = None,
        jax_version: str | None = None,
        installed: Callable[[LibraryName, str], Target | None] | None = None,
        cancelled: Callable[[], bool] | None = None,
        details: bool = True,
        target: str | None = None,
    ) -> None:
        self.project = project
        self.focus = focus
        self.jax_version = jax_version
        self.installed = installed
        self.cancelled = cancelled
        self.details = details
        self.target = target
        self.modules: dict[str, ModuleFile] = {}
        self.unresolved: set[str] = set()
        self.resolving: list[Imported] = []
        self.looked_up: dict[str, Value] = {}
        self.events: list[Event] = []
        self.noted = Noted()
        self.path = Path(Explorer(1))
        self.kernel: KernelContext | None = None
        self.seen_kernels = Shared()
        self.kernel_coverage = Shared()
        self.numbered = False  # the line on which something stands made a difference
        self.effects = 0
        self.region: Region | None = None
        self.record: Record | None = None  # of the kernel call that is being interpreted
        self.scopes: list[Scope] = []
        self.in_jit = 0
        self.transformed = 0
        self.wide = False  # the program turns 64-bit dtypes on somewhere
        self.surely_wide = False  # they are certainly on here
        self.barriers = 0  # barrier semaphores taken
        self.axis_uses = 0  # what makes JAX see the mesh around a kernel
        self.blind = 0  # calls of functions of which nothing is known
        self.around = Surroundings()
        self.guards: list[Value] = []  # conditions of the traced branches around what runs, None for a loop's
        self.foreseeing = 0
        self.muted = 0
        self.guarded = 0
        self.stack: list[ast.AST] = []
        self.cut: dict[str, int] = {}
        self.called: set[Location] = set()
        self.escaped: dict[int, Event] = {}
        self.kernels: set[Place] = set()
        self.glance: Callable[[], None] = _nothing  # told whenever a path of a kernel or of the host is at its end
        self.wrong_calls: list[str] = []  # what is wrong with calls that the configuration gives

    # -- the four verbs -------------------------------------------------------------------------------------------------------------

    def evaluate(self, node: ast.expr, frame: Frame) -> Value:
        """The value of an expression; unknowns that the path has learned about come back as what was learned."""
        path = self.path
        path.steps += 1
        if not path.steps & 255 or path.steps > path.budget:
            self._pause()
        kind = type(node)
        handler = EVALUATE.get(kind)
        if handler is None:
            self.doubt(f"{kind.__name__} is not interpreted")
            return Unknown(f"{kind.__name__} is not interpreted", host=self.kernel is None)
        value = handler(self, node, frame)
        if isinstance(value, Unknown) or (type(value) is Ref and value.shape is None):
            value = self.settle(value)
        if self.details:
            record = self.record
            if record is not None and not self.muted and node not in record.doubted and (doubt := doubt_of(value, node)) is not None:
                record.doubts.setdefault(doubt)
                record.doubted.add(node)
            if kind is ast.Name and self.focus == frame.module.path:
                self.noted.add((node.lineno, node.col_offset), value)
        return value

    def execute(self, body: list[ast.stmt], frame: Frame) -> None:
        """Run statements in order."""
        for statement in body:
            self.tick()
            handler = EXECUTE.get(type(statement))
            if handler is None:
                self.doubt(f"{type(statement).__name__} is not interpreted")
                continue
            try:
                handler(self, statement, frame)
            except RecursionError:
                raise PathEnd("a statement that nests too deep") from None

    def call(self, function: Value, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
        """The result of calling a value."""
        handler = CALL.get(type(function))
        if handler is None:
            self.blind += 1
            why = function.why if isinstance(function, Unknown) else f"a {type(function).__name__} is called"
            self.doubt(why)
            forget(*arguments.args, *arguments.kwargs.values())
            return Unknown(why, host=self.kernel is None)
        return self.settle(handler(self, function, arguments, node, frame))

    def decide(self, condition: Condition, node: ast.AST, frame: Frame) -> bool:
        """The path's answer to an undecided condition; what it teaches is learned."""
        place = frame.module.place(node)
        key = condition.key or self.path.visit(place)
        declared = condition.declared is not ABSENT
        answer = self.path.decide(key, place, condition.default, condition.words, declared)
        if condition.learn is not None:
            condition.learn(self.path.facts, answer)
        return answer != condition.negated

    # -- helpers of the verbs -------------------------------------------------------------------------------------------------------

    def tick(self) -> None:
        """Count a step; a path that takes too many ends, and so does a cancelled run."""
        self.path.steps += 1
        if not self.path.steps & 255 or self.path.steps > self.path.budget:
            self._pause()

    def _pause(self) -> None:
        if self.path.steps > self.path.budget:
            self.cut["steps"] = self.cut.get("steps", 0) + 1
            raise PathEnd("step budget")
        if self.cancelled is not None and self.cancelled():
            raise Cancelled

    def settle(self, value: Value) -> Value:
        """What the path knows of a value: an unknown found to be None, a constant, or an array of known rank becomes that."""
        if not isinstance(value, _OPEN):
            return value
        if isinstance(value, Ref):
            shape = self.path.facts.of_refs.get(id(value.root)) if not value.transforms else None
            return replace(value, shape=shape) if shape is not None else value
        if isinstance(value, PartOfShape):
            array = self.settle(value.of)
            return shape_values(array)[value.part] if isinstance(array, Array) and array.shape is not None else value
        if not isinstance(value, Unknown) or value.key is None or isinstance(value, Condition):
            return value
        facts = self.path.facts
        if isinstance(value, UnknownShape):
            array = self.settle(value.of)
            return shape_values(array) if isinstance(array, Array) and array.shape is not None else value
        if facts.none.get(value.key):
            return None
        if value.key in facts.constant:
            return facts.constant[value.key]
        if value.key in facts.rank:
            if value.key not in facts.arrays:
                facts.arrays[value.key] = symbolic_array(value.key, facts.rank[value.key])
            return facts.arrays[value.key]
        return value

    def place_at(self, location: Location | None) -> object:
        """A location so that it is the same in every version of its file that has the unit it is in."""
        module = self.modules.get(location.path) if location is not None else None
        return module.place_at(location) if module is not None and location is not None else location

    def number(self, why: str, node: ast.AST) -> Number:
        """A number of which nothing is known but that the host computes it: a size under a name of its own."""
        return Number(why, node, self.path)

    def exists(self, public_name: str) -> bool | None:
        """Whether the stated JAX has a public name; None where no version is stated or the name is not listed."""
        return exists(public_name, self.jax_version) if self.jax_version is not None else None

    def effect(self, root: RefRoot | None = None) -> None:
        """Count an effect on ``root`` (None: on the world): it keeps the scopes and branches around it, up to where the root was made."""
        self.effects += 1
        for scope in reversed(self.scopes):
            if id(root) in scope.roots:
                return
            scope.has_effect = True

    def doubt(self, why: str) -> None:
        """Note, for the kernel call that is being interpreted, that something was met that nobody can judge: ``why``, in words.

        What runs muted runs again and says it then; a damaged function says that it is one before it runs.
        """
        if self.record is not None and not self.muted:
            self.record.doubts.setdefault(why)

    @contextmanager
    def recording(self) -> Iterator[Record]:
        """Around a kernel call, or a part of one that others may share: what happens belongs to the record that it gives."""
        around, record = self.record, Record(conditions=self.path.conditions())
        if around is not None:
            around.parts.append(record)
        self.record = record
        try:
            yield record
        finally:
            self.record = around

    def note(self, node: ast.Name | ast.arg, value: Value) -> None:
        """Keep the value of a name for hover."""
        if self.details:
            self.noted.add((node.lineno, node.col_offset), value)

    def where(self, node: ast.AST, frame: Frame) -> Where:
        """The place of an event that happens now."""
        context = self.kernel
        return Where(
            frame.module,
            node,
            self.path.facts,
            context.call if context else None,
            self.path.conditions(),
            context.dead_code_kept if context else False,
            context.inside if context else "",
            tuple(self.guards),
            self.region,
            self.record,
            core=context.core if context else TENSOR,
        )

    def emit(self, event: Event) -> None:
        """Record an event, unless it comes from a function whose text is damaged or may not run at all."""
        if not self.muted:
            self.events.append(event)
            if event.where.record is None:
                self.path.met.append(event)

    @contextmanager
    def inside(self, region: Region) -> Iterator[None]:
        """Around what JAX drops or keeps whole."""
        around, self.region = self.region, region
        try:
            yield
        finally:
            self.region = around

    @contextmanager
    def branched(self, condition: Value = None) -> Iterator[None]:
        """Around the body of a traced branch or loop, which may not run at all."""
        self.guards.append(condition)
        try:
            yield
        finally:
            self.guards.pop()

    @contextmanager
    def entered(self, function: Function) -> Iterator[None]:
        """The bookkeeping of a call of a user's function: depth, recursion, damaged text."""
        if len(self.stack) >= DEPTH or self.stack.count(function.node) >= RECURSION:
            self.cut["depth"] = self.cut.get("depth", 0) + 1
            raise PathEnd("recursion budget")
        damaged = function.module.parsed.is_damaged(function.node)
        if damaged:
            self.doubt(f"the text of `{function.name}` cannot be parsed")
        self.stack.append(function.node)
        self.muted += damaged
        self.blind += damaged  # what its text would do is not known
        try:
            yield
        finally:
            self.stack.pop()
            self.muted -= damaged


_OPEN = (Unknown, Ref)


class Cancelled(Exception):
    """The caller no longer wants the result."""


def _nothing() -> None:
    """Nobody wants to know."""


def dim_at(key: str, axis: int) -> Poly:
    """A dim of an array that is known by name only."""
    return dims.symbol(f"{key}.shape[{axis}]", 1)


def symbolic_array(key: str, rank: int) -> Array:
    """An array of which only the rank is known; its dims and its dtype have names in the user's words."""
    shape = tuple(dim_at(key, axis) for axis in range(rank))
    return Array(Aval(shape, None, False, f"{key}.dtype"), assumed=True)


def shape_values(value: Any) -> tuple[Value, ...]:
    """A shape of known rank as the tuple of values that ``.shape`` gives."""
    return tuple(dim if dim is not None else Unknown("a dim of this shape is unknown", host=True) for dim in value.shape)

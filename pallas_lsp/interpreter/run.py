"""Entries: where the interpreting of a file starts, and under which configurations."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial

from ..given import GivenCall, WrongCall
from ..shapes import dims
from . import host_loops, importing, library, matching
from .annotations import Annotations
from .entry_runs import EntryRuns, Taken, holds, made_by, take, take_alone
from .expressions import make_function
from .frames import MISSING, Frame
from .given_calls import run_given
from .importing import run_top_level
from .machine import Arguments, Machine
from .modules import ModuleFile, Place
from .paths import HOST_PATHS, Explorer, Path, PathEnd
from .statements import EXECUTE_ERRORS
from .unknowns import missing_parameter
from .values import ABSENT, Class, Function, Instance, Transformed, Unknown, Value
from .written import free_names, names_in

# Importing these fills the machine's tables: without them nothing is interpreted.
_TABLES = (host_loops, importing, library, matching)
TOP_LEVEL_PATHS = 4
_CALLERS = 8
_PLAIN_KINDS = frozenset({"Any", "Array", "ArrayLike", "Callable"})
_Holder = tuple[ast.FunctionDef | ast.AsyncFunctionDef, ast.ClassDef | None]
_CALLS = frozenset({"pallas_call", "kernel", "core_map", "emit_pipeline", "run_scoped"})


def run_module(machine: Machine, module: ModuleFile, given: Sequence[GivenCall], known: EntryRuns, document: ModuleFile) -> list[Taken]:
    """Run a file as the program it is, and then each of its functions that holds a kernel call.

    The top level comes first (``__name__`` is ``"__main__"``): its calls give concrete configurations. Then every outermost function with
    a kernel call runs with its declared defaults, and once with every parameter unknown. ``given``: calls that count as the program's own.
    ``known``: what still holds of earlier runs, which is taken instead of running it again; ``document``: what is being analysed, this
    file or one that it imports.
    """
    machine.modules[module.path] = module
    taken: list[Taken] = []

    def anew(run: Callable[[], None]) -> None:
        taken.append(take_alone(machine, document, run))

    def run_entry(how: str, function: _Holder, modes: Sequence[bool]) -> None:
        entry = (how, module.place(function[0]))
        run = known.find(entry)
        if run is None or not holds(machine, run):
            run, is_sound = made_by(machine, document, lambda: _run_entry(machine, module, function, modes))
            known.keep(entry, run, is_sound)
        taken.append(take(machine, document, run))

    anew(lambda: _run_main(machine, module))
    for call in given:
        anew(partial(_run_given, machine, module, call))
    found = entries(module)
    for node in callers_in_file(module, {function.name for function, _ in found}):
        run_entry("caller", (node, None), [False])
    machine.called.update(*(one.calls for one in taken))
    # What runs as a kernel is no entry of its own; those that call kernels come first, so that it is known by then.
    for function in sorted(found, key=lambda entry: not calls_kernel(entry[0])):
        if module.place(function[0]) in machine.kernels:
            continue
        run_entry("entry", function, [False, True] if _has_defaults(function) else [True])
    return taken


def _run_main(machine: Machine, module: ModuleFile) -> None:
    explorer = Explorer(TOP_LEVEL_PATHS)
    first: Frame | None = None
    for path in explorer.paths():
        machine.path = path
        module.frame = Frame("module", module, None)
        module.frame.names["__name__"] = "__main__"
        module.star_libraries.clear()
        module.state = "running"
        first = first or module.frame
        machine.around.whole = True
        try:
            run_top_level(machine, module)
        finally:
            machine.around.whole = False
    module.state = "done"
    module.frame = first or module.frame


def _run_given(machine: Machine, module: ModuleFile, call: GivenCall) -> None:
    try:
        run_given(machine, module, call)
    except WrongCall as wrong:
        machine.wrong_calls.append(str(wrong))


def entries(module: ModuleFile) -> list[_Holder]:
    """The outermost functions and methods that hold a kernel call, with the class a method belongs to."""
    found: list[_Holder] = []

    def visit(body: list[ast.stmt], owner: ast.ClassDef | None) -> None:
        for statement in body:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                if holds_kernel_call(statement):
                    found.append((statement, owner))
            elif isinstance(statement, ast.ClassDef):
                visit(statement.body, statement)
            elif isinstance(statement, ast.If | ast.Try | ast.With):
                for name in ("body", "orelse", "finalbody"):
                    visit(getattr(statement, name, []), owner)

    visit(module.parsed.tree.body, None)
    return found


def callers_in_file(module: ModuleFile, names: set[str]) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions without required parameters (tests, ``main``) that use one of the named functions: their calls give facts."""
    found: list[ast.FunctionDef | ast.AsyncFunctionDef] = []
    for statement in module.parsed.tree.body:
        if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) or statement.name in names:
            continue
        spec = statement.args
        required = len(spec.posonlyargs) + len(spec.args) - len(spec.defaults) + sum(default is None for default in spec.kw_defaults)
        if not required and not names.isdisjoint(free_names(statement)):
            found.append(statement)
    return found[:_CALLERS]


def calls_kernel(node: ast.AST) -> bool:
    """Whether the function's text names a call that runs a kernel, and not only one that kernels make."""
    return any("pallas_call" in name for name in names_in(node))


def holds_kernel_call(node: ast.AST) -> bool:
    """Whether the function's text names a kernel call."""
    return any(name in _CALLS or "pallas_call" in name for name in names_in(node))


def _has_defaults(entry: _Holder) -> bool:
    spec = entry[0].args
    return bool(spec.defaults) or any(default is not None for default in spec.kw_defaults)


def _entry_value(machine: Machine, module: ModuleFile, entry: _Holder) -> tuple[Function, Instance | None]:
    """The entry's function object, as the module's top level made it where it did, and the instance that a method is called on."""
    node, owner = entry
    frame, receiver = module.frame, None
    holder: Value = module.frame.names.get(owner.name, MISSING) if owner is not None else MISSING
    if isinstance(holder, Class):
        receiver = Instance(holder, complete=False)
        frame = holder.frame
    value = frame.names.get(node.name, MISSING)
    while isinstance(value, Transformed):
        value = value.func
    if not isinstance(value, Function) or value.node is not node:
        machine.path = Path(Explorer(1))
        value = make_function(machine, node, frame)
    return value, receiver


def _run_entry(machine: Machine, module: ModuleFile, entry: _Holder, modes: Sequence[bool]) -> None:
    """Run an entry with its declared defaults (False) and with all parameters unknown (True); what one has covered the other need not."""
    function, receiver = _entry_value(machine, module, entry)
    covered: set[tuple[Place, bool]] = set()
    for symbolic in modes:
        _explore(machine, function, lambda symbolic=symbolic: _entry_arguments(function, receiver, symbolic), covered)  # type: ignore[misc]


def _explore(machine: Machine, function: Function, arguments: Callable[[], Arguments], covered: set[tuple[Place, bool]]) -> None:
    explorer = Explorer(HOST_PATHS, covered)
    for path in explorer.paths():
        machine.path = path
        machine.in_jit = 1
        try:
            machine.call(function, arguments(), function.node, function.frame)
        except PathEnd:
            pass
        except EXECUTE_ERRORS:
            pass
        finally:
            machine.in_jit = 0
        machine.glance()
    machine.cut["host paths"] = machine.cut.get("host paths", 0) + explorer.cut


def _entry_arguments(function: Function, receiver: Instance | None, symbolic: bool) -> Arguments:
    """Arrays for the parameters whose annotations describe them, unknown values for the others, or the declared defaults."""
    spec, annotations = function.node.args, Annotations(function.frame)
    positional = [*spec.posonlyargs, *spec.args]
    first = len(positional) - len(function.defaults)

    def value_of(parameter: ast.arg, default: Value) -> Value:
        if default is not ABSENT:
            return unknown_parameter(parameter, default) if symbolic else default
        return annotations.array(parameter) or unknown_parameter(parameter, default)

    args: list[Value] = []
    for index, parameter in enumerate(positional):
        default = function.defaults[index - first] if index >= first else ABSENT
        args.append(value_of(parameter, default))
    if receiver is not None and args and function.kind != "staticmethod":
        args[0] = receiver if function.kind != "classmethod" else receiver.cls
    kwargs: dict[str, Value] = {}
    for parameter, default in zip(spec.kwonlyargs, function.kw_defaults, strict=False):
        kwargs[parameter.arg] = value_of(parameter, default)
    return Arguments(args, kwargs, exact=spec.vararg is None and spec.kwarg is None)


def unknown_parameter(parameter: ast.arg, default: Value) -> Value:
    """A parameter of which nothing but its name, its annotation and its declared default is known."""
    name = parameter.arg
    annotation = ast.unparse(parameter.annotation) if parameter.annotation is not None else ""
    if annotation == "int":
        return dims.symbol(name)
    kind = annotation.removesuffix(" | None").rpartition(".")[2]
    is_told = kind.isidentifier() and kind[0].isupper() and kind not in _PLAIN_KINDS
    return Unknown(missing_parameter(name, kind if is_told else ""), name, dims.symbol(name), host=True, declared=default)

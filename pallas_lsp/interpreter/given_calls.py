"""Calls that a person gives beside the program (``inspect --call``, the table ``shapes`` of the configuration).

``f(f32[8,128], causal=True)`` is run as ``jax.jit(lambda x: f(x, causal=True)).lower(f32[8,128])`` would be: what is written as a shape is
traced, everything else is what the expression is worth among the names of the module.
"""

from __future__ import annotations

import ast
import copy
import os

from ..errors import did_you_mean
from ..given import GivenCall, WrongCall
from ..shapes import dims, dtypes
from ..text.parse import Parsed
from ..text.source import Source
from . import builtin_names
from .calls import BindingFault, bind_arguments, innermost
from .frames import MISSING, Frame
from .importing import star_name
from .library_names import library
from .machine import CALL, Arguments, Machine
from .modules import ModuleFile
from .paths import GIVEN_STEPS, HOST_PATHS, Explorer, PathEnd
from .statements import EXECUTE_ERRORS
from .values import Dtype, Function, Library, ShapeDtype, Transformed, Unknown

_NAMES = {
    "jax": "jax",
    "jnp": "jax.numpy",
    "lax": "jax.lax",
    "np": "numpy",
    "pl": "jax.experimental.pallas",
    "pltpu": "jax.experimental.pallas.tpu",
}  # fmt: skip
_JIT = "<jax.jit>"


def run_given(machine: Machine, module: ModuleFile, given: GivenCall) -> None:
    """Trace the call as ``jax.jit`` would. Raises WrongCall where it is none of this module."""
    notation = _Notation(module)
    call = notation.visit(copy.deepcopy(given.tree))
    frame = _frame(module, given)
    _check_names(call, frame, module)
    frame.names[_JIT] = library("jax.jit")
    lowered = ast.fix_missing_locations(ast.copy_location(_lowered(call, len(notation.found)), call))
    explorer = Explorer(HOST_PATHS, steps=GIVEN_STEPS)
    for index, path in enumerate(explorer.paths()):
        machine.path = path
        try:
            frame.names |= {_operand(i): _array(machine, frame, part) for i, part in enumerate(notation.found)}
            if not index:
                _check_callee(machine, call, frame)
            machine.evaluate(lowered, frame)
        except PathEnd:
            continue
        except EXECUTE_ERRORS:
            continue
    machine.cut["host paths"] = machine.cut.get("host paths", 0) + explorer.cut
    # The call's own text is no file: nothing can be shown in it.
    machine.events[:] = [event for event in machine.events if event.where.module is not frame.module]


def _frame(module: ModuleFile, given: GivenCall) -> Frame:
    """The scope of a call: its own text over the names of the module."""
    own = ModuleFile(Source("", given.text), Parsed(given.text, ast.Module([], [])))
    own.star_libraries = module.star_libraries
    frame = Frame("function", own, module.frame)
    frame.names |= {name: library(dotted) for name, dotted in _NAMES.items() if module.frame.lookup(name) is MISSING}
    return frame


def _operand(index: int) -> str:
    return f"<operand {index}>"


class _Notation(ast.NodeTransformer):
    """Puts a name for every ``f32[8,128]``; ``found`` has them in order."""

    def __init__(self, module: ModuleFile) -> None:
        self.module = module
        self.found: list[tuple[str, ast.Subscript]] = []

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        dtype = self._dtype(node.value)
        if dtype is None:
            self.generic_visit(node)
            return node
        self.found.append((dtype, node))
        return ast.copy_location(ast.Name(_operand(len(self.found) - 1), ast.Load()), node)

    def _dtype(self, node: ast.expr) -> str | None:
        """The dtype that a name before brackets is; None where the module has something else of that name."""
        if isinstance(node, ast.Attribute):
            return dtypes.named(node.attr)
        if not isinstance(node, ast.Name):
            return None
        value = self.module.frame.lookup(node.id)
        return dtypes.named(node.id) if value is MISSING or isinstance(value, Library | Dtype) else None


def _array(machine: Machine, frame: Frame, part: tuple[str, ast.Subscript]) -> ShapeDtype:
    dtype, node = part
    written = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return ShapeDtype(tuple(_dim(machine, frame, dim, node) for dim in written), dtype)


def _dim(machine: Machine, frame: Frame, dim: ast.expr, node: ast.Subscript) -> dims.Dim:
    """A size: a number, a constant of the module's, or a symbol under a name that nothing has."""
    if isinstance(dim, ast.Name) and frame.lookup(dim.id) is MISSING:
        return dims.symbol(dim.id, 1)
    value = machine.evaluate(dim, frame)
    if isinstance(value, bool) or not isinstance(value, int | dims.Poly) or (isinstance(value, int) and value < 0):
        raise WrongCall(f"{ast.unparse(dim)!r} in {ast.unparse(node)!r} is no size")
    return value


def _lowered(call: ast.expr, operands: int) -> ast.Call:
    """``jax.jit(lambda x, y: call).lower(x, y)``."""
    names = [_operand(index) for index in range(operands)]
    parameters = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
    jitted = ast.Call(ast.Name(_JIT, ast.Load()), [ast.Lambda(parameters, call)], [])
    return ast.Call(ast.Attribute(jitted, "lower", ast.Load()), [ast.Name(name, ast.Load()) for name in names], [])


def _check_names(call: ast.expr, frame: Frame, module: ModuleFile) -> None:
    own = {node.arg for node in ast.walk(call) if isinstance(node, ast.arg)}
    own |= {node.id for node in ast.walk(call) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for node in ast.walk(call):
        if not isinstance(node, ast.Name) or node.id in own or node.id.startswith("<"):
            continue
        if frame.lookup(node.id) is MISSING and builtin_names.lookup(node.id) is None and star_name(module, node.id) is None:
            known = {*module.frame.names, *(dtypes.short(name) for name in dtypes.NAMES)}
            raise WrongCall(f"there is no {node.id!r} in {os.path.basename(module.path)}{did_you_mean(node.id, known)}")


def _check_callee(machine: Machine, call: ast.Call, frame: Frame) -> None:
    """Refuse to call what is no function, or one that does not take these arguments."""
    callee, words = machine.evaluate(call.func, frame), ast.unparse(call.func)
    if isinstance(callee, Unknown):
        raise WrongCall(f"{words!r} is not known: {callee.why}")
    if type(callee) not in CALL:
        raise WrongCall(f"{words!r} is no function")
    while isinstance(callee, Transformed):
        callee = callee.func
    starred = any(isinstance(arg, ast.Starred) for arg in call.args) or any(keyword.arg is None for keyword in call.keywords)
    function, arguments = innermost(callee, Arguments([None] * len(call.args), {k.arg: None for k in call.keywords if k.arg}))
    if isinstance(function, Function) and not starred:
        try:
            bind_arguments(machine, function, arguments)
        except BindingFault as fault:
            raise WrongCall(str(fault)) from None

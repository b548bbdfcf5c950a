"""Calling the user's functions: binding arguments, running bodies, partials and bound methods."""

from __future__ import annotations

import ast
from contextlib import suppress
from dataclasses import replace

from .frames import Frame
from .machine import CALL, Arguments, Machine
from .paths import PathEnd
from .statements import Returned
from .values import ABSENT, BoundMethod, Builtin, Function, Iteration, Partial, Ref, Unknown, Value
from .written import is_generator


class BindingFault(Exception):
    """The arguments do not fit the signature; the text is CPython's own."""


def call_function(machine: Machine, function: Function, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """Run a user's function."""
    try:
        scope = bind_arguments(machine, function, arguments)
    except BindingFault:
        raise PathEnd("raise") from None
    for name, value in scope.names.items():
        if type(value) is Ref and not value.transforms:
            value.root.call_it(name)
    return run_body(machine, function, scope)


def run_body(machine: Machine, function: Function, scope: Frame) -> Value:
    """Run the body in its new frame and give what it returns."""
    _note_parameters(machine, function, scope)
    with machine.entered(function):
        if isinstance(function.node, ast.Lambda):
            return machine.evaluate(function.node.body, scope)
        if function.module.says_yield and is_generator(function.node):
            return _run_generator(machine, function.node, scope)
        result: Value = None
        try:
            machine.execute(function.node.body, scope)
        except Returned as returned:
            result = returned.value
    if function.module.parsed.is_damaged(function.node):
        return Unknown(f"the text of `{function.name}` cannot be parsed")
    return result


def _note_parameters(machine: Machine, function: Function, scope: Frame) -> None:
    if machine.focus == function.module.path:
        spec = function.node.args
        for parameter in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs, *filter(None, (spec.vararg, spec.kwarg))):
            if parameter.arg in scope.names:
                machine.note(parameter, scope.names[parameter.arg])


def _run_generator(machine: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Frame) -> Value:
    """Run a generator to its end at once: static sequences are all that a kernel can use."""
    collected: list[Value] = []
    scope.names["<yielded>"] = collected
    with suppress(Returned):
        machine.execute(node.body, scope)
    return Iteration(collected)


def bind_arguments(machine: Machine, function: Function, arguments: Arguments) -> Frame:
    """The frame of a call with its parameters bound.

    Raises ``BindingFault`` where Python would raise TypeError; with inexact arguments missing parameters are unknown.
    """
    spec = function.node.args
    scope = Frame("function", function.module, function.frame, function)
    positional = [*spec.posonlyargs, *spec.args]
    args, kwargs = list(arguments.args), dict(arguments.kwargs)
    host = machine.kernel is None
    if spec.kwarg is None:  # Python looks at the names before it looks at what is missing
        taken = {parameter.arg for parameter in (*spec.args, *spec.kwonlyargs)}
        unexpected = next((name for name in kwargs if name not in taken), None)
        if unexpected is not None:
            raise BindingFault(f"{function.name}() got an unexpected keyword argument '{unexpected}'")
    for index, parameter in enumerate(positional):
        if index < len(args):
            if parameter.arg in kwargs and parameter in spec.args:
                raise BindingFault(f"{function.name}() got multiple values for argument '{parameter.arg}'")
            scope.names[parameter.arg] = args[index]
        elif parameter.arg in kwargs and parameter in spec.args:
            scope.names[parameter.arg] = kwargs.pop(parameter.arg)
    extra = args[len(positional) :]
    if spec.vararg is not None:
        scope.names[spec.vararg.arg] = tuple(extra) if arguments.exact else Unknown("arguments of unknown number", host=host)
    elif extra:
        raise BindingFault(_too_many(function, len(positional), len(function.defaults), len(args)))
    _bind_keyword_only(function, spec, kwargs, scope, arguments.exact, host)
    if spec.kwarg is not None:
        scope.names[spec.kwarg.arg] = kwargs if arguments.exact else Unknown("keyword arguments of unknown names", host=host)
    _fill_defaults(function, positional, scope, arguments.exact, host)
    return scope


def _bind_keyword_only(function: Function, spec: ast.arguments, kwargs: dict[str, Value], scope: Frame, exact: bool, host: bool) -> None:
    for parameter, default in zip(spec.kwonlyargs, function.kw_defaults, strict=False):
        if parameter.arg in kwargs:
            scope.names[parameter.arg] = kwargs.pop(parameter.arg)
        elif default is not ABSENT and exact:
            scope.names[parameter.arg] = default
        elif exact:
            raise BindingFault(f"{function.name}() missing 1 required keyword-only argument: '{parameter.arg}'")
        else:
            scope.names[parameter.arg] = Unknown(f"argument `{parameter.arg}`", host=host)


def _fill_defaults(function: Function, positional: list[ast.arg], scope: Frame, exact: bool, host: bool) -> None:
    first = len(positional) - len(function.defaults)
    missing: list[str] = []
    for index, parameter in enumerate(positional):
        if parameter.arg in scope.names:
            continue
        if not exact:
            scope.names[parameter.arg] = Unknown(f"argument `{parameter.arg}`", host=host)
        elif index >= first:
            scope.names[parameter.arg] = function.defaults[index - first]
        else:
            missing.append(f"'{parameter.arg}'")
    if missing:
        names = missing[0] if len(missing) == 1 else f"{', '.join(missing[:-1])}{',' if len(missing) > 2 else ''} and {missing[-1]}"
        raise BindingFault(f"{function.name}() missing {len(missing)} required positional argument{'s' * (len(missing) > 1)}: {names}")


def _too_many(function: Function, count: int, defaults: int, given: int) -> str:
    takes = f"from {count - defaults} to {count}" if defaults else str(count)
    were = "was" if given == 1 else "were"
    return f"{function.name}() takes {takes} positional argument{'s' * (count != 1)} but {given} {were} given"


def _call_partial(machine: Machine, partial: Partial, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    return machine.call(partial.func, through_partial(partial, arguments), node, frame)


def through_partial(partial: Partial, arguments: Arguments) -> Arguments:
    """The arguments that the function inside a partial receives."""
    return replace(
        arguments,
        args=[*partial.args, *arguments.args],
        kwargs={**partial.kwargs, **arguments.kwargs},
        arg_nodes=[],
    )


def _call_bound(machine: Machine, method: BoundMethod, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    return machine.call(method.func, replace(arguments, args=[method.receiver, *arguments.args], arg_nodes=[]), node, frame)


def _call_builtin(machine: Machine, builtin: Builtin, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    return builtin.call(machine, arguments, node, frame)


def innermost(callee: Value, arguments: Arguments | None = None) -> tuple[Value, Arguments]:
    """The function inside partials and bound methods, with the arguments it finally receives."""
    arguments = arguments if arguments is not None else Arguments([])
    while True:
        if isinstance(callee, Partial):
            callee, arguments = callee.func, through_partial(callee, arguments)
        elif isinstance(callee, BoundMethod):
            callee, arguments = callee.func, replace(arguments, args=[callee.receiver, *arguments.args], arg_nodes=[])
        else:
            return callee, arguments


CALL[Function] = call_function
CALL[Partial] = _call_partial
CALL[BoundMethod] = _call_bound
CALL[Builtin] = _call_builtin

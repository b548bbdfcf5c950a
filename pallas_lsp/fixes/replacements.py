"""Functions without a TPU lowering, written with those that have one."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator

from ..interpreter.events import Computed, Event
from ..interpreter.operation_events import Operation
from ..resolve.project import Project
from ..rules.diagnostic import Applicability, Fix
from ..shapes import dtypes
from ..text.edits import insert_keyword, remove_argument, wrap
from ..text.span import Edit
from .code import LAX, NUMPY, Code
from .computations import Computation, computation_of
from .conditions import is_pure
from .registry import fixes, make

_ROOT_OF_HALF = 0.7071067811865476
_WRITTEN: dict[str, tuple[str, Applicability]] = {
    "jax.numpy.expm1": ("jnp.exp({x}) - 1", "unsafe"),
    "jax.lax.expm1": ("jnp.exp({x}) - 1", "unsafe"),
    "jax.lax.erfc": ("1 - lax.erf({x})", "unsafe"),
    "jax.scipy.special.erfc": ("1 - lax.erf({x})", "unsafe"),
    "jax.numpy.arctan": ("jnp.arctan2({x}, 1.0)", "safe"),
    "jax.numpy.atan": ("jnp.arctan2({x}, 1.0)", "safe"),
    "jax.lax.atan": ("jnp.arctan2({x}, 1.0)", "safe"),
    "jax.numpy.sinh": ("(jnp.exp({x}) - jnp.exp(-{x})) / 2", "unsafe"),
    "jax.numpy.cosh": ("(jnp.exp({x}) + jnp.exp(-{x})) / 2", "unsafe"),
    "jax.nn.gelu": (f"0.5 * {{x}} * (1 + lax.erf({_ROOT_OF_HALF} * {{x}}))", "unsafe"),
    "jax.nn.elu": ("jnp.where({x} > 0, {x}, jnp.exp({x}) - 1)", "unsafe"),
    "jax.numpy.copy": ("{x}", "safe"),
    "jax.numpy.array": ("{x}", "safe"),
    "jax.numpy.asarray": ("{x}", "safe"),
    "jax.lax.optimization_barrier": ("{x}", "safe"),
}
"""How a function of ``x`` is written; ``unsafe`` where the last digits differ."""

_SUMS = {0: 'jnp.dot(jnp.tri({n}), {x}, precision="highest")', 1: 'jnp.dot({x}, jnp.tri({n}).T, precision="highest")'}
"""A running sum of float32 rows or columns, by axis."""

_SHORT = re.compile(r"\b(jnp|lax)\.(\w+)")
_ROOTS = {"jnp": NUMPY, "lax": LAX}


@fixes("unimplemented-primitive")
def written_otherwise(event: Event, project: Project) -> Iterator[Fix]:
    """The same values by functions that lower."""
    computed = computation_of(event)
    if computed is None or not computed.operands:
        return
    written = _WRITTEN.get(computed.event.function)
    if written is not None and not _asks_more(computed):
        yield from _as(computed, *written)
    if computed.event.function == "jax.numpy.cumsum":
        yield from _running_sum(computed)


def _asks_more(computed: Computation) -> bool:
    """Whether a call has arguments that are more than the array, and change what it gives."""
    keywords = {keyword.arg for keyword in computed.call.keywords} if computed.call is not None else set()
    allowed = {"jax.nn.gelu": {"approximate"}, "jax.numpy.array": {"copy"}, "jax.numpy.asarray": {"copy"}}.get(
        computed.event.function, set()
    )
    return bool(keywords - allowed) or len(computed.operands) > 1


def _as(computed: Computation, template: str, applicability: Applicability, **others: str) -> Iterator[Fix]:
    code, operand = computed.code, computed.operands[0].node
    if template.count("{x}") > 1 and not is_pure(operand):
        return
    if "#" in code.text(computed.node) or "\n" in code.text(operand):
        return
    bare = isinstance(operand, ast.Name | ast.Attribute | ast.Subscript | ast.Call) or template == "{x}"
    x = code.text(operand) if bare or _only_as_arguments(template) else f"({code.text(operand)})"
    imports: list[Edit] = []
    for root, short in _SHORT.findall(template):
        named = code.name(f"{_ROOTS[root]}.{short}")
        if named is None:
            return
        template = template.replace(f"{root}.{short}(", f"{named.text}(")
        imports += named.edits
    text = template.format(x=x, **others)
    yield make(f"Write `{text}`", applicability, imports, [code.put(computed.node, text)])


def _only_as_arguments(template: str) -> bool:
    return template.count("({x})") + template.count("({x},") == template.count("{x}")


def _running_sum(computed: Computation) -> Iterator[Fix]:
    """A product with a triangle of ones adds up."""
    operand, axis = computed.arrays[0] if computed.arrays else None, computed.event.get(1, "axis")
    extra = {keyword.arg for keyword in computed.call.keywords} - {"axis"} if computed.call is not None else {None}
    if operand is None or operand.rank not in (None, 2) or operand.dtype not in (None, "float32") or extra or axis not in (0, 1, -1, -2):
        return
    assert isinstance(axis, int)
    whole = isinstance(operand.node, ast.Subscript) and isinstance(operand.node.slice, ast.Constant)
    holder = operand.node.value if isinstance(operand.node, ast.Subscript) and whole else operand.node
    if isinstance(holder, ast.Name):
        yield from _as(computed, _SUMS[axis % 2], "unsafe", n=f"{holder.id}.shape[{axis % 2}]")


@fixes("jnp-empty")
def zeros(event: Operation, project: Project) -> Iterator[Fix]:
    """``jnp.empty`` promises nothing, so zeros are as good."""
    made = computation_of(event)
    if made is None or made.call is None or not event.function.startswith(NUMPY):
        return
    named = made.code.name(event.function.replace("empty", "zeros"))
    if named is not None:
        yield make(f"Use `{named.text}`", "safe", named.edits, [made.code.replace(made.call.func, named.text)])


@fixes("iota-float")
def count_in_integers(event: Operation, project: Project) -> Iterator[Fix]:
    """Count in int32 and cast the result."""
    code, call, dtype = Code(event.where.module), event.where.node, getattr(event.result, "dtype", None)
    floats, int32 = code.name(f"{NUMPY}.{dtype}"), code.name(f"{NUMPY}.int32")
    if not isinstance(call, ast.Call) or dtype is None or floats is None or int32 is None:
        return
    cast, given = code.after(call, f".astype({floats.text})"), next((k for k in call.keywords if k.arg == "dtype"), None)
    short = event.function.rpartition(".")[2]
    if short in ("iota", "broadcasted_iota") and (call.args or given is not None):
        old = given.value if given is not None else call.args[0]
        yield make("Count in int32, and cast", "safe", floats.edits, int32.edits, [code.replace(old, int32.text), cast])
    elif short == "arange":
        bounds = [argument for argument in call.args if isinstance(argument, ast.Constant) and isinstance(argument.value, float)]
        if any(not float(bound.value).is_integer() for bound in bounds if isinstance(bound.value, float)):
            return
        whole = [code.replace(bound, str(int(bound.value))) for bound in bounds if isinstance(bound.value, float)]
        removed = [remove_argument(code.module.source, call, given)] if given is not None else []
        yield make("Count in integers, and cast", "safe", floats.edits, whole, removed, [cast])


@fixes("checkpoint")
def plain_function(event: Operation, project: Project) -> Iterator[Fix]:
    """``jax.checkpoint(f)(x)`` is ``f(x)`` where nothing is differentiated."""
    code, call = Code(event.where.module), event.where.node
    wrapped = call.func if isinstance(call, ast.Call) else None
    if isinstance(wrapped, ast.Call) and len(wrapped.args) == 1 and isinstance(wrapped.args[0], ast.Name | ast.Attribute):
        edits = code.rewrite(wrapped, wrapped.args[0])
        if edits is not None:
            yield make(f"Call `{code.text(wrapped.args[0])}` itself", "safe", edits)


@fixes("roll-args")
def roll_of_jnp(event: Operation, project: Project) -> Iterator[Fix]:
    """``jnp.roll`` takes negative shifts and axes."""
    rolled = computation_of(event)
    call = rolled.call if rolled is not None else None
    if rolled is None or call is None or any(keyword.arg not in ("shift", "axis") for keyword in call.keywords) or len(call.args) > 3:
        return
    roll = rolled.code.name(f"{NUMPY}.roll")
    if roll is not None and call.args:
        yield make(f"Use `{roll.text}`", "safe", roll.edits, [rolled.code.replace(call.func, roll.text)])


@fixes("top-k")
def not_stable(event: Operation, project: Project) -> Iterator[Fix]:
    """The order of equal elements is left open."""
    code, call = Code(event.where.module), event.where.node
    if (
        isinstance(call, ast.Call)
        and event.function == f"{LAX}.top_k"
        and all(keyword.arg not in ("is_stable", None) for keyword in call.keywords)
    ):
        edit = insert_keyword(code.module.source, call, "is_stable", "False")
        yield make("Leave the order of equal elements open", "unsafe", [edit])


@fixes("debug-print-form")
def print_in_order(event: Operation, project: Project) -> Iterator[Fix]:
    """Names in the text become ``{}``, and their values stand in its order."""
    code, call = Code(event.where.module), event.where.node
    if not isinstance(call, ast.Call) or not call.args or any(keyword.arg is None for keyword in call.keywords):
        return
    ordered = next((keyword for keyword in call.keywords if keyword.arg == "ordered"), None)
    if ordered is not None:
        yield make("Leave `ordered` out", "safe", [remove_argument(code.module.source, call, ordered)])
        return
    fmt, given = call.args[0], {keyword.arg: keyword.value for keyword in call.keywords}
    if len(call.args) > 1 or not given or not isinstance(fmt, ast.Constant) or not isinstance(fmt.value, str) or "#" in code.text(call):
        return
    fields = [name for _, name, spec, conversion in string.Formatter().parse(fmt.value) if name is not None]
    if sorted(fields) != sorted(str(name) for name in given):
        return
    text = code.text(fmt)
    for name in fields:
        text = text.replace(f"{{{name}}}", "{}")
    values = ", ".join(code.text(given[name]) for name in fields)
    yield make("Print the values in order", "safe", [code.replace(call, f"{code.text(call.func)}({text}, {values})")])


@fixes("select-n-cases", "argmax-dtype")
def nested_choice(event: Operation, project: Project) -> Iterator[Fix]:
    """``lax.select_n`` and ``jnp.select`` as ``jnp.where`` in ``jnp.where``."""
    code, call, where = Code(event.where.module), event.where.node, Code(event.where.module).name(f"{NUMPY}.where")
    if not isinstance(call, ast.Call) or call.keywords or where is None or "#" in code.text(call):
        return
    arguments = call.args
    if event.function == f"{LAX}.select_n" and len(arguments) > 3 and is_pure(arguments[0]):
        tests = [f"{_operand(code, arguments[0])} == {case}" for case in range(len(arguments) - 2)]
        values = [code.text(argument) for argument in arguments[1:]]
    elif (
        event.function == f"{NUMPY}.select"
        and len(arguments) in (2, 3)
        and all(isinstance(part, ast.List | ast.Tuple) for part in arguments[:2])
    ):
        tests, values = ([code.text(element) for element in getattr(part, "elts", ())] for part in arguments[:2])
        values.append(code.text(arguments[2]) if len(arguments) == 3 else "0")
    else:
        return
    if len(tests) + 1 == len(values) and tests:
        text = (
            "".join(f"{where.text}({test}, {value}, " for test, value in zip(tests, values, strict=False)) + values[-1] + ")" * len(tests)
        )
        yield make("Choose by `jnp.where`", "safe", where.edits, [code.replace(call, text)])


def _operand(code: Code, node: ast.expr) -> str:
    return code.text(node) if isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call) else f"({code.text(node)})"


@fixes("bool-reshape", "trailing-unit-dim-packed")
def move_numbers(event: Event, project: Project) -> Iterator[Fix]:
    """A mask, or what is narrow, is moved as 32-bit numbers."""
    code, node = Code(event.where.module), event.where.node
    computed = computation_of(event)
    moved = computed.operands[0].node if computed is not None and computed.operands else None
    dtype = computed.operands[0].dtype if computed is not None and computed.operands else None
    if isinstance(event, Computed) and isinstance(node, ast.Subscript):
        moved, dtype = node.value, event.source.dtype
    if moved is None or dtype is None or not isinstance(node, ast.expr):
        return
    yield from _moved(code, node, moved, dtype)


def _moved(code: Code, node: ast.expr, moved: ast.expr, dtype: str) -> Iterator[Fix]:
    kind = "float32" if dtypes.is_floating(dtype) else "int32"
    named, old = code.name(f"{NUMPY}.{kind}"), code.name(f"{NUMPY}.{dtype}")
    if named is None or "\n" in code.text(node):
        return
    cast = wrap(code.module.source, moved, "", f".astype({named.text})")
    if dtype == "bool":
        start, end, alone = code.span(node).start, code.span(node).end, code.is_alone(node)
        compared = [code.after(node, " != 0")] if alone else [code.cut(start, start, "("), code.cut(end, end, " != 0)")]
        yield make(f"Move {kind} numbers, and compare", "safe", named.edits, cast, compared)
    elif old is not None:
        back = [code.after(node, f".astype({old.text})")]
        yield make(f"Move {kind} numbers, and cast to {dtype}", "safe", named.edits, old.edits, cast, back)

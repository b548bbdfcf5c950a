"""Parts of a value that are chosen by data, or written to: a mask over the whole of it does the same."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..interpreter.events import Access, Computed, Event, ValueStore, ViewEvent
from ..interpreter.operation_events import TracedAsStatic
from ..interpreter.values import Array
from ..resolve.project import Project
from ..rules.diagnostic import Fix
from ..text.edits import remove_argument, wrap
from ..text.span import Edit
from .code import LAX, NUMPY, Code, Named
from .registry import fixes, make

_NEUTRAL = {"sum": "0", "max": "-{inf}", "min": "{inf}"}
_OPERATIONS = {
    "set": "{where}({mask}, {value}, {x})",
    "add": "{x} + {where}({mask}, {value}, 0)",
    "multiply": "{x} * {where}({mask}, {value}, 1)",
}


# -- reductions of a part -----------------------------------------------------------------------------------------------------------


@fixes("traced-value-slice-bounds", "dynamic-python-slice", "boolean-mask-index")
def reduce_under_a_mask(event: Event, project: Project) -> Iterator[Fix]:
    """``jnp.sum(x[:n])`` as ``jnp.sum(jnp.where(row < n, x, 0))``: what is left out adds nothing."""
    code, part = Code(event.where.module), event.where.node
    if not isinstance(part, ast.Subscript) or not isinstance(event, TracedAsStatic | Access | ViewEvent):
        return
    call = next((holder for holder in code.around(part) if not isinstance(holder, ast.keyword)), None)
    short = (code.qualified(call.func) or "").removeprefix(f"{NUMPY}.") if isinstance(call, ast.Call) else ""
    if not isinstance(call, ast.Call) or short not in _NEUTRAL or not call.args or not code.same(call.args[0], part):
        return
    axis = next((k.value for k in call.keywords if k.arg == "axis"), call.args[1] if len(call.args) > 1 else None)
    whole = axis is None or (isinstance(axis, ast.Constant) and axis.value is None)
    rows = isinstance(axis, ast.Constant) and axis.value == 0
    where, inf = code.name(f"{NUMPY}.where"), code.name(f"{NUMPY}.inf")
    value = _whole_value(code, part.value, is_ref=not isinstance(event, TracedAsStatic))
    if where is None or inf is None or value is None or any(k.arg not in ("axis", "keepdims") for k in call.keywords):
        return
    if isinstance(event, TracedAsStatic) and event.kind == "mask":
        mask = Named(code.text(part.slice)) if whole and not call.keywords else None
    else:
        mask = _rows(code, part) if whole or rows else None
    if mask is None or "#" in code.text(part):
        return
    neutral = _NEUTRAL[short].format(inf=inf.text)
    edit = code.replace(part, f"{where.text}({mask.text}, {value}, {neutral})")
    yield make("Mask what is left out", "safe", where.edits, inf.edits if "inf" in neutral else (), mask.edits, [edit])


def _whole_value(code: Code, node: ast.expr, *, is_ref: bool) -> str | None:
    if isinstance(node, ast.Name) or (isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)):
        return f"{code.text(node)}[...]" if is_ref else code.text(node)
    return None


def _rows(code: Code, part: ast.Subscript) -> Named | None:
    """The mask of the rows that ``start:stop`` takes, other dims being taken whole."""
    first, *others = part.slice.elts if isinstance(part.slice, ast.Tuple) else [part.slice]
    full = all(isinstance(other, ast.Slice) and other.lower is other.upper is other.step is None for other in others)
    iota, int32 = code.name(f"{LAX}.broadcasted_iota"), code.name(f"{NUMPY}.int32")
    if not full or not isinstance(first, ast.Slice) or first.step is not None or iota is None or int32 is None:
        return None
    row = f"{iota.text}({int32.text}, {_shape(code, part.value)}, 0)"
    from_zero = first.lower is None or (isinstance(first.lower, ast.Constant) and first.lower.value == 0)
    tests = [] if from_zero or first.lower is None else [f"{row} >= {_bound(code, first.lower)}"]
    tests += [f"{row} < {_bound(code, first.upper)}"] if first.upper is not None else []
    text = tests[0] if len(tests) == 1 else " & ".join(f"({test})" for test in tests)
    return Named(text, (*iota.edits, *int32.edits)) if tests else None


def _bound(code: Code, node: ast.expr) -> str:
    return f"({code.text(node)})" if isinstance(node, ast.Compare | ast.BoolOp | ast.IfExp) else code.text(node)


def _shape(code: Code, node: ast.expr) -> str:
    """The shape of a value or ref; of a whole load that of the ref, which needs no load."""
    whole = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)
    return f"{code.text(node.value if whole and isinstance(node, ast.Subscript) else node)}.shape"


# -- writing to a part --------------------------------------------------------------------------------------------------------------


@fixes("unimplemented-primitive")
def select_instead_of_scatter(event: Event, project: Project) -> Iterator[Fix]:
    """``x.at[0].set(v)`` as ``jnp.where(row == 0, v, x)``."""
    code, call = Code(event.where.module), event.where.node
    if (
        not isinstance(event, Computed)
        or event.kind != "scatter"
        or not isinstance(call, ast.Call)
        or not isinstance(call.func, ast.Attribute)
    ):
        return
    view, operation = call.func.value, call.func.attr
    template = _OPERATIONS.get(operation)
    if (
        template is None
        or not isinstance(view, ast.Subscript)
        or not isinstance(view.value, ast.Attribute)
        or len(call.args) != 1
        or call.keywords
    ):
        return
    holder = view.value.value
    written = _written(code, holder, view.slice, call.args[0], template)
    if written is not None and "#" not in code.text(call):
        yield make("Select by a mask", "safe", written.edits, [code.put(call, written.text)])


@fixes("value-item-assignment")
def select_instead_of_assignment(event: ValueStore, project: Project) -> Iterator[Fix]:
    """``x[0] = v`` as ``x = jnp.where(row == 0, v, x)``."""
    code, target = Code(event.where.module), event.target
    statement = code.statement(target)
    if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name) or not isinstance(event.holder, Array):
        return
    operators: dict[type[ast.operator], str] = {ast.Add: "add", ast.Mult: "multiply"}
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        operation = "set"
    elif isinstance(statement, ast.AugAssign) and type(statement.op) in operators:
        operation = operators[type(statement.op)]
    else:
        return
    written = _written(code, target.value, target.slice, statement.value, _OPERATIONS[operation])
    if written is not None and "#" not in code.text(statement):
        text = f"{target.value.id} = {written.text}"
        yield make("Select by a mask", "unsafe", written.edits, [code.replace(statement, text)])


def _written(code: Code, holder: ast.expr, index: ast.expr, value: ast.expr, template: str) -> Named | None:
    """The value with a part replaced. A row fits under the mask of the leading dims, into other parts only a number does."""
    if not isinstance(holder, ast.Name) and not (isinstance(holder, ast.Subscript) and isinstance(holder.value, ast.Name)):
        return None
    where = code.name(f"{NUMPY}.where")
    entries = index.elts if isinstance(index, ast.Tuple) else [index]
    tests, imports = [], list[Edit]()
    for axis, entry in enumerate(entries):
        if isinstance(entry, ast.Constant) and entry.value is Ellipsis:
            break
        test = _taken(code, holder, axis, entry)
        if test is None:
            return None
        tests += test.text.splitlines()
        imports += test.edits
    leading = all(isinstance(entry, ast.Constant) and isinstance(entry.value, int) for entry in entries[: len(tests)])
    number = isinstance(value, ast.Constant) or (isinstance(value, ast.UnaryOp) and isinstance(value.operand, ast.Constant))
    if where is None or not tests or not (leading or number):
        return None
    mask = tests[0] if len(tests) == 1 else " & ".join(f"({test})" for test in tests)
    text = template.format(where=where.text, mask=mask, value=code.text(value), x=code.text(holder))
    return Named(text, (*where.edits, *imports))


def _taken(code: Code, holder: ast.expr, axis: int, entry: ast.expr) -> Named | None:
    """The tests for the positions that an entry takes, one a line; no line where it takes all."""
    iota, int32 = code.name(f"{LAX}.broadcasted_iota"), code.name(f"{NUMPY}.int32")
    if iota is None or int32 is None:
        return None
    imports, shape = (*iota.edits, *int32.edits), _shape(code, holder)
    place = f"{iota.text}({int32.text}, {shape}, {axis})"
    if not isinstance(entry, ast.Slice):
        at = _position(entry, f"{shape}[{axis}]")
        return Named(f"{place} == {at}", imports) if at is not None else None
    bounds = [(symbol, bound) for symbol, bound in ((">=", entry.lower), ("<", entry.upper)) if bound is not None]
    places = [_position(bound, f"{shape}[{axis}]") for _, bound in bounds]
    if entry.step is not None or None in places:
        return None
    return Named("\n".join(f"{place} {symbol} {at}" for (symbol, _), at in zip(bounds, places, strict=True)), imports)


def _position(node: ast.expr, size: str) -> str | None:
    """A literal position, one from the end with the size in front; None for others, which may be arrays."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return str(node.value)
    counted = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else None
    return f"{size} - {counted.value!r}" if isinstance(counted, ast.Constant) else None


# -- masked loads and stores --------------------------------------------------------------------------------------------------------


@fixes("masked-load", "masked-store-not-32-bit", "masked-strided-store", "masked-store-to-smem")
def select_what_is_moved(event: Access, project: Project) -> Iterator[Fix]:
    """``pltpu.load(ref, mask=m)`` as a choice after the load, a masked store as a choice between the new and the old."""
    code, call, where = Code(event.where.module), event.where.node, Code(event.where.module).name(f"{NUMPY}.where")
    given = next((k for k in call.keywords if k.arg == "mask"), None) if isinstance(call, ast.Call) else None
    if not isinstance(call, ast.Call) or given is None or where is None or event.api != "pltpu" or "#" in code.text(call):
        return
    mask, place = code.text(given.value), _place(code, call.args[0]) if call.args else None
    if event.op == "load":
        source = code.module.source
        edits = [*wrap(source, call, f"{where.text}({mask}, ", ", 0)"), remove_argument(source, call, given)]
        yield make("Select after the load", "safe", where.edits, edits)
    elif place is not None and len(call.args) == 2 and code.is_discarded(call):
        text = f"{place} = {where.text}({mask}, {code.text(call.args[1])}, {place})"
        yield make("Store the old elements where the mask is false", "safe", where.edits, [code.replace(call, text)])


def _place(code: Code, ref: ast.expr) -> str | None:
    """A ref or view as it is indexed."""
    if isinstance(ref, ast.Name):
        return f"{ref.id}[...]"
    if isinstance(ref, ast.Subscript) and isinstance(ref.value, ast.Attribute) and ref.value.attr == "at":
        return f"{code.text(ref.value.value)}[{code.text(ref.slice)}]"
    return None

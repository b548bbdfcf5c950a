"""Refs, views and values taken for one another: read the ref, make the view, index the ref instead of the value."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import combinations

from ..interpreter.events import Access, Computed, CopyEvent, Event, RefAsArray, ValueStore
from ..resolve.project import Project
from ..rules.diagnostic import Fix
from ..text.edits import wrap
from ..text.span import Edit
from .code import PALLAS, Code
from .computations import Computation, computation_of
from .registry import Candidate, fixes, make

_MOST_OPERANDS = 3


@fixes("ref-used-as-array")
def read_the_ref(event: RefAsArray, project: Project) -> Iterator[Candidate]:
    """``[...]`` reads a ref; a view is indexed without ``.at``."""
    code, node, name = Code(event.where.module), event.where.node, event.ref.root.name
    places = [place for place in _places(event, node) if not _is_global(code, place)]
    for place in places:
        for source in _namings(code, place, name) if isinstance(place, ast.Name) else ():
            yield make(f"Read `{name}`", "safe", _reading(code, source))
    # Which of the operands are refs is for the analysis to tell: fewest first, those named like the ref before others.
    places.sort(key=lambda place: not (isinstance(place, ast.Name) and place.id == name))
    yield tuple(
        make(f"Read `{code.text(chosen[0])}`", "safe", *(_reading(code, place) for place in chosen))
        for count in range(1, min(len(places), _MOST_OPERANDS) + 1)
        for chosen in combinations(places, count)
    )


def _namings(code: Code, name: ast.Name, ref: str) -> Iterator[ast.Name]:
    """Where the function around gives the ref another name, ``name = ref``."""
    for node in (node for function in code.functions(name)[:1] for node in ast.walk(function)):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Name) or node.value.id != ref:
            continue
        if any(isinstance(target, ast.Name) and target.id == name.id for target in node.targets):
            yield node.value


def _places(event: RefAsArray, node: ast.AST) -> list[ast.expr]:
    """The expressions of which one or more must be the ref."""
    if event.operation == "store" and isinstance(node, ast.expr):
        return [node]
    if isinstance(node, ast.Attribute):
        return [node.value]
    if isinstance(node, ast.Call):
        return [*(argument for argument in node.args if _may_be_ref(argument)), *(k.value for k in node.keywords if _may_be_ref(k.value))]
    operands = {ast.BinOp: ("left", "right"), ast.UnaryOp: ("operand",), ast.AugAssign: ("target", "value")}.get(type(node), ())
    found = [getattr(node, name) for name in operands]
    if isinstance(node, ast.Compare):
        found = [node.left, *node.comparators]
    return [operand for operand in found if _may_be_ref(operand)]


def _may_be_ref(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) or _is_view(node)


def _is_global(code: Code, node: ast.expr) -> bool:
    """Whether a name is one of the file's, which are no refs."""
    if not isinstance(node, ast.Name) or node.id not in code.module.frame.names:
        return False
    return not any(node.id in code.local_names(function) for function in code.functions(node))


def _is_view(node: ast.expr) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "at"


def _reading(code: Code, node: ast.expr) -> tuple[Edit, ...]:
    if _is_view(node):
        return (_without_at(code, node),)
    return wrap(code.module.source, node, "", "[...]")


def _without_at(code: Code, view: ast.expr) -> Edit:
    """``ref.at[i]`` as ``ref[i]``."""
    assert isinstance(view, ast.Subscript) and isinstance(view.value, ast.Attribute)
    return code.cut(code.span(view.value.value).end, code.span(view.value).end)


@fixes("ref-at-item-assignment")
def assign_to_the_ref(event: ValueStore, project: Project) -> Iterator[Fix]:
    """``ref.at[i] = v`` is ``ref[i] = v``."""
    code, target = Code(event.where.module), event.target
    if isinstance(target, ast.Subscript) and _is_view(target):
        yield make(f"Assign to `{code.text(target.value).removesuffix('.at')}` itself", "safe", [_without_at(code, target)])


@fixes("copy-operand-not-ref")
def copy_a_view(event: CopyEvent, project: Project) -> Iterator[Fix]:
    """A copy takes ``ref.at[i]``, or the ref."""
    code, node = Code(event.where.module), event.where.node
    loaded = node
    if isinstance(node, ast.Name):
        loaded = code.assigned(node) or node
    if not isinstance(loaded, ast.Subscript):
        return
    ref = code.text(loaded.value)
    whole = isinstance(loaded.slice, ast.Constant) and loaded.slice.value is Ellipsis
    text = ref if whole else f"{ref}.at[{_between_brackets(code, loaded)}]"
    if loaded is not node:  # what was loaded may have been overwritten since
        yield make(f"Copy from `{text}`" if event.role == "source" else f"Use `{text}`", "unsafe", [code.replace(node, text)])
    elif whole:
        yield make(f"Give the copy `{ref}` itself", "safe", [code.cut(code.span(loaded.value).end, code.span(loaded).end)])
    else:
        yield make(f"Give the copy a view of `{ref}`", "safe", [code.after(loaded.value, ".at")])


def _between_brackets(code: Code, node: ast.Subscript) -> str:
    text = code.module.source.text
    opening = text.index("[", code.span(node.value).end)
    return text[opening + 1 : code.span(node).end - 1]


_COPIES = ("make_async_copy", "async_copy", "sync_copy", "make_async_remote_copy", "async_remote_copy")


@fixes("access-any-or-hbm")
def copy_without_reading(event: Access, project: Project) -> Iterator[Fix]:
    """A copy reads by itself: it is given a view."""
    code, node = Code(event.where.module), event.where.node
    holder = code.around(node)[0]
    copied = isinstance(holder, ast.Call) and (code.qualified(holder.func) or "").endswith(_COPIES)
    if copied and isinstance(node, ast.Subscript) and event.op == "load":
        yield make(f"Give the copy a view of `{code.text(node.value)}`", "safe", [code.after(node.value, ".at")])


@fixes("ref-transpose")
def transpose_the_value(event: Access, project: Project) -> Iterator[Fix]:
    """``ref.T[...]`` is ``ref[...].T``."""
    code, node = Code(event.where.module), event.where.node
    if not isinstance(node, ast.Subscript) or not (isinstance(node.slice, ast.Constant) and node.slice.value is Ellipsis):
        return
    view = node.value
    transposer = view.func if isinstance(view, ast.Call) else view
    if not isinstance(transposer, ast.Attribute) or transposer.attr not in ("T", "transpose"):
        return
    ref = code.span(transposer.value).end
    moved = code.cut(ref, ref, "[...]"), code.cut(code.span(view).end, code.span(node).end)
    yield make(f"Transpose what is loaded from `{code.text(transposer.value)}`", "safe", moved)


@fixes("value-dynamic-slice", "strided-value-slice")
def index_the_ref(event: Event, project: Project) -> Iterator[Fix]:
    """``ref[...][i]`` is ``ref[i]``; the same where the loaded value has a name."""
    if not isinstance(event, Computed) or event.kind == "outside":
        return
    code, node = Code(event.where.module), event.where.node
    access = next((operand for operand in event.source.operands if isinstance(operand, Access)), None)
    if not isinstance(node, ast.Subscript) or access is None or access.where.module is not event.where.module:
        return
    load = access.where.node
    whole = isinstance(load, ast.Subscript) and isinstance(load.slice, ast.Constant) and load.slice.value is Ellipsis
    if not isinstance(load, ast.Subscript) or not whole:
        return
    ref = code.text(load.value)
    if isinstance(node.value, ast.Subscript) and code.span(node.value) == code.span(load):
        yield make(f"Index `{ref}` itself", "safe", [code.cut(code.span(load.value).end, code.span(load).end)])
    elif isinstance(node.value, ast.Name) and code.assigned(node.value) is load and isinstance(load.value, ast.Name):
        read_only = code.only_reads(load.value, node)
        yield make(f"Index `{ref}` itself", "safe" if read_only else "unsafe", [code.replace(node.value, ref)])


@fixes("value-dynamic-slice")
def slice_the_ref(event: Event, project: Project) -> Iterator[Fix]:
    """``lax.dynamic_slice_in_dim(x, i, 8)`` of a loaded value is ``ref[pl.ds(i, 8)]``, and so are its like."""
    sliced, ds = computation_of(event), Code(event.where.module).name(f"{PALLAS}.ds")
    call = sliced.call if sliced is not None else None
    if sliced is None or call is None or ds is None or not call.args or "#" in sliced.code.text(call):
        return
    value = call.args[0]
    load = sliced.code.assigned(value) if isinstance(value, ast.Name) else value
    whole = isinstance(load, ast.Subscript) and isinstance(load.slice, ast.Constant) and load.slice.value is Ellipsis
    entries = _entries(sliced, call, ds.text) if whole else None
    if not isinstance(load, ast.Subscript) or entries is None or not isinstance(load.value, ast.Name):
        return
    ref = load.value
    safe = load is value or sliced.code.only_reads(ref, call)
    edit = sliced.code.replace(call, f"{ref.id}[{', '.join(entries)}]")
    yield make(f"Index `{ref.id}` itself", "safe" if safe else "unsafe", ds.edits, [edit])


def _entries(sliced: Computation, call: ast.Call, ds: str) -> list[str] | None:
    """The index that takes what a dynamic slice does."""
    code, event = sliced.code, sliced.event
    short, given = event.function.rpartition(".")[2], [code.text(argument) for argument in call.args[1:]]
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    if short == "dynamic_slice" and len(call.args) == 3 and not call.keywords:
        starts, sizes = call.args[1:]
        if isinstance(starts, ast.Tuple | ast.List) and isinstance(sizes, ast.Tuple | ast.List) and len(starts.elts) == len(sizes.elts):
            return [f"{ds}({code.text(start)}, {code.text(size)})" for start, size in zip(starts.elts, sizes.elts, strict=True)]
    axis = event.get(3 if short == "dynamic_slice_in_dim" else 2, "axis", 0)
    if type(axis) is not int or axis < 0 or any(keyword.arg not in ("axis", "keepdims") for keyword in call.keywords):
        return None
    if short == "dynamic_slice_in_dim" and len(given) >= 2:
        return [":"] * axis + [f"{ds}({given[0]}, {given[1]})"]
    if short == "dynamic_index_in_dim" and given:
        kept = event.get(3, "keepdims", True) is not False
        return [":"] * axis + [f"{ds}({given[0]}, 1)" if kept else given[0]]
    return None


@fixes("zero-rank-ref-not-in-smem")
def fewer_views(event: Access, project: Project) -> Iterator[Fix]:
    """``view.at[...]`` of a view without dims is the view."""
    code = Code(event.where.module)
    node = event.where.node.value if isinstance(event.where.node, ast.Subscript) else None
    for place in (node, code.assigned(node) if isinstance(node, ast.Name) else None):
        if place is not None and _is_view(place) and isinstance(place, ast.Subscript) and isinstance(place.value, ast.Attribute):
            holder = place.value.value
            yield make(f"Use `{code.text(holder)}` itself", "safe", [code.cut(code.span(holder).end, code.span(place).end)])

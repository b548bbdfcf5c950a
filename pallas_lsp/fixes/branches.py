"""Python's branches on traced values: ``pl.when`` for blocks, ``jnp.where`` for values, and operations for ``and``, ``not`` or ``min``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ..interpreter.events import TracedBranch
from ..interpreter.values import Array
from ..resolve.project import Project
from ..rules.diagnostic import Applicability, Fix
from ..text.edits import code_characters, grouped, operator_between
from ..text.span import Edit, Span
from .code import LAX, NUMPY, PALLAS, Code
from .conditions import is_cheap, is_pure, negated, traced
from .registry import Candidate, fixes, make
from .scopes import bound_names, is_bound_before, is_closed, leaves

_VALUES = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Constant, ast.IfExp)


@fixes("traced-bool-branch")
def without_a_question(event: TracedBranch, project: Project) -> Iterator[Candidate]:
    """Say to JAX what Python would decide: by the kind of the statement or expression that asks."""
    code = Code(event.where.module)
    asked, holder = _asked(code, event.where.node)
    if asked is None:
        return
    if isinstance(holder, ast.IfExp) and code.same(holder.test, asked):
        yield from _choice(code, holder)
    elif isinstance(holder, ast.If) and code.same(holder.test, asked):
        yield from _returns(code, holder)
        yield from _selection(code, holder)
        yield from _blocks(code, holder)
    elif isinstance(holder, ast.Assert) and code.same(holder.test, asked):
        yield from _assertion(code, holder)
    elif isinstance(asked, ast.Call):
        yield from _extreme(code, asked)
        yield from _boolean(code, asked, event)
    elif not isinstance(holder, ast.While):
        yield from _truth(code, asked)


def _asked(code: Code, node: ast.AST) -> tuple[ast.expr | None, ast.AST | None]:
    """The whole condition that ``node`` is a part of, and what asks for it."""
    asked = node
    for holder in code.around(node):
        if not isinstance(holder, ast.BoolOp | ast.UnaryOp) or (isinstance(holder, ast.UnaryOp) and not isinstance(holder.op, ast.Not)):
            return (asked if isinstance(asked, ast.expr) else None), holder
        asked = holder
    return None, None


# -- expressions --------------------------------------------------------------------------------------------------------------------


def _choice(code: Code, choice: ast.IfExp) -> Iterator[Fix]:
    """``a if c else b`` as ``jnp.where(c, a, b)``."""
    where, cond, condition = code.name(f"{NUMPY}.where"), code.name(f"{LAX}.cond"), traced(code, choice.test)
    values, parentheses = (choice.body, choice.orelse), _without_parentheses(code, choice)
    if where is None or cond is None or condition is None:
        return
    harmless = all(is_cheap(code, value) for value in values)
    edits = code.rewrite(choice, f"{where.text}({condition.text}, ", choice.body, ", ", choice.orelse, ")")
    if edits is not None and all(map(_is_value, values)):
        yield make("Choose by `jnp.where`", "safe" if harmless else "unsafe", where.edits, condition.imports, edits, parentheses)
    edits = code.rewrite(choice, f"{cond.text}({condition.text}, lambda: ", choice.body, ", lambda: ", choice.orelse, ")")
    if edits is not None and all(map(_is_tree, values)) and not (harmless and all(map(_is_value, values))):
        yield make(f"Choose by `{cond.text}`", "safe", cond.edits, condition.imports, edits, parentheses)


def _is_tree(node: ast.expr) -> bool:
    """Whether an expression may be an array or a tuple of some."""
    return all(map(_is_tree, node.elts)) if isinstance(node, ast.Tuple) else _is_value(node)


def _is_value(node: ast.expr) -> bool:
    return isinstance(node, _VALUES) and not (isinstance(node, ast.Constant) and not isinstance(node.value, bool | int | float))


def _without_parentheses(code: Code, node: ast.expr) -> tuple[Edit, ...]:
    """Parentheses around an expression that becomes a call."""
    whole = code.span(node)
    group = grouped(code.module.source.text, whole)
    if group is None or "\n" in code.module.source.slice(group):
        return ()
    edits = code.cut(group.start, whole.start, ""), code.cut(whole.end, group.end, "")
    return edits if code.word(group.start, "x").content == "x" else ()


def _truth(code: Code, asked: ast.expr) -> Iterator[Fix]:
    """``and``, ``or``, ``not``, ``in`` and chains of comparisons where the truth value itself is used."""
    condition = traced(code, asked)
    if condition is None or condition.text == code.text(asked) or "#" in code.text(asked):
        return
    # Of numbers Python gives one of them, not a truth value.
    values = asked.values if isinstance(asked, ast.BoolOp) else []
    plain = all((part := traced(code, value)) is not None and part.is_boolean for value in values)
    cheap = all(is_cheap(code, value) for value in values[1:])
    safe: Applicability = "safe" if plain and cheap else "unsafe"
    parentheses = _without_parentheses(code, asked) if condition.is_call else ()
    yield make(f"Write `{condition.text}`", safe, condition.imports, [code.put(asked, condition.text)], parentheses)


def _extreme(code: Code, call: ast.Call) -> Iterator[Fix]:
    """``min(a, b)`` as ``jnp.minimum(a, b)``."""
    name = call.func.id if isinstance(call.func, ast.Name) else None
    short = {"min": "minimum", "max": "maximum"}.get(name or "")
    function = code.name(f"{NUMPY}.{short}") if short is not None else None
    values = call.args
    if len(values) == 1 and isinstance(values[0], ast.Tuple | ast.List):
        values = values[0].elts
    if function is None or call.keywords or len(values) < 2 or any(isinstance(value, ast.Starred) for value in values):
        return
    parts: list[str | ast.expr] = [f"{function.text}(" * (len(values) - 1), values[0]]
    for value in values[1:]:
        parts += [", ", value, ")"]
    edits = code.rewrite(call, *parts)
    if edits is not None:
        yield make(f"Use `{function.text}`", "safe", function.edits, edits)


def _boolean(code: Code, call: ast.Call, event: TracedBranch) -> Iterator[Fix]:
    """``bool(x)`` as ``x``, or ``x != 0``."""
    if not isinstance(call.func, ast.Name) or call.func.id != "bool" or len(call.args) != 1 or not isinstance(event.value, Array):
        return
    edits = code.rewrite(call, "(", call.args[0], ")" if event.value.dtype == "bool" else " != 0)")
    if edits is not None:
        yield make("Keep it an array", "safe", edits)


# -- statements ---------------------------------------------------------------------------------------------------------------------


def _assertion(code: Code, statement: ast.Assert) -> Iterator[Fix]:
    """``assert`` as a check that JAX makes where debug checks are on."""
    check, condition = code.name(f"{PALLAS}.debug_check"), traced(code, statement.test)
    if check is None or condition is None or "#" in code.text(statement):
        return
    message = code.text(statement.msg) if statement.msg is not None else repr(code.text(statement.test))
    text = f"{check.text}({condition.text}, {message})"
    yield make("Check it by `pl.debug_check`", "unsafe", check.edits, condition.imports, [code.replace(statement, text)])


def _returns(code: Code, statement: ast.If) -> Iterator[Fix]:
    """``if c: return a`` before ``return b``, or with it in the ``else``: both are chosen between."""
    level = code.level(statement)
    behind = [part for part in level if code.span(part).start > code.span(statement).start]
    others = statement.orelse or behind[:1]
    if len(statement.body) != 1 or len(others) != 1 or (statement.orelse and behind) or len(behind) > 1:
        return
    last, values = others[0], [part.value for part in (statement.body[0], others[0]) if isinstance(part, ast.Return)]
    cond, where, condition = code.name(f"{LAX}.cond"), code.name(f"{NUMPY}.where"), traced(code, statement.test)
    span = Span(code.span(statement).start, code.span(last).end)
    if len(values) != 2 or cond is None or where is None or condition is None or "#" in code.module.source.slice(span):
        return
    a, b = (value for value in values)
    if a is None or b is None or not _is_tree(a) or not _is_tree(b):
        return
    if all(_is_value(value) and is_cheap(code, value) for value in (a, b)):
        text, edits = f"{where.text}({condition.text}, {code.text(a)}, {code.text(b)})", where.edits
    else:
        text, edits = f"{cond.text}({condition.text}, lambda: {code.text(a)}, lambda: {code.text(b)})", cond.edits
    yield make(
        f"Return `{text.partition('(')[0]}` of both", "safe", edits, condition.imports, [code.cut(span.start, span.end, f"return {text}")]
    )


def _selection(code: Code, statement: ast.If) -> Iterator[Fix]:
    """A branch that only assigns: its variables are chosen by ``jnp.where``."""
    where, condition, indentation = code.name(f"{NUMPY}.where"), traced(code, statement.test), code.indentation(statement)
    then, otherwise = _assignments(code, statement.body), _assignments(code, statement.orelse)
    if where is None or condition is None or indentation is None or not then or otherwise is None:
        return
    names = [name for name, _ in then]
    if len(set(names)) < len(names) or (otherwise and [name for name, _ in otherwise] != names):
        return
    if not otherwise and not all(is_bound_before(code, name, statement) for name in names):
        return
    if len(names) > 1 and (
        not is_pure(statement.test) or bound_names(statement) & {n.id for n in ast.walk(statement.test) if isinstance(n, ast.Name)}
    ):
        return
    others = [text for _, text in otherwise] if otherwise else names
    lines = [f"{name} = {where.text}({condition.text}, {text}, {other})" for (name, text), other in zip(then, others, strict=True)]
    values = [part.value for part in (*statement.body, *statement.orelse) if isinstance(part, ast.Assign | ast.AugAssign)]
    safe: Applicability = "safe" if all(is_cheap(code, value) for value in values) else "unsafe"
    comments, source, whole = code.comments(statement), code.module.source, code.span(statement)
    lines = [f"{lines[0]}  {comments[0]}"] if len(comments) == len(lines) == 1 else [*comments, *lines]
    text = f"{source.newline}{indentation[0]}".join(lines)
    edit = code.cut(whole.start, source.line_span(source.line_of(whole.end)).end if comments else whole.end, text)
    yield make("Choose by `jnp.where`", safe, where.edits, condition.imports, [edit])


def _assignments(code: Code, body: Sequence[ast.stmt]) -> list[tuple[str, str]] | None:
    """The variables that statements assign with the texts of their values; None where they do something else."""
    found = []
    for statement in body:
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            operator = operator_between(code.module.source, statement.target, statement.value)
            symbol = code.module.source.slice(operator).removesuffix("=")
            value = code.text(statement.value)
            simple = isinstance(statement.value, ast.Name | ast.Constant | ast.Subscript | ast.Call | ast.Attribute)
            found.append((statement.target.id, f"{statement.target.id} {symbol} {value if simple else f'({value})'}"))
        elif (
            isinstance(statement, ast.Assign)
            and len(statement.targets) == 1
            and isinstance(statement.targets[0], ast.Name)
            and _is_value(statement.value)
        ):
            found.append((statement.targets[0].id, code.text(statement.value)))
        else:
            return None
    return found


def _blocks(code: Code, statement: ast.If) -> Iterator[Fix]:
    """Each branch as a function under ``pl.when``."""
    chain = _chain(statement)
    when, indentation = code.name(f"{PALLAS}.when"), code.indentation(statement)
    if when is None or indentation is None or not all(map(is_closed, chain.values())):
        return
    if not all(leaves(code, body, statement) for body in chain.values()):
        return
    conditions = _conditions(code, statement, list(chain))
    function = code.fresh(statement, "_", "_when", "when_true")
    if conditions is None or function is None:
        return
    headers = list(_headers(code, statement, chain))
    if any("#" in code.module.source.slice(header) for header in headers):
        return
    edits: list[Edit] = []
    for (test, body), condition, header in zip(chain.items(), conditions.texts, headers, strict=True):
        before = conditions.before if test is statement.test else ""
        head = f"{before}@{when.text}({condition}){code.module.source.newline}{indentation[0]}def {function}():"
        edits.append(code.cut(header.start, header.end, head))
        edits += _own_line(code, header.end, body, indentation)
    yield make(
        "Run the block by `pl.when`" if len(chain) == 1 else "Run the blocks by `pl.when`", "safe", when.edits, conditions.imports, edits
    )


def _chain(statement: ast.If) -> dict[ast.expr | None, list[ast.stmt]]:
    """The tests of an ``if`` with its ``elif`` and their blocks; None is the test of an ``else``."""
    found: dict[ast.expr | None, list[ast.stmt]] = {}
    current: ast.If | None = statement
    while current is not None:
        found[current.test] = current.body
        rest = current.orelse
        current = rest[0] if len(rest) == 1 and isinstance(rest[0], ast.If) else None
        if rest and current is None:
            found[None] = rest
    return found


class _Conditions:
    """The conditions of the blocks, each with the opposites of those before it; ``before``: the statement that keeps the first."""

    def __init__(self, texts: list[str], before: str, imports: tuple[Edit, ...]) -> None:
        self.texts, self.before, self.imports = texts, before, imports


def _conditions(code: Code, statement: ast.If, tests: Sequence[ast.expr | None]) -> _Conditions | None:
    found = [traced(code, test) for test in tests if test is not None]
    opposites = [negated(code, test) for test in tests if test is not None]
    if None in found or None in opposites:
        return None
    conditions, nots = [c for c in found if c is not None], [c for c in opposites if c is not None]
    if len(tests) == 1:
        return _Conditions([conditions[0].text], "", conditions[0].imports)
    # A block may change what a later condition loads: then the condition is worked out before.
    indentation, before = code.indentation(statement), ""
    if not all(_is_stable(code, test) for test in tests if test is not None):
        name = code.fresh(statement, "condition", "is_true")
        if len(conditions) > 1 or name is None or indentation is None:
            return None
        kept = f"({conditions[0].text})" if "\n" in conditions[0].text else conditions[0].text
        before = f"{name} = {kept}{code.module.source.newline}{indentation[0]}"
        opposite = nots[0].text.replace(f"({conditions[0].text})", f"({name})")
        return _Conditions([name, opposite], before, nots[0].imports)
    texts = []
    for position, test in enumerate(tests):
        earlier = [f"{one.text}" for one in nots[:position]]
        own = [] if test is None else [conditions[position].operand]
        texts.append(" & ".join([*earlier, *own]) if len(earlier) + len(own) > 1 else (earlier or [conditions[position].text])[0])
    return _Conditions(texts, before, tuple(edit for one in (*conditions, *nots) for edit in one.imports))


def _is_stable(code: Code, test: ast.expr) -> bool:
    """Whether nothing that a block does changes what a condition gives."""
    for part in ast.walk(test):
        if isinstance(part, ast.Subscript) or (isinstance(part, ast.Call) and code.qualified(part.func) != f"{PALLAS}.program_id"):
            return False
    return True


def _headers(code: Code, statement: ast.If, chain: dict[ast.expr | None, list[ast.stmt]]) -> Iterator[Span]:
    """Where ``if …:``, ``elif …:`` and ``else:`` are written."""
    text, end = code.module.source.text, code.span(statement).start
    for test, body in chain.items():
        start = next(at for at, _ in code_characters(text, end, code.span(body[0]).start))
        after = code.span(test).end if test is not None else start
        colon = next(at for at, char in code_characters(text, after, code.span(body[0]).start) if char == ":")
        yield Span(start, colon + 1)
        end = code.span(body[-1]).end


def _own_line(code: Code, colon: int, body: Sequence[ast.stmt], indentation: tuple[str, str]) -> Iterator[Edit]:
    """A block on the line of its condition gets a line of its own."""
    source, start = code.module.source, code.span(body[0]).start
    if source.line_of(colon) == source.line_of(start):
        yield code.cut(colon, start, f"{source.newline}{''.join(indentation)}")

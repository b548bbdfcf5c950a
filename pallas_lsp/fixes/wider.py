"""Operations that a TPU has for 32-bit values: cast, compute, and cast back where the rest needs the old dtype."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..interpreter.events import Event
from ..interpreter.operation_events import Operation
from ..resolve.project import Project
from ..rules.casts import is_cast
from ..rules.diagnostic import Applicability, Fix
from ..shapes import dtypes
from ..text.edits import wrap
from ..text.span import Edit
from .code import NUMPY, Code, as_operand
from .computations import Computation, Operand, computation_of, wide
from .registry import Candidate, fixes, make


@fixes("bf16-math", "isfinite-bf16", "argmax-dtype", "operation-dtype", "reciprocal-dtype", "reduction-dtype")
def compute_in_32_bits(event: Event, project: Project) -> Iterator[Candidate]:
    """Cast what is narrow; the result of a lone cast is wider than before, which the rest may like or not."""
    computed = computation_of(event)
    if computed is None or computed.event.function.endswith("nextafter"):  # which is another number in another dtype
        return
    for dtype in ("float32", "int32"):
        narrow = [operand for operand in computed.arrays if operand.dtype != dtype and _wide(computed, operand) == dtype]
        if narrow:
            yield tuple(_ways(computed, narrow, dtype))


def _wide(computed: Computation, operand: Operand) -> str | None:
    """The dtype to compute in: ``argmax`` and reciprocals are for floats."""
    of_floats = computed.event.function.endswith(("argmax", "argmin", "reciprocal"))
    return "float32" if of_floats and operand.dtype is not None else wide(operand.dtype)


def _ways(computed: Computation, narrow: list[Operand], dtype: str) -> Iterator[Fix]:
    # float32 does not hold all integers of 32 bits, nor int32 all of uint32, whose greater half is right again only in sums.
    lossy = any(dtypes.bits(operand.dtype) == 32 for operand in narrow) and not computed.event.function.endswith("sum")
    applicability: Applicability = "unsafe" if lossy else "safe"
    for operands in (narrow[:1], narrow) if len(narrow) > 1 else (narrow,):
        edits = computed.cast(operands, dtype)
        if edits is None:
            return
        yield make(f"Compute in {dtype}", applicability, edits)
        back = computed.cast_back(edits, computed.dtype) if computed.dtype is not None else None
        if back is not None and computed.dtype != dtype:
            yield make(f"Compute in {dtype}, and cast to {computed.dtype}", applicability, back)


@fixes("i8-arithmetic")
def arithmetic_in_32_bits(event: Operation, project: Project) -> Iterator[Candidate]:
    """The sum of narrow integers wraps around: only with the cast back it is the same number."""
    computed = computation_of(event)
    if computed is None:
        yield from _augmented(event)
        return
    narrow = [operand for operand in computed.arrays if operand.dtype is not None and dtypes.bits(operand.dtype) != 32]
    edits = computed.cast(narrow[:1], "int32") if narrow else None
    if edits is None:
        return
    keeps = computed.dtype is None or computed.dtype == "bool" or dtypes.bits(computed.dtype) == 32
    back = edits if keeps or computed.dtype is None else computed.cast_back(edits, computed.dtype)
    if back is not None:
        yield make("Compute in int32", "safe", back)


def _augmented(event: Operation) -> Iterator[Fix]:
    """``ref[...] += x`` as ``ref[...] = (ref[...].astype(jnp.int32) + x).astype(ref.dtype)``."""
    code, node = Code(event.where.module), event.where.node
    int32 = code.name(f"{NUMPY}.int32")
    if not isinstance(node, ast.AugAssign) or not isinstance(node.target, ast.Subscript) or int32 is None:
        return
    target, start = code.text(node.target), code.span(node.target).end
    operator = code.module.source.text.find("=", start, code.span(node.value).start)
    if operator < 0 or "#" in code.module.source.text[start:operator]:
        return
    symbol = code.module.source.text[start:operator].strip()
    value = wrap(
        code.module.source, node.value, f"({target}.astype({int32.text}) {symbol} ", f").astype({code.text(node.target.value)}.dtype)"
    )
    yield make("Compute in int32", "safe", int32.edits, [code.cut(start, operator, " ")], value)


@fixes("cast-unsupported")
def cast_by_way_of_float32(event: Operation, project: Project) -> Iterator[Fix]:
    """Floats of equal width are cast by way of a wider one; a 64-bit dtype is written as its 32-bit one."""
    code, cast = Code(event.where.module), computation_of(event)
    if cast is None or not is_cast(event.function) or not cast.arrays:
        return
    edits: tuple[Edit, ...] | None = cast.cast(cast.arrays[:1], "float32")
    if edits is not None and not event.wide:
        yield make("Cast by way of float32", "safe", edits)
    if event.wide and cast.call is not None:
        yield from _narrower(code, cast.call)


def _narrower(code: Code, call: ast.Call) -> Iterator[Fix]:
    """``jnp.float64`` among the arguments, as ``jnp.float32``."""
    for argument in [*call.args, *(keyword.value for keyword in call.keywords)]:
        qualified = code.qualified(argument) or ""
        if qualified.startswith(f"{NUMPY}.") and qualified.endswith("64"):
            named = code.name(qualified.removesuffix("64") + "32")
            if named is not None:
                yield make(f"Cast to {named.text}", "safe", named.edits, [code.replace(argument, named.text)])


@fixes("power-integer-exponent")
def exponent_of_the_bases_dtype(event: Operation, project: Project) -> Iterator[Fix]:
    """The exponent is cast before."""
    power = computation_of(event)
    if power is not None and len(power.arrays) == 2 and power.arrays[0].dtype is not None:
        edits = power.cast(power.arrays[1:], power.arrays[0].dtype)
        if edits is not None:
            yield make(f"Cast the exponent to {power.arrays[0].dtype}", "safe", edits)


@fixes("reciprocal-dtype")
def divide(event: Operation, project: Project) -> Iterator[Fix]:
    """``pl.reciprocal`` is for vectors, a scalar is divided by."""
    computed = computation_of(event)
    if computed is None or computed.call is None or computed.call.keywords or len(computed.arrays) != 1 or computed.arrays[0].rank != 0:
        return
    opening, closing = ("", "") if computed.code.is_alone(computed.node) else ("(", ")")
    edits = computed.code.rewrite(computed.node, f"{opening}1.0 / ", *as_operand(computed.arrays[0].node), closing)
    if edits is not None:
        yield make("Divide by it", "safe", edits)

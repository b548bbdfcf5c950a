"""What lowers and is refused by the TPU compiler, whatever the shapes: narrow arithmetic, half precision.

Which function of which dtype is data: ``pallas_lsp/data/compiled.toml``, measured with libtpu for every chip.
"""

from __future__ import annotations

from functools import partial

from ..data.chips import load_chips
from ..data.operations import load_compiled
from ..interpreter.events import Access
from ..interpreter.operation_events import Operation
from ..interpreter.values import Array
from ..shapes import dtypes
from . import lowered, words
from .casts import is_cast
from .memory_spaces import happens
from .registry import Context, Finding, rule

ALL = frozenset(load_chips())


def refused_on(context: Context, chips: frozenset[str]) -> bool:
    """Whether the chip that is stated is one of these; without one, whether all chips are."""
    return context.target in chips if context.target is not None else chips >= ALL


def who(context: Context, chips: frozenset[str]) -> str:
    """The compiler that refuses, in words."""
    return "the TPU compiler" if chips >= ALL else f"the compiler for {context.target}"


def refusing(event: Operation, context: Context) -> tuple[str, frozenset[str]] | None:
    """The dtype of a vector operation that the table says is refused, and the chips that refuse it."""
    rows = _rows(event.function)
    result = event.result[0] if isinstance(event.result, tuple) and event.result else event.result
    if not rows or not isinstance(result, Array) or not result.shape or not lowered.is_used(event.result, event.where, context):
        return None
    dtype = lowered.operand_dtype(event)
    numbers = [arg for arg in (*event.args[:3], *event.kwargs.values()) if type(arg) is int]
    if dtype is not None and numbers and not any(_changes(event.function, number, dtype) for number in numbers):
        return None
    chips = next((chips for covered, chips in rows if dtype in covered), None)
    return (dtype, chips) if dtype is not None and chips is not None and refused_on(context, chips) else None


def _rows(function: str) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    return load_compiled().get(_COMPUTES_WITH.get(function, function), ())


def _is_refused(function: str, floats: bool) -> bool:
    """Whether the table has lines of the function for floats, or for others."""
    return any(dtypes.is_floating(dtype) is floats for covered, _ in _rows(function) for dtype in covered)


# What a function is made of that the table knows.
_COMPUTES_WITH = {
    "jax.numpy.divmod": "jax.numpy.floor_divide", "jax.numpy.clip": "jax.numpy.maximum", "jax.lax.clamp": "jax.lax.max",
    "jax.lax.integer_pow": "jax.lax.mul", "jax.numpy.outer": "jax.numpy.multiply", "jax.numpy.kron": "jax.numpy.multiply",
    "jax.numpy.cross": "jax.numpy.multiply",
}  # fmt: skip
_SUMS = frozenset({"jax.numpy.add", "jax.numpy.subtract", "jax.lax.add", "jax.lax.sub"})
_PRODUCTS = frozenset({"jax.numpy.multiply", "jax.numpy.power", "jax.lax.mul", "jax.lax.integer_pow"})
_QUOTIENTS = frozenset({"jax.numpy.floor_divide", "jax.numpy.divmod", "jax.numpy.remainder", "jax.numpy.mod", "jax.lax.div", "jax.lax.rem"})


def _changes(function: str, number: int, dtype: str) -> bool:
    """Whether the compiler cannot leave an operation with this number out, as it does a maximum with 0 of what is not negative."""
    if function in _SUMS:
        return number != 0
    if function in _PRODUCTS:
        return number not in (0, 1)
    if function in _QUOTIENTS:
        return abs(number) > 1
    bits, signed = dtypes.bits(dtype) or 0, dtypes.kind(dtype) == "signed"
    return number not in ((-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1))


@rule("i8-arithmetic", on=Operation, order=100, stage="compile", functions=partial(_is_refused, floats=False))
def i8_arithmetic(event: Operation, context: Context) -> Finding | None:
    """Arithmetic on vectors of narrow integers, which the compiler does not have."""
    found = refusing(event, context)
    if found is None or dtypes.is_floating(found[0]):
        return None
    dtype, chips = found
    return Finding(
        event.where.location,
        f"{lowered.name(event)} of {dtype} vectors: {who(context, chips)} computes such integers in 32 bits, `.astype(jnp.int32)` first",
        jax_message="Not implemented: Only vector<i16> and vector<i32> are supported, but got 'i8'. Please cast your input.",
    )


_ROOTS = frozenset({"jax.numpy.std", "jax.numpy.linalg.norm"})


@rule("bf16-math", on=Operation, order=101, stage="compile", functions=lambda name: name in _ROOTS or _is_refused(name, floats=True))
def bf16_math(event: Operation, context: Context) -> Finding | None:
    """A function of bfloat16 that the compiler has for float32 only."""
    found = refusing(event, context)
    scalar = _half_scalar(event, context)
    if (found is None or not dtypes.is_floating(found[0])) and not scalar:
        return None
    chips = found[1] if found is not None else ALL
    return Finding(
        event.where.location,
        f"{lowered.name(event)} of bfloat16{' that gives a scalar' if scalar else ''}: {who(context, chips)} has it for float32, `.astype(jnp.float32)` first",
        jax_message="failed to legalize operation ...",
    )


def _half_scalar(event: Operation, context: Context) -> bool:
    """Whether a square root of one bfloat16 number is taken on the way."""
    result = event.result
    scalar = isinstance(result, Array) and result.shape == () and result.dtype == "bfloat16"
    return (
        scalar and event.function in _ROOTS and lowered.operand_dtype(event) == "bfloat16" and lowered.is_used(result, event.where, context)
    )


@rule("float16-vector", on=Access, order=130, also=(Operation,), stage="compile", functions=is_cast)
def float16_vector(event: Access | Operation, context: Context) -> Finding | None:
    """A float16 vector is loaded from a scratch buffer, stored to it, or made by a cast."""
    if isinstance(event, Operation):
        return _float16_made(event, context)
    root = event.ref.root
    if event.fault is not None or event.ref.dtype != "float16" or root.space != "vmem" or not event.shape:
        return None
    if root.window is not None and root.block is not None:  # `dtype-unsupported` says it of the call
        return None
    if not happens(event, context):
        return None
    verb = "loaded from" if event.op == "load" else "stored to"
    return Finding(
        event.where.at(words.target(event)),
        f"a float16 vector is {verb} {words.name(event.ref)}: TPUs have no float16, use bfloat16 or float32",
        words.shaped(event.ref),
        "Invalid vector type for load" if event.op == "load" else "Invalid vector type for store",
        cause=root.decided_at,
    )


def _float16_made(event: Operation, context: Context) -> Finding | None:
    source, result = event.args[0] if event.args else None, event.result
    if not is_cast(event.function) or not isinstance(source, Array) or not isinstance(result, Array):
        return None
    if result.dtype != "float16" or source.dtype in (None, "float16", "bfloat16") or not result.shape:
        return None
    if not lowered.is_used(result, event.where, context) or not _is_loaded(source):
        return None
    what = f"a cast from {source.dtype} to float16: TPUs have no float16, use bfloat16 or stay with float32"
    return Finding(event.where.location, what, jax_message="failed to legalize operation 'xir.pack_subelements'")


def _is_loaded(array: Array) -> bool:
    """Whether an array depends on a load: what does not, the compiler may compute itself."""
    pending, seen = [array], {id(array)}
    while pending:
        for part in pending.pop().operands:
            if isinstance(part, Access):
                return True
            if isinstance(part, Array) and id(part) not in seen:
                seen.add(id(part))
                pending.append(part)
    return False

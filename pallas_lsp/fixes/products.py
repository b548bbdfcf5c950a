"""Matrix products in the forms and dtypes that a TPU has: the result in 32 bits, the operands in what is multiplied."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..interpreter.operation_events import Operation
from ..resolve.project import Project
from ..rules.contraction import Contraction, contraction_of, precision_of
from ..rules.diagnostic import Applicability, Fix
from ..shapes import dtypes
from ..text.edits import comma_for_operator, grouped, insert_keyword, remove_argument, replace_argument
from ..text.span import Edit
from .code import NUMPY, as_operand
from .computations import Computation, computation_of, wide
from .registry import Candidate, enclosed, fixes, make


@fixes("matmul-acc-32bit")
def accumulate_in_32_bits(event: Operation, project: Project) -> Iterator[Candidate]:
    """Ask for a 32-bit result, and cast it back where the rest needs the old dtype."""
    product, dtype = computation_of(event), wide(getattr(event.result, "dtype", None))
    if product is not None and dtype is not None:
        # The narrow product of integers wraps around: without the cast back it is another number.
        yield tuple(_into(product, dtype, "safe" if dtype == "float32" else "unsafe", product.dtype))


def _into(product: Computation, dtype: str, applicability: Applicability, old: str | None) -> Iterator[Fix]:
    """Multiply into ``dtype``, and do so and cast to the ``old`` one."""
    edits = _preferring(product, dtype)
    if edits is None:
        return
    yield make(f"Multiply into {dtype}", applicability, edits)
    back = product.cast_back(edits, old, is_call=True) if old is not None else None
    if back is not None and old is not None:
        yield make(f"Multiply into {dtype}, and cast to {old}", "safe", back)


def _preferring(product: Computation, dtype: str) -> tuple[Edit, ...] | None:
    """The edits that pass ``preferred_element_type``."""
    code, call = product.code, product.call
    named = code.name(f"{NUMPY}.{dtype}")
    if named is None:
        return None
    if call is not None:
        if any(keyword.arg is None for keyword in call.keywords) or product.event.function.endswith("pallas.dot"):
            return None
        given = next((keyword for keyword in call.keywords if keyword.arg == "preferred_element_type"), None)
        if given is not None:
            return (*named.edits, replace_argument(code.module.source, given, named.text))
        return (*named.edits, insert_keyword(code.module.source, call, "preferred_element_type", named.text))
    if isinstance(product.node, ast.BinOp) and isinstance(product.node.op, ast.MatMult):
        called = _called(product, f"preferred_element_type={named.text}")
        return (*named.edits, *called) if called is not None else None
    return None


def _called(product: Computation, argument: str) -> tuple[Edit, ...] | None:
    """``a @ b`` as a call with one more argument; the lines stay as they are."""
    code, node = product.code, product.node
    assert isinstance(node, ast.BinOp)
    flat = all(operand.rank in (1, 2) for operand in product.operands)
    function = code.name(f"{NUMPY}.{'dot' if flat else 'matmul'}")
    if function is None:
        return None
    whole, group = code.span(node), grouped(code.module.source.text, code.span(node))
    opening = code.word(group.start, function.text) if group is not None else code.word(whole.start, f"{function.text}(")
    closing = code.cut(whole.end, whole.end, f", {argument}" if group is not None else f", {argument})")
    return (*function.edits, opening, *comma_for_operator(code.module.source, node), closing)


@fixes("matmul-acc-kind")
def accumulate_in_the_same_kind(event: Operation, project: Project) -> Iterator[Candidate]:
    """Integers are multiplied into int32, floats into float32; what was asked for is made of that."""
    product = computation_of(event)
    if product is None or product.dtype is None:
        return
    dtype: str = "int32" if dtypes.is_floating(product.dtype) else "float32"
    edits = _preferring(product, dtype)
    back = product.cast_back(edits, product.dtype, is_call=True) if edits is not None else None
    if back is not None:
        applicability: Applicability = "safe" if dtype == "int32" else "unsafe"  # fractions are cut off at the end, no longer on the way
        yield make(f"Multiply into {dtype}, and cast to {product.dtype}", applicability, back)


@fixes("matmul-all-contracted")
def sum_of_products(event: Operation, project: Project) -> Iterator[Fix]:
    """The sum over every dim of a product is ``jnp.sum(a * b)``."""
    product, contraction = computation_of(event), contraction_of(event)
    if product is None or contraction is None or not _is_elementwise(contraction) or len(product.arrays) != 2:
        return
    code, call = product.code, product.node
    keywords = {keyword.arg for keyword in call.keywords} if isinstance(call, ast.Call) else set()
    left, right = (operand.node for operand in product.arrays)
    total = code.name(f"{NUMPY}.sum")
    if total is None or keywords - {"precision", "preferred_element_type"} or code.span(left) > code.span(right):
        return
    narrow = {contraction.left.dtype, contraction.right.dtype} != {"float32"}
    float32 = code.name(f"{NUMPY}.float32")
    if narrow and (float32 is None or not dtypes.is_floating(contraction.left.dtype)):
        return
    cast = f".astype({float32.text})" if narrow and float32 is not None else ""
    edits = code.rewrite(call, f"{total.text}(", *as_operand(left), f"{cast} * ", *as_operand(right), ")")
    if edits is None:
        return
    plain = make("Sum the products of the elements", "safe", total.edits, edits)
    back = (
        product.cast_back(edits, product.dtype, is_call=True)
        if product.dtype not in (None, "float32") and product.dtype is not None
        else None
    )
    yield plain if back is None else make("Sum the products of the elements", "safe", total.edits, back)


def _is_elementwise(product: Contraction) -> bool:
    """Whether the n-th dim of one side goes with the n-th of the other."""
    order = list(zip(product.left.contracted, product.right.contracted, strict=True))
    return product.left.shape == product.right.shape and all(a == b for a, b in order) and not product.left.batch


@fixes("matmul-bf16-highest", "matmul-precision")
def another_precision(event: Operation, project: Project) -> Iterator[Fix]:
    """bfloat16 has one precision; float32 has the highest, and the default."""
    product = computation_of(event)
    call = product.call if product is not None else None
    given = next((keyword for keyword in call.keywords if keyword.arg == "precision"), None) if call is not None else None
    if product is None or call is None or given is None:
        return
    source, floats = product.code.module.source, {operand.dtype for operand in product.arrays}
    if precision_of(event) == "HIGH" and floats == {"float32"}:
        yield make("Use the highest precision", "safe", [replace_argument(source, given, '"highest"')])
    # Products of bfloat16 numbers are exact in the default precision.
    applicability: Applicability = "safe" if floats == {"bfloat16"} else "unsafe"
    yield make("Leave the precision out", applicability, [remove_argument(source, call, given)])


@fixes("matmul-bf16-single-row-rhs", "matmul-i32", "matmul-unsigned", "matmul-f16", "matmul-i8-old")
def multiply_in_another_dtype(event: Operation, project: Project) -> Iterator[Candidate]:
    """Cast the operands to what is multiplied, and the product back: of floats only where the rest needs the old dtype."""
    product = computation_of(event)
    if product is None or len(product.arrays) != 2 or product.dtype is None:
        return
    of_floats = dtypes.is_floating(product.dtype)
    if not of_floats and dtypes.bits(product.dtype) != 32:
        return  # narrow integers wrap around, floats do not
    bytes_only = all(operand.dtype in ("int8", "uint8") for operand in product.arrays)
    dtype = "bfloat16" if bytes_only else "float32"
    cast, preferred = product.cast(product.arrays, dtype), _preferring(product, "float32")
    if cast is None or preferred is None:
        return
    edits = enclosed(cast, preferred, product.code.span(product.node))
    applicability: Applicability = "safe" if of_floats else "unsafe"  # float32 holds integers up to 2**24
    back = product.cast_back(edits, product.dtype, is_call=True)
    wider = [make(f"Multiply as {dtype}", applicability, edits)] if of_floats else []
    old = [make(f"Multiply as {dtype}, and cast to {product.dtype}", applicability, back)] if back is not None else []
    yield (*wider, *old)

"""Calls of the functions that work element by element."""

from __future__ import annotations

from shapes.against_jax import Call, call
from shapes.random_arguments import DTYPES, FLOATS, INTEGERS, Draw, array, axis, calls_of, matching, number, operand, pick, shape, sometimes

UNARY = (
    *("abs", "absolute", "acos", "acosh", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "around", "asin", "asinh"),
    *("atan", "atanh", "bitwise_count", "bitwise_invert", "bitwise_not", "cbrt", "ceil", "conj", "conjugate", "cos", "cosh"),
    *("deg2rad", "degrees", "exp", "exp2", "expm1", "fabs", "floor", "imag", "invert", "isfinite", "isinf", "isnan", "isneginf"),
    *("isposinf", "log", "log10", "log1p", "log2", "logical_not", "nan_to_num", "negative", "positive", "rad2deg", "radians", "real"),
    *("reciprocal", "rint", "round", "sign", "sin", "sinc", "sinh", "sqrt", "square", "tan", "tanh", "trunc"),
)
BINARY = (
    *("add", "arctan2", "atan2", "bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "divide"),
    *("divmod", "equal", "float_power", "floor_divide", "fmax", "fmin", "fmod", "greater", "greater_equal", "hypot", "left_shift"),
    *("less", "less_equal", "logaddexp", "logaddexp2", "logical_and", "logical_or", "logical_xor", "maximum", "minimum", "mod"),
    *("gcd", "lcm", "multiply", "not_equal", "pow", "power", "remainder", "right_shift", "subtract", "true_divide"),
)
LAX_UNARY = (
    *("abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "bitwise_not", "cbrt", "ceil", "clz", "cos", "cosh", "digamma", "erf"),
    *("erf_inv", "erfc", "exp", "exp2", "expm1", "floor", "is_finite", "lgamma", "log", "log1p", "logistic", "neg"),
    *("population_count", "reciprocal", "round", "rsqrt", "sign", "sin", "sinh", "sqrt", "square", "tan", "tanh"),
)
LAX_BINARY = (*("add", "div", "eq", "ge", "gt", "le", "lt", "max", "min", "mul", "ne", "rem", "sub"),)
LAX_BITS = ("bitwise_and", "bitwise_or", "bitwise_xor", "shift_left", "shift_right_arithmetic", "shift_right_logical")
ACTIVATIONS = (
    *("celu", "elu", "gelu", "hard_sigmoid", "hard_silu", "hard_swish", "hard_tanh", "leaky_relu", "log_sigmoid", "mish", "relu"),
    *("relu6", "selu", "sigmoid", "silu", "soft_sign", "softplus", "squareplus", "swish"),
)


@calls_of(*(f"jax.numpy.{name}" for name in UNARY), *(f"jax.nn.{name}" for name in ACTIVATIONS))
def unary(draw: Draw) -> Call:
    return call(operand(draw, dtypes=DTYPES if sometimes(draw, 3) else FLOATS))


@calls_of("unary -", "unary +", "~", "abs", ".round")
def unary_operator(draw: Draw) -> Call:
    return call(array(draw))


@calls_of(*(f"jax.numpy.{name}" for name in BINARY))
def binary(draw: Draw) -> Call:
    dims = shape(draw)
    dtypes = pick(draw, (DTYPES, DTYPES, INTEGERS, FLOATS))
    pair = [operand(draw, dims, dtypes), operand(draw, matching(draw, dims), dtypes)]
    return call(*(reversed(pair) if sometimes(draw, 2) else pair))


@calls_of(*["+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>", "<", "<=", "==", "!=", ">", ">="])
def binary_operator(draw: Draw) -> Call:
    dims = shape(draw)
    dtypes = pick(draw, (DTYPES, INTEGERS, FLOATS))
    pair = [array(draw, dims, dtypes), operand(draw, matching(draw, dims), dtypes)]
    return call(*(reversed(pair) if sometimes(draw, 2) else pair))


@calls_of(*(f"jax.lax.{name}" for name in LAX_UNARY))
def lax_unary(draw: Draw) -> Call:
    return call(operand(draw, dtypes=pick(draw, (DTYPES, FLOATS, INTEGERS))))


@calls_of(*(f"jax.lax.{name}" for name in LAX_BINARY))
def lax_binary(draw: Draw) -> Call:
    return lax_pair(draw, ("float32", "int32", "uint32", "int8"))


@calls_of(*(f"jax.lax.{name}" for name in LAX_BITS))
def lax_bits(draw: Draw) -> Call:
    return lax_pair(draw, INTEGERS)


@calls_of("jax.lax.atan2", "jax.lax.nextafter", "jax.lax.pow")
def lax_floating(draw: Draw) -> Call:
    return lax_pair(draw, FLOATS)


def lax_pair(draw: Draw, usual: tuple[str, ...]) -> Call:
    """Two operands, mostly of one dtype and of shapes that go together."""
    dims = shape(draw)
    dtypes = DTYPES if sometimes(draw, 6) else (pick(draw, usual),)
    other = () if sometimes(draw) else matching(draw, dims) if sometimes(draw) else dims
    return call(array(draw, dims, dtypes), operand(draw, other, dtypes) if sometimes(draw, 3) else array(draw, other, dtypes))


@calls_of("jax.lax.integer_pow")
def integer_pow(draw: Draw) -> Call:
    return call(operand(draw), number(draw, 0, 3))


@calls_of("jax.lax.reduce_precision")
def reduce_precision(draw: Draw) -> Call:
    return call(operand(draw, dtypes=FLOATS), exponent_bits=5, mantissa_bits=10)


@calls_of("jax.numpy.where")
def where(draw: Draw) -> Call:
    dims = shape(draw)
    return call(array(draw, matching(draw, dims), ("bool", "int32")), operand(draw, dims), operand(draw, matching(draw, dims)))


@calls_of("jax.numpy.select")
def select_list(draw: Draw) -> Call:
    dims = shape(draw)
    count = number(draw, 1, 3)
    conditions = [array(draw, dims, ("bool",)) for _ in range(count)]
    choices = [array(draw, dims) for _ in range(count + sometimes(draw, 8))]
    return call(conditions, choices, default=0) if sometimes(draw, 2) else call(conditions, choices)


@calls_of("jax.lax.select")
def select(draw: Draw) -> Call:
    dims = shape(draw)
    dtypes = DTYPES if sometimes(draw, 6) else (pick(draw, DTYPES),)
    which = array(draw, () if sometimes(draw) else dims, ("bool",) if not sometimes(draw, 8) else DTYPES)
    return call(which, array(draw, dims, dtypes), array(draw, dims if not sometimes(draw, 8) else matching(draw, dims), dtypes))


@calls_of("jax.lax.select_n")
def select_n(draw: Draw) -> Call:
    dims = shape(draw)
    dtypes = (pick(draw, DTYPES),)
    which = array(draw, () if sometimes(draw) else dims, ("bool", "int32"))
    return call(which, *(array(draw, dims, dtypes) for _ in range(number(draw, 1, 3))))


@calls_of("jax.numpy.clip", ".clip")
def clip(draw: Draw) -> Call:
    dims = shape(draw)
    bounds = {name: operand(draw, matching(draw, dims)) for name in ("min", "max") if not sometimes(draw)}
    return call(array(draw, dims), **bounds)


@calls_of("jax.lax.clamp")
def clamp(draw: Draw) -> Call:
    dims = shape(draw)
    dtypes = DTYPES if sometimes(draw, 6) else (pick(draw, DTYPES),)
    low, high = (operand(draw, () if sometimes(draw, 2) else dims, dtypes) for _ in range(2))
    return call(low, array(draw, dims, dtypes), high)


@calls_of("jax.numpy.astype", "jax.lax.convert_element_type", ".astype")
def cast(draw: Draw) -> Call:
    return call(array(draw), pick(draw, DTYPES))


@calls_of("jax.lax.bitcast_convert_type")
def bitcast(draw: Draw) -> Call:
    return call(array(draw, (*shape(draw, 0, 2), pick(draw, (1, 2, 2, 4)))), pick(draw, DTYPES))


@calls_of("jax.experimental.pallas.tpu.bitcast", ".view")
def rescale(draw: Draw) -> Call:
    return call(array(draw, (*shape(draw, 0, 2), pick(draw, (8, 16)), pick(draw, (4, 8)))), pick(draw, DTYPES))


@calls_of("jax.nn.glu")
def glu(draw: Draw) -> Call:
    dims = shape(draw, 1, 3, (2, 4, 8))
    return call(array(draw, dims, FLOATS), axis(draw, len(dims)))


@calls_of("jax.nn.one_hot")
def one_hot(draw: Draw) -> Call:
    dims = shape(draw)
    options = {"dtype": pick(draw, DTYPES)} if sometimes(draw, 2) else {}
    return call(array(draw, dims, INTEGERS), number(draw, 1, 8), axis=axis(draw, len(dims) + 1), **options)

"""Random kernels of one operation that is not element by element: its form, shapes and dtypes are drawn."""

from __future__ import annotations

import random
import string
from collections.abc import Callable

Shape = tuple[int, ...]
SIZES = (1, 2, 3, 5, 8, 16, 128, 256)
DTYPES = ("float32", "bfloat16", "int32", "int8", "uint32", "uint8", "bool_")

_TEXT = """\
import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def value(x, y):
    return {expression}


def kernel(x_ref, y_ref, o_ref):
    o_ref[...] = value(x_ref[...], y_ref[...])


def run(x, y):
    return pl.pallas_call(kernel, out_shape=jax.eval_shape(value, x, y))(x, y)


ARGS = [jax.ShapeDtypeStruct({x}, jnp.{x_dtype}), jax.ShapeDtypeStruct({y}, jnp.{y_dtype})]

if __name__ == "__main__":
    jax.jit(run).lower(*ARGS)
"""
Made = tuple[str, Shape, Shape]


def _shape(draw: random.Random, rank: int) -> Shape:
    return tuple(draw.choice(SIZES) for _ in range(rank))


def _dims(draw: random.Random) -> tuple[list[int], list[int], Shape, Shape, list[int], list[int]]:
    """Two shapes with the dims that they are contracted over and those that are batches."""
    batches, contracted = draw.choice((0, 0, 0, 1, 1, 2)), draw.choice((0, 1, 1, 1, 1, 1, 2))
    left, right = draw.choice((0, 1, 1, 2)), draw.choice((0, 1, 1, 2))
    shared = [(kind, draw.choice(SIZES)) for kind in "b" * batches + "c" * contracted]
    sides = []
    for free in (left, right):
        dims = [*enumerate(shared), *((None, ("f", draw.choice(SIZES))) for _ in range(free))]
        draw.shuffle(dims)
        sides.append(dims)
    places = [[next(i for i, (n, _) in enumerate(side) if n == index) for index in range(len(shared))] for side in sides]
    x, y = (tuple(size for _, (_, size) in side) for side in sides)
    return places[0], places[1], x, y, list(range(batches)), list(range(batches, len(shared)))


def _more(draw: random.Random) -> str:
    """The arguments that every product takes."""
    wide, whole = ", preferred_element_type=jnp.float32", ", preferred_element_type=jnp.int32"
    precise = [f", precision={text}" for text in ("lax.Precision.HIGHEST", "lax.Precision.HIGH", "'default'")]
    return draw.choice(("", wide, wide, whole)) + draw.choice(("", "", "", *precise))


def dot_general(draw: random.Random) -> Made:
    a, b, x, y, batch, contracted = _dims(draw)
    numbers = f"(({[a[i] for i in contracted]}, {[b[i] for i in contracted]}), ({[a[i] for i in batch]}, {[b[i] for i in batch]}))"
    call = draw.choice(("lax.dot_general(x, y, {}", "lax.dot(x, y, dimension_numbers={}"))
    return call.format(numbers) + _more(draw) + ")", x, y


def einsum(draw: random.Random) -> Made:
    a, b, x, y, batch, contracted = _dims(draw)
    names = [["?"] * len(x), ["?"] * len(y)]
    letters = iter(string.ascii_lowercase)
    for index in (*batch, *contracted):
        names[0][a[index]] = names[1][b[index]] = next(letters)
    for side in names:
        side[:] = [next(letters) if name == "?" else name for name in side]
    output = [names[0][a[i]] for i in batch] + [n for side in names for n in side if not (n in names[0] and n in names[1])]
    if draw.random() < 0.4:
        draw.shuffle(output)
    return f"jnp.einsum('{''.join(names[0])},{''.join(names[1])}->{''.join(output)}', x, y{_more(draw)})", x, y


def products(draw: random.Random) -> Made:
    size, front = draw.choice(SIZES), _shape(draw, draw.choice((0, 1, 1, 1, 2)))
    x, y = (*front, size), (*draw.choice(((), (draw.choice(SIZES),), front[:-1])), size, *_shape(draw, draw.choice((0, 1, 1))))
    return draw.choice(("jnp.dot(x, y{})", "jnp.matmul(x, y{})", "x @ y", "lax.dot(x, y{})")).format(_more(draw)), x, y


def _other_dims(draw: random.Random, shape: Shape) -> Shape:
    """Other dims of as many elements: some are split, neighbours joined."""
    parts = [size for dim in shape for size in draw.choice(((dim,), (1, dim), (dim // 2, 2) if dim % 2 == 0 else (dim,)))]
    while len(parts) > 1 and draw.random() < 0.6:
        at = draw.randrange(len(parts) - 1)
        parts[at : at + 2] = [parts[at] * parts[at + 1]]
    return tuple(parts)


def reshaped(draw: random.Random) -> Made:
    x = _shape(draw, draw.choice((1, 2, 2, 3, 3, 4)))
    return draw.choice(("x.reshape({})", "jnp.reshape(x, {})", "lax.reshape(x, {})")).format(_other_dims(draw, x)), x, x


def broadcast_in_dim(draw: random.Random) -> Made:
    out = _shape(draw, draw.choice((1, 2, 2, 3, 3, 4)))
    dims = sorted(draw.sample(range(len(out)), draw.randint(0, len(out))))
    x = tuple(draw.choice((out[d], out[d], 1)) for d in dims) or (8,)
    dims = dims or [0]
    return f"lax.broadcast_in_dim(x, {out}, {tuple(dims)})", x, x


def tile(draw: random.Random) -> Made:
    x = _shape(draw, draw.choice((1, 2, 2, 3)))
    reps = tuple(draw.choice((1, 1, 2, 3)) for _ in range(draw.choice((len(x), len(x), len(x) + 1, max(len(x) - 1, 1)))))
    return (
        draw.choice((f"jnp.tile(x, {reps})", f"jnp.repeat(x, {reps[0]}, axis={draw.randrange(len(x))})", f"lax.broadcast(x, {reps})")),
        x,
        x,
    )


def indexed(draw: random.Random) -> Made:
    x = _shape(draw, draw.choice((1, 2, 2, 3, 3)))
    entries = []
    for size in x[: draw.randint(1, len(x))]:
        if draw.random() < 0.3:
            entries.append("None")
        start, stop = sorted((draw.randint(0, size - 1), draw.randint(1, size)))
        entries.append(
            draw.choice((":", ":", str(draw.randint(-size, size - 1)), f"{start}:{max(stop, start + 1)}", f":{stop}", f"{-stop}:"))
        )
    if draw.random() < 0.3:
        entries.insert(draw.choice((0, len(entries))), "...")
    if draw.random() < 0.4:
        entries.append("None")
    return f"x[{', '.join(entries)}]", x, x


def joined(draw: random.Random) -> Made:
    x = _shape(draw, draw.choice((1, 2, 2, 3)))
    axis = draw.randrange(len(x))
    y = (*x[:axis], draw.choice(SIZES), *x[axis + 1 :])
    call = draw.choice(
        (
            "jnp.concatenate([x, y], axis={})",
            "lax.concatenate([x, y, x], {})",
            "jnp.stack([x, x], axis={})",
            "jnp.concatenate([x[..., :1], x[..., 1:]], axis=-1)",
        )
    )
    return call.format(axis), x, y


def turned(draw: random.Random) -> Made:
    x = _shape(draw, draw.choice((2, 2, 3, 3, 4)))
    axes = list(range(len(x)))
    draw.shuffle(axes)
    a, b = draw.choice(axes), draw.choice(axes)
    return (
        draw.choice(
            (
                f"jnp.transpose(x, {axes})",
                f"x.transpose({axes})",
                f"lax.transpose(x, {axes})",
                "x.T",
                f"jnp.swapaxes(x, {a}, {b})",
                f"jnp.moveaxis(x, {a}, {b})",
            )
        ),
        x,
        x,
    )


def reduced(draw: random.Random) -> Made:
    x = _shape(draw, draw.choice((1, 2, 2, 3, 3)))
    axes = draw.sample(range(len(x)), draw.randint(1, len(x)))
    axis = draw.choice((str(axes[0]), str(tuple(axes)), "None"))
    name = draw.choice(("sum", "max", "min", "mean", "any", "all", "prod", "argmax", "argmin", "var", "logsumexp"))
    keep = draw.choice((", keepdims=True", ""))
    if name == "logsumexp":
        return f"jax.nn.logsumexp(x, axis={axis}{keep})", x, x
    return draw.choice((f"jnp.{name}(x, axis={axis}{keep})", f"x.{name}(axis={axis}{keep})")), x, x


def converted(draw: random.Random) -> Made:
    x = _shape(draw, draw.choice((1, 2, 2, 3)))
    dtype = draw.choice((*DTYPES, "float16", "int16"))
    call = draw.choice(
        (
            f"x.astype(jnp.{dtype})",
            f"lax.convert_element_type(x, jnp.{dtype})",
            f"lax.bitcast_convert_type(x, jnp.{dtype})",
            f"pltpu.bitcast(x, jnp.{dtype})",
        )
    )
    return call, x, x


def arithmetic(draw: random.Random) -> Made:
    x = _shape(draw, draw.choice((1, 2, 2, 3)))
    y = draw.choice((x, tuple(draw.choice((size, 1)) for size in x), x[1:] or x))
    name = draw.choice(("add", "sub", "mul", "div", "rem", "max", "min", "pow", "eq", "lt", "bitwise_and", "shift_left", "atan2"))
    other = draw.choice(("y", "y", "2", "x", "x.shape[0]"))
    return f"lax.{name}(x, {other})", x, y


_BITS = {"float32": 32, "int32": 32, "uint32": 32, "bfloat16": 16, "int8": 8, "uint8": 8}
FORMS: dict[str, Callable[[random.Random], Made]] = {
    function.__name__: function
    for function in (
        dot_general,
        einsum,
        products,
        reshaped,
        broadcast_in_dim,
        tile,
        indexed,
        joined,
        turned,
        reduced,
        converted,
        arithmetic,
    )
}


def view(draw: random.Random) -> str:
    """The module of a kernel that looks at a ref in another way and loads the view."""
    shape, dtype = _shape(draw, draw.choice((2, 2, 3, 3, 4))), draw.choice(list(_BITS))
    x, of, steps = shape, dtype, ""
    for _ in range(draw.choice((1, 1, 2, 2, 3))):
        kind = draw.choice(("at", "reshape", "bitcast"))
        if kind == "at":
            entries, kept = [], []
            for size in x:
                width = draw.randint(1, size)
                entry = draw.choice((":", "0", f"pl.ds({draw.randint(0, size - width)}, {width})", "i"))
                entries.append(entry)
                kept += {":": [size], "0": [], "i": []}.get(entry, [width])
            steps, x = f"{steps}.at[{', '.join(entries)}]", tuple(kept)
        elif kind == "reshape":
            x = _other_dims(draw, x)
            steps = f"{steps}.reshape({', '.join(map(str, x))})"
        else:
            new = draw.choice(("float32", "int32", "uint32", "bfloat16", "int8"))
            steps = f"{steps}.bitcast(jnp.{new})"
            if len(x) > 1:
                x = (*x[:-2], x[-2] * _BITS[of] // _BITS[new] or 1, x[-1])
            of = new
    text = _TEXT.format(expression="x", x=shape, y=(8,), x_dtype=dtype, y_dtype="int32")
    text = text.replace("value(x_ref[...], y_ref[...])", f"x_ref{steps}[...]").replace(
        "x_ref, y_ref, o_ref):", "x_ref, y_ref, o_ref):\n    i = pl.program_id(0)"
    )
    return text.replace("jax.eval_shape(value, x, y)", f"jax.ShapeDtypeStruct({x}, jnp.{of}), grid=(1,)")


def random_form(seed: object, only: str | None = None) -> str:
    """The module of a kernel whose one operation, or view of a ref, is drawn; ``only``: the form."""
    draw = random.Random(f"form {seed} {only}")
    if only == "view" or (only is None and draw.random() < 0.1):
        return view(draw)
    expression, x, y = FORMS[only or draw.choice(list(FORMS))](draw)
    common = draw.choice(("float32", "float32", "bfloat16", "bfloat16", "int32", "int8", draw.choice(DTYPES)))
    other = common if draw.random() < 0.75 else draw.choice(DTYPES)
    return _TEXT.format(expression=expression, x=x, y=y, x_dtype=common, y_dtype=other)

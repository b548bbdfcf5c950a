"""Random statements with one fault: what JAX says about each is JAX's business, most are refused."""

from __future__ import annotations

from collections.abc import Callable

from random_kernels.indexers import Indexer
from random_kernels.plan import Ref
from random_kernels.stores import store, use, value_for
from random_kernels.values import Values

Lines = list[str] | None


def _vectors(values: Values, dtypes: tuple[str, ...] = ("f32", "i32", "bf16", "bool", "i8", "u32")) -> list[Ref]:
    return [ref for ref in values.scope.those("vmem", dtypes=dtypes) if ref.shape]


def _one(values: Values, refs: list[Ref]) -> Ref | None:
    return values.dice.choice(refs) if refs else None


def scalar_to_vmem(values: Values) -> Lines:
    ref = _one(values, values.scope.those("vmem"))
    if ref is None:
        return None
    indexer = values.indexers.scalar(ref)
    if ref.dtype in ("f32", "i32") and values.dice.chance(0.2):
        return [f"{ref.name}[{indexer.inside}] += {values.of((), ref.dtype)}"]
    if values.dice.chance(0.15) and indexer.entries:
        return [
            f"row = {ref.name}.at[{indexer.entries[0]}]",
            f"row[{', '.join(indexer.entries[1:]) or '...'}] = {values.of((), ref.dtype)}",
        ]
    return [store(values, ref, indexer, value_for(values, ref, indexer))]


def vector_from_smem(values: Values) -> Lines:
    ref = _one(values, [ref for ref in values.scope.those("smem") if ref.shape])
    if ref is None:
        return None
    indexer = values.indexers.any(ref)
    return use(values, values.load(ref, indexer))


def vector_to_smem(values: Values) -> Lines:
    ref = _one(values, [ref for ref in values.scope.those("smem") if ref.shape])
    if ref is None:
        return None
    indexer = values.indexers.any(ref)
    return [store(values, ref, indexer, values.of(indexer.shape, ref.dtype))]


def load_from_any(values: Values) -> Lines:
    ref = _one(values, values.scope.those("any", "hbm"))
    return None if ref is None else use(values, values.load(ref, values.indexers.any(ref)))


def store_to_any(values: Values) -> Lines:
    ref = _one(values, values.scope.those("any", "hbm"))
    if ref is None:
        return None
    indexer = values.dice.pick(values.indexers.any, values.indexers.scalar)(ref)
    return [store(values, ref, indexer, values.of(indexer.shape, ref.dtype))]


def misshapen(values: Values) -> Lines:
    ref = _one(values, values.scope.those("vmem", "vmem", "smem", "any"))
    if ref is None:
        return None
    indexer = values.indexers.any(ref)
    return [store(values, ref, indexer, values.misshapen(indexer.shape, ref.dtype))]


def mistyped(values: Values) -> Lines:
    ref = _one(values, values.scope.those("vmem", "smem"))
    if ref is None:
        return None
    indexer = values.indexers.scalar(ref) if ref.space == "smem" else values.indexers.any(ref)
    return [store(values, ref, indexer, values.mistyped(indexer.shape, ref.dtype))]


def bad_index(values: Values) -> Lines:
    ref = _one(values, values.scope.those("vmem", "smem", "any") or values.scope.those("hbm"))
    if ref is None:
        return None
    indexer = values.indexers.wrong(ref)
    if values.dice.chance(0.6):
        return use(values, values.load(ref, indexer))
    return [store(values, ref, indexer, values.of(indexer.shape, ref.dtype, 1))]


def mask(values: Values) -> Lines:
    dice = values.dice
    ref = _one(values, _vectors(values) if dice.chance(0.8) else values.scope.those("smem"))
    if ref is None:
        return None
    indexer = values.indexers.any(ref)
    shape = indexer.shape if dice.chance(0.6) else dice.pick((), (1, *indexer.shape), indexer.shape[1:], (1,) * len(indexer.shape))
    made = values.of(shape, "bool", 1) if dice.chance(0.85) else "True"
    where = f"{ref.name}.at[{indexer.inside}]"
    if dice.chance(0.35):
        return use(values, f"pltpu.load({where}, mask={made})")
    return [f"pltpu.store({where}, {values.of(indexer.shape, ref.dtype, 1)}, mask={made})"]


def view(values: Values) -> Lines:
    """A reshape, bitcast, transposition or stride of a ref that Mosaic or JAX has no view for."""
    dice = values.dice
    ref = _one(values, [ref for ref in values.scope.refs if ref.is_array and ref.shape])
    if ref is None:
        return None
    size = 1
    for dim in ref.shape:
        size *= dim
    text = dice.pick(
        f"{ref.name}.at[::2].at[0:1]", f"{ref.name}.at[pl.ds(0, 2, 2)].at[0]", f"{ref.name}.reshape({size // 2 or 1}, 2)", f"{ref.name}.reshape(-1, 3)",
        f"{ref.name}.reshape({size})", f"{ref.name}.T", f"{ref.name}.bitcast(jnp.int8)", f"{ref.name}.bitcast(jnp.int32)", f"{ref.name}.bitcast(jnp.bfloat16)",
        f"{ref.name}.reshape({size}, 1)", f"{ref.name}.at[0].reshape(1, {max(size // ref.shape[0], 1)})", f"{ref.name}.reshape(1, -1)",
    )  # fmt: skip
    if dice.chance(0.5):
        return use(values, f"{text}[...]")
    return [f"view = {text}", *use(values, "view[...]")]


def ref_as_array(values: Values) -> Lines:
    """A ref, or a view of one, as a value. Only refs are iterated over: the iteration of a view has no end."""
    dice = values.dice
    ref, target = _one(values, [ref for ref in values.scope.refs if ref.is_array]), _one(values, _vectors(values))
    if ref is None or target is None:
        return None
    name = ref.name if dice.chance(0.75) else f"{ref.name}.at[0]"
    expression = dice.pick(
        f"{name} * 2", f"2.0 + {name}", f"-{name}", f"{target.name}[...] + {name}", f"{name} > 0", f"jnp.exp({name})", f"jnp.sum({name})", f"lax.exp({name})",
        f"{name}.astype(jnp.float32)", f"{name}.sum()", f"jnp.where({name} > 0, 1.0, 0.0)", name, name, f"jnp.dot({name}, {name})", f"{name} @ {name}",
        f"jnp.maximum({name}, 0)", f"jnp.zeros_like({name}) + {name}", f"{name}.T", f"jnp.broadcast_to({name}, (8, 128))", f"[row for row in {ref.name}]",
    )  # fmt: skip
    if dice.chance(0.15):
        return (
            [f"{name.split('.')[0]} += 1.0"]
            if dice.chance(0.3) and "." not in name
            else [f"for row in {ref.name}:", f"    {target.name}[...] = row"]
        )
    return [f"{target.name}[...] = {expression}"] if dice.chance(0.6) else use(values, expression)


def misused(values: Values) -> Lines:
    """Item assignment to views and values, functions for refs given values, and names that are gone."""
    dice = values.dice
    ref = _one(values, _vectors(values))
    if ref is None:
        return None
    value = values.of(ref.shape, ref.dtype, 1)
    return dice.pick(
        [f"{ref.name}.at[0] = {value}"],
        [f"{ref.name}.at[0, ...] += {value}"],
        [f"loaded = {ref.name}[...]", "loaded[0] = 1.0"],
        [f"loaded = {value}", f"loaded[...] = {value}"],
        [f"{ref.name}.at[0].add({value})"],
        use(values, f"jax.ref.get({ref.name}[...], (0,))"),
        [f"jax.ref.set({ref.name}[...], (...,), {value})"],
        [f"pl.store({ref.name}, (slice(None),), {value})"],
        use(values, f"pl.load({ref.name}, (slice(None),))"),
        [f"jax.ref.addupdate({ref.name}, ..., {value})"],
        [f"{ref.name}.addupdate({value})"],
        [f"pltpu.sync_copy({ref.name}[...], {ref.name})"],
        [f"pltpu.sync_copy({ref.name}, {value})"],
        [f"pl.swap({ref.name}, (0,), {value})"],
    )


def semaphore(values: Values) -> Lines:
    dice = values.dice
    sem = _one(values, values.scope.those("dma_sem", "regular_sem"))
    ref = _one(values, _vectors(values, ("f32",)))
    if sem is None or ref is None:
        return None
    inside = "0" if sem.array else "..."
    return dice.pick(
        use(values, f"({sem.name}[{inside}] + 1)"), [f"{sem.name}[{inside}] = 0"], [f"pltpu.make_async_copy({ref.name}[...], {ref.name}, {sem.name}).start()"],
        [f"pltpu.make_async_copy({ref.name}, {ref.name}, {sem.name}[{inside}]).start()"],
    )  # fmt: skip


def narrow_scalar(values: Values) -> Lines:
    ref = _one(values, _vectors(values, ("bf16", "bool", "i8")))
    if ref is None:
        return None
    dice, zeros = values.dice, ", ".join("0" * len(ref.shape))
    return use(values, dice.pick(
        f"{ref.name}[...][{zeros}]", f"jnp.max({ref.name}[...])", f"jnp.min({ref.name}[...], keepdims=True)", f"jnp.squeeze({ref.name}[{', '.join(['0:1'] * len(ref.shape))}])",
        f"{ref.name}[...].max()", f"{ref.name}[...].reshape(())" if ref.shape.count(1) == len(ref.shape) else f"{ref.name}[...][{zeros}]",
    ))  # fmt: skip


def at_random(values: Values) -> Lines:
    """A store of anything to anywhere."""
    dice = values.dice
    ref = _one(values, [ref for ref in values.scope.refs if ref.is_array])
    source = _one(values, [ref for ref in values.scope.refs if ref.is_array])
    if ref is None or source is None:
        return None
    indexer = dice.pick(values.indexers.any, values.indexers.any, values.indexers.scalar, values.indexers.wrong)(ref)
    shape = dice.pick(indexer.shape, indexer.shape, ref.shape, (), (1, 1))
    value = dice.pick(
        values.of(shape, ref.dtype), values.of(shape, dice.pick("f32", "i32", "bf16")), values.load(source, values.indexers.any(source)), values.number("f32"),
        values.number("i32"), values.load(source, Indexer(indexer.entries, indexer.shape)), f"{values.load(source, values.indexers.any(source))} * 2",
    )  # fmt: skip
    return [store(values, ref, indexer, value)]


FAULTS: dict[Callable[[Values], Lines], float] = {
    scalar_to_vmem: 3, vector_from_smem: 2.5, vector_to_smem: 2, load_from_any: 2, store_to_any: 1.5, misshapen: 3, mistyped: 2.5, bad_index: 4, mask: 1.5,
    view: 2, ref_as_array: 2, misused: 2, semaphore: 0.7, narrow_scalar: 1, at_random: 4,
}  # fmt: skip

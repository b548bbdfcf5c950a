"""Random statements that store, and the ways to write one store."""

from __future__ import annotations

from random_kernels.indexers import Indexer
from random_kernels.plan import FLOATS, Ref
from random_kernels.values import Values


def store(values: Values, ref: Ref, indexer: Indexer, value: str) -> str:
    """``value`` stored to a part of ``ref``, in one of its spellings that cast."""
    dice = values.dice
    at = f"{ref.name}.at[{indexer.inside}]"
    ways = {
        f"{ref.name}[{indexer.inside}] = {value}": 24.0,
        f"{at}.set({value})": 1,
        f"{at}[...] = {value}": 1,
        f"jax.ref.set({ref.name}, {indexer.as_argument}, {value})": 0.7,
        f"{ref.name}.set({value}, idx={indexer.as_argument})": 0.4,
        f"{ref.name}.swap({value}, idx={indexer.as_argument})": 0.3,
        f"{at}.swap({value})": 0.5,
        f"_ = jax.ref.swap({ref.name}, {indexer.as_argument}, {value})": 0.7,
    }
    if indexer.entries == ("...",):
        ways |= {f"{ref.name}.set({value})": 1, f"_ = {ref.name}.swap({value})": 0.5}
    return dice.weighted(ways)


def good_store(values: Values) -> str | None:
    """A store that JAX takes; None where the scope has no ref for it."""
    dice = values.dice
    refs = [ref for ref in values.scope.refs if ref.space in ("vmem", "smem")]
    if not refs:
        return None
    outputs = [ref for ref in refs if ref.role != "input"] or refs
    ref = dice.choice(outputs if dice.chance(0.85) else refs)
    indexer = values.indexers.scalar(ref) if ref.space == "smem" else values.indexers.any(ref)
    if ref.space == "vmem" and indexer.shape == ():
        indexer = Indexer(("...",), ref.shape)
        if ref.shape == ():
            return None
    if dice.chance(0.12) and ref.dtype in ("f32", "i32"):
        number = values.of(dice.pick((), indexer.shape), ref.dtype, 1)
        return f"{ref.name}[{indexer.inside}] {dice.pick('+=', '*=', '-=')} {number}"
    value = value_for(values, ref, indexer)
    if ref.space == "vmem" and dice.chance(0.08):
        return _pltpu_store(values, ref, indexer, values.new(indexer.shape, ref.dtype))
    return store(values, ref, indexer, value)


def value_for(values: Values, ref: Ref, indexer: Indexer) -> str:
    """A value that JAX stores without a cast, or with one that it makes itself."""
    dice = values.dice
    if indexer.shape == () and ref.dtype in FLOATS and dice.chance(0.3):
        return values.number(ref.dtype)
    if ref.dtype in ("i8", "u32", "i32") and dice.chance(0.3):
        return values.of(indexer.shape, "i32")
    if ref.dtype == "bf16" and dice.chance(0.2):
        return f"jnp.full({values.shape(indexer.shape)}, 0.5)"
    return values.of(indexer.shape, ref.dtype)


def _pltpu_store(values: Values, ref: Ref, indexer: Indexer, value: str) -> str:
    where = f"{ref.name}.at[{indexer.inside}]"
    if ref.dtype in ("f32", "i32") and not indexer.strided and values.dice.chance(0.5):
        return f"pltpu.store({where}, {value}, mask={values.of(indexer.shape, 'bool', 1)})"
    return f"pltpu.store({where}, {value})"


def use(values: Values, expression: str) -> list[str]:
    """Statements that keep ``expression`` alive: something of it is stored."""
    dice = values.dice
    sinks = [ref for ref in values.scope.those("vmem", dtypes=("f32",)) if ref.shape and ref.role != "input"]
    sinks = sinks or [ref for ref in values.scope.those("vmem", dtypes=("f32",)) if ref.shape]
    if not sinks:
        return [f"pl.debug_print({dice.pick('', 'v = ')!r}, jnp.sum({expression}))"] if dice.chance(0.5) else [f"value = {expression}"]
    sink = dice.choice(sinks)
    if dice.chance(0.4):
        return [f"part = {expression}", f"{sink.name}[...] += jnp.sum(jnp.asarray(part).astype(jnp.float32))"]
    return [f"{sink.name}[...] = {sink.name}[...] + jnp.sum(({expression}).astype(jnp.float32))"]

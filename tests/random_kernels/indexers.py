"""Random indexers of a ref: the text of each entry and the shape that they leave."""

from __future__ import annotations

from dataclasses import dataclass

from random_kernels.plan import Dice, Ref, Scope, Shape


@dataclass(frozen=True)
class Indexer:
    """``entries`` as text, and the ``shape`` of what they select (a guess where JAX refuses them)."""

    entries: tuple[str, ...]
    shape: Shape
    strided: bool = False

    @property
    def inside(self) -> str:
        """As it stands between brackets."""
        return ", ".join(self.entries) or "()"

    @property
    def as_argument(self) -> str:
        """As an argument of a function, where ``a:b`` is no expression."""
        parts = [_spelled_out(entry) for entry in self.entries]
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def _spelled_out(entry: str) -> str:
    """``a:b:c`` as ``slice(a, b, c)``."""
    depth, parts = 0, [""]
    for char in entry:
        depth += (char in "([") - (char in ")]")
        if char == ":" and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return entry if len(parts) == 1 else f"slice({', '.join(part.strip() or 'None' for part in parts)})"


class Indexers:
    """Draws indexers in one scope."""

    def __init__(self, dice: Dice, scope: Scope) -> None:
        self.dice = dice
        self.scope = scope

    def any(self, ref: Ref) -> Indexer:
        """One that JAX accepts, of any resulting shape."""
        dice, shape = self.dice, ref.shape
        if dice.chance(0.3):
            return Indexer(dice.pick(("...",), (":",) * max(len(shape), 1) if shape else ("...",), ()), shape)
        kept = tuple(
            dim if dice.chance(0.6) else dice.pick(dim, 1, max(dim // 2, 1), min(dim, 8)) for dim in shape if dice.chance(0.65)
        )  # fmt: skip
        return self.of_shape(ref, kept) or Indexer(("...",), shape)

    def scalar(self, ref: Ref) -> Indexer:
        """An integer for every dim."""
        if not ref.shape:
            return Indexer(self.dice.pick(("...",), ()), ())
        return Indexer(tuple(self._int(dim) for dim in ref.shape), ())

    def of_shape(self, ref: Ref, want: Shape) -> Indexer | None:
        """One that selects exactly ``want``; None where the ref has no such part."""
        dice, shape = self.dice, ref.shape
        if want == shape and dice.chance(0.6):
            return Indexer(dice.pick(("...",), (":",) * max(len(shape), 1) if shape else ("...",), ("...",), ()), shape)
        if len(want) > len(shape):
            return None
        for _ in range(4):
            kept = sorted(dice.sample(range(len(shape)), len(want)))
            if all(size <= shape[axis] for axis, size in zip(kept, want, strict=True)):
                break
        else:
            return None
        entries, strided = [], False
        for axis, dim in enumerate(shape):
            if axis not in kept:
                entries.append(self._int(dim))
                continue
            size = want[kept.index(axis)]
            last = axis == len(shape) - 1
            text, step = self._part(dim, size, may_stride=not last and len(shape) > 1 and shape[-1] <= 128)
            entries.append(text)
            strided |= step
        return Indexer(self._abbreviated(tuple(entries)), want, strided)

    def _abbreviated(self, entries: tuple[str, ...]) -> tuple[str, ...]:
        """Full slices at the end left out, or a run of them as an ellipsis."""
        if self.dice.chance(0.4):
            while entries and entries[-1] == ":":
                entries = entries[:-1]
            return entries or ("...",)
        if ":" in entries and self.dice.chance(0.3):
            start = entries.index(":")
            end = start
            while end < len(entries) and entries[end] == ":":
                end += 1
            return (*entries[:start], "...", *entries[end:])
        return entries

    def _int(self, dim: int) -> str:
        dice, scope = self.dice, self.scope
        kind = dice.weighted({"static": 6, "traced": 3 if scope.traced else 0, "loop": 2 if scope.static else 0, "odd": 0.6, "typed": 0.5})
        if kind == "traced":
            return dice.choice(scope.traced)
        if kind == "loop":
            return dice.choice(scope.static)[0]
        if kind == "odd":  # beyond the ref or before it: JAX does not look
            return dice.pick("-1", str(dim), str(dim + 3), f"-{dim}")
        if kind == "typed":
            return f"jnp.int32({dice.randrange(dim)})" if dice.chance(0.6) else f"np.int32({dice.randrange(dim)})"
        return str(dice.randrange(dim))

    def _part(self, dim: int, size: int, may_stride: bool) -> tuple[str, bool]:
        """Text that selects ``size`` of ``dim``, and whether it is strided."""
        dice, scope = self.dice, self.scope
        if size == dim and dice.chance(0.7):
            return dice.pick(":", ":", f"0:{dim}", f"pl.ds(0, {dim})", f":{dim + 5}", "slice(None)", f"pl.ds({dim})"), False
        start = dice.randint(0, dim - size)
        step = 2
        if may_stride and (size - 1) * step + 1 <= dim and size > 1 and dice.chance(0.25):
            if size * step == dim and dice.chance(0.5):
                return "::2", True
            return f"pl.ds(0, {size}, {step})" if dice.chance(0.6) else f"pl.ds(0, {size}, stride={step})", True
        if scope.traced and dice.chance(0.35):
            traced = dice.choice(scope.traced)
            return f"pl.ds({traced}, {size})" if dice.chance(0.5) else f"pl.ds({traced} * {size}, {size})", False
        fitting = [name for name, most in scope.static if most + size <= dim]
        if fitting and dice.chance(0.4):
            return f"pl.ds({dice.choice(fitting)}, {size})", False
        if start + size == dim and dice.chance(0.3):
            return f"-{size}:", False
        return dice.pick(
            f"{start}:{start + size}", f"pl.ds({start}, {size})", f"pl.ds({start}, size={size})", f"pl.dslice({start}, {size})",
            f"pl.Slice({start}, {size})", f"slice({start}, {start + size})",
        ), False  # fmt: skip

    def wrong(self, ref: Ref) -> Indexer:
        """One that JAX refuses for most refs."""
        dice, shape, rank = self.dice, ref.shape, len(ref.shape)
        full = [":"] * rank
        axis = dice.randrange(rank) if rank else 0
        dim = shape[axis] if rank else 1
        traced = dice.choice(self.scope.traced) if self.scope.traced else "jnp.int32(2)"
        other = dice.choice([r for r in self.scope.refs if r.is_array] or [ref])
        wrong = dice.weighted({
            "rank": 3, "ellipses": 1, "list": 1, "None": 1, "str": 0.5, "float": 1, "step": 1, "traced slice": 2, "size": 1.5,
            "bounds": 2, "array": 2, "mixed": 1, "ref": 1, "two refs": 0.7, "loaded": 1, "bool": 0.3, "unequal": 0.5,
        })  # fmt: skip
        entry = {
            "list": "[0, 1]", "str": '"rows"', "float": dice.pick("1.0", f"{dim} / 2", "0.5 * 4"), "step": dice.pick("::-1", "pl.ds(0, 2, -1)", "::0"),
            "traced slice": dice.pick(f"{traced}:{traced} + 2", f"{traced}:", f":{traced}", f"{traced} * 2:({traced} + 1) * 2"),
            "size": f"pl.ds(0, {traced})", "bounds": dice.pick(f"pl.ds({dim}, 1)", f"pl.ds({max(dim - 1, 1)}, {dim})", f"pl.ds(0, {dim + 1})", f"pl.ds({dim + 8}, 8)"),
            "array": dice.pick("jnp.arange(2)", "jnp.zeros((4,), jnp.int32)", f"lax.broadcasted_iota(jnp.int32, ({dim}, 1), 0)"),
            "ref": other.name, "loaded": f"{other.name}[...]", "bool": "True",
        }.get(wrong)  # fmt: skip
        if entry is not None:
            entries = [entry, *full[1:]] if dice.chance(0.5) or not rank else [*full[:axis], entry, *full[axis + 1 :]]
            if wrong in ("ref", "array", "loaded", "float", "size") and dice.chance(0.4):
                entries = entries[: entries.index(entry) + 1]
        elif wrong == "rank":
            entries = [dice.pick("0", ":", "pl.ds(0, 1)"), *full] if dice.chance(0.7) else ["0"] * (rank + 1)
        elif wrong == "ellipses":
            entries = ["...", *full[2:], "..."]
        elif wrong == "None":
            entries = ["None", *full] if dice.chance(0.5) else [*full[:-1], "None"] if rank > 1 else ["None", "0"]
        elif wrong == "mixed":
            entries = [dice.pick("0", traced), *full[2:], "jnp.arange(4)"]
        elif wrong == "unequal":
            entries = ["jnp.arange(3)", "jnp.arange(4)", *full[2:]]
        else:
            entries = [other.name, dice.pick(other.name, "0"), *full[2:]]
        return Indexer(tuple(entries), shape)

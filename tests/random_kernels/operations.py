"""Random kernels that compute: chains of operations, in control flow, and copies between memories around them."""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
from random_kernels.bodies import indented
from random_kernels.modules import Kernel
from random_kernels.operators import DTYPES, Env, Operators, typed
from random_kernels.plan import Dice, Shape

Lines = list[str]
_TRIES = 8
_SHAPES: tuple[Shape, ...] = ((8, 128), (16, 128), (128, 128), (8, 256), (128,), (1, 128), (2, 8, 128), (8, 1), (32, 128), (64, 64), (4, 8, 128))
_MOST = 2**17  # elements of a value


def random_operations(seed: object) -> Kernel:
    """The kernel of this seed, the same one always with one JAX."""
    body = _Body(Dice(f"operations {seed}"))
    return Kernel(body.text(), stated=True, sound=False)


class _Body:
    """Draws a kernel. ``env``: the local names that hold values, as JAX types them; ``inputs``: the arrays that ``run`` is called with."""

    def __init__(self, dice: Dice) -> None:
        self.dice = dice
        self.env: dict[str, jax.ShapeDtypeStruct] = {}
        self.lines: Lines = []
        self.inputs: dict[str, tuple[Shape, str]] = {}
        self.spaces: dict[str, str] = {}
        self.scratch: dict[str, str] = {}
        self.grid = dice.pick("", "", "(2,)", "(4,)")
        self._count = 0

    def text(self) -> str:
        """The module, with the ref of the result as its last value asks for it."""
        dice = self.dice
        self._open()
        for _ in range(dice.randint(2, 6)):
            kind = dice.weighted({"step": 12, "loop": 2, "choice": 1.6, "copy": 1.8, "scoped": 0.6, "branch": 0.25, "effect": 1})
            getattr(self, f"_{kind}")()
        return self._module(self._result())

    def _new(self, stem: str = "v") -> str:
        self._count += 1
        return f"{stem}{self._count}"

    def _open(self) -> None:
        """Loads of the inputs, and the two traced integers that everything may use."""
        dice = self.dice
        for name in ("x", "y", "w")[: dice.weighted({1: 3, 2: 4, 3: 2})]:
            twin = dice.choice(list(self.inputs.values())) if self.inputs and dice.chance(0.6) else None
            self.inputs[f"{name}_ref"] = twin or (dice.choice(_SHAPES), dice.weighted(DTYPES))
        self.inputs["n_ref"], self.spaces["n_ref"] = ((4,), "int32"), "pltpu.SMEM"
        self.lines += [f"i = {'pl.program_id(0)' if self.grid else 'n_ref[1]'}", "n = n_ref[0]"]
        for name, (shape, dtype) in self.inputs.items():
            if name != "n_ref":
                self.lines.append(f"{name[0]} = {name}[...]")
                self._hold(name[0], jax.ShapeDtypeStruct(shape, _dtype(dtype)))

    def _hold(self, name: str, value: jax.ShapeDtypeStruct) -> None:
        self.env[name] = value

    @property
    def _known(self) -> Env:
        number = jax.ShapeDtypeStruct((), "int32")
        return {**self.env, "i": number, "n": number}

    def _operators(self, more: Env | None = None) -> Operators:
        return Operators(self.dice, {**self.env, **(more or {})})

    def _last(self) -> str:
        """The value that the chain goes on with."""
        names = list(self.env)
        return names[-1] if self.dice.chance(0.7) else self.dice.choice(names)

    # Statements

    def _step(self) -> None:
        """A value gets a name, and once in a while one that JAX refuses to make."""
        name = self._new()
        for _ in range(_TRIES):
            expression = self._operators().some(self._last())
            if self.dice.chance(0.15):
                expression = self._operators().some(self._last()).join(("(", ")")) + f".astype(jnp.{self.dice.weighted(DTYPES)})"
            if self._add([f"{name} = {expression}"], name):
                return

    def _add(self, lines: Lines, name: str) -> bool:
        """Whether the lines are now part of the kernel."""
        made = typed(lines, name, self._known)
        if made is not None and made.size <= _MOST:
            self._hold(name, made)
        elif made is not None or not self.dice.chance(0.02):
            return False
        self.lines += lines
        return True

    def _loop(self) -> None:
        """A loop whose carry goes on as a value."""
        dice, carry, name, step = self.dice, self._last(), self._new(), self._new("step")
        own = self.env[carry]
        after = Operators(dice, {**self.env, "c": own}).some("c")
        for _ in range(_TRIES):
            made = typed([f"r = {after}"], "r", {**self._known, "c": own, "k": jax.ShapeDtypeStruct((), "int32")})
            if made is not None and (made.shape == own.shape or dice.chance(0.04)):
                after = after if dice.chance(0.08) else f"({after}).astype({carry}.dtype)"
                break
            after = Operators(dice, {**self.env, "c": own}).some("c")
        kind = dice.pick("fori", "fori", "while", "scan", "pair", "dynamic")
        if kind == "while":
            lines = [f"def {step}(state):", "    k, c = state", f"    return k + 1, {after}", f"_, {name} = lax.while_loop(lambda state: state[0] < {dice.pick('3', 'n')}, {step}, (0, {carry}))"]
        elif kind == "scan":
            lines = [f"def {step}(c, k):", f"    return {after}, None", f"{name}, _ = lax.scan({step}, {carry}, None, length={dice.pick(2, 4)})"]
        elif kind == "pair":
            lines = [f"def {step}(k, state):", "    c, total = state", f"    return {after}, total + jnp.max({carry})", f"{name}, _ = lax.fori_loop(0, 2, {step}, ({carry}, jnp.max({carry})))"]
        else:
            bounds, unroll = ("0, n", "") if kind == "dynamic" else ("0, 4", dice.pick("", "", ", unroll=True", ", unroll=2"))
            lines = [f"def {step}(k, c):", f"    return {after}", f"{name} = lax.fori_loop({bounds}, {step}, {carry}{unroll})"]
        self._add(lines, name)

    def _choice(self) -> None:
        """A value from one of two branches."""
        dice, name, value = self.dice, self._new(), self._last()
        test = dice.pick("n > 0", "i == 0", f"jnp.any({value} > 0)", f"jnp.max({value}) > 1", "n")
        first, second = (dice.pick(f"{value}", f"{value} * 2", f"jnp.zeros_like({value})", f"-{value}", f"{value} + 1") for _ in range(2))
        if dice.chance(0.3):
            first = self._operators().some(value)
        form = dice.pick(
            f"lax.cond({test}, lambda: {first}, lambda: {second})", f"lax.cond({test}, lambda c: {first}, lambda c: {second}, {value})",
            f"lax.switch(n, [lambda: {first}, lambda: {second}])", f"jnp.where({test}, {first}, {second})", f"lax.select_n({test}, {first}, {second})",
        )  # fmt: skip
        self._add([f"{name} = {form}"], name)

    def _branch(self) -> None:
        """Python decides on a traced value, or on what is known while tracing."""
        dice, name, value = self.dice, self._new(), self._last()
        test = dice.pick("n > 0", f"{value}.shape[0] > 4", f"{value}.ndim == 2", f"jnp.any({value} > 0)", f"{value}.dtype == jnp.float32", "x_ref.shape[0] % 8 == 0")
        self.lines += [f"{name} = {value}", f"if {test}:", f"    {name} = {value}[None]", f"    {name} = {name}[0]"]
        self._hold(name, self.env[value])

    def _scratch_like(self, name: str) -> str:
        """A scratch buffer as the value, or the input, asks for it."""
        shape, dtype = self.inputs[name] if name in self.inputs else (self.env[name].shape, _word(self.env[name].dtype))
        buffer = self._new("buf")
        self.scratch[buffer] = f"pltpu.VMEM({shape}, jnp.{_word(_dtype(dtype))})"
        return buffer

    def _effect(self) -> None:
        """A store into scratch under a condition or in a loop, and what is there afterwards."""
        dice, value, name = self.dice, self._last(), self._new()
        buffer = self._scratch_like(value)
        store = dice.pick(f"{buffer}[...] = {value}", f"{buffer}[...] += {value}", f"{buffer}[...] = {buffer}[...] + {value}")
        test = dice.pick("n > 0", "i == 0", "(n > 0) & (i < 2)")
        self.lines += dice.pick(
            [f"@pl.when({test})", f"def {self._new('_')}():", f"    {store}"], [f"@pl.loop(0, {dice.pick('4', 'n')})", f"def {self._new('_')}(k):", f"    {store}"],
            [f"for k in range({dice.pick('2', 'x_ref.shape[0] // 8 + 1')}):", f"    {store}"], [f"pl.when({test})(lambda: None)", store],
        )  # fmt: skip
        self.lines.append(f"{name} = {buffer}[...]")
        self._hold(name, jax.ShapeDtypeStruct(self.env[value].shape, self.env[value].dtype))

    def _copy(self) -> None:
        """An input, or some of its rows, comes into scratch by a DMA; from outside of VMEM, most of the time."""
        dice = self.dice
        source = dice.choice([name for name in self.inputs if name != "n_ref"])
        shape, dtype = self.inputs[source]
        buffer, name, sem = self._scratch_like(source), self._new(), self._new("sem")
        self.scratch[sem] = dice.pick("pltpu.SemaphoreType.DMA", "pltpu.SemaphoreType.DMA(())") if dice.chance(0.9) else "pltpu.SemaphoreType.DMA((2,))"
        signal = sem if "2" not in self.scratch[sem] else f"{sem}.at[{dice.pick('0', 'i')}]"
        part, whole = f"{source}.at[pl.ds(0, {max(shape[0] // 2, 1)})]", f"{buffer}.at[pl.ds({dice.pick('0', 'n')}, {max(shape[0] // 2, 1)})]"
        ends = dice.weighted({f"{source}, {buffer}": 6, f"{part}, {whole}": 3, f"{part}, {buffer}": 0.2, f"{source}[...], {buffer}": 0.1})
        way = dice.weighted({"sync": 3, "make": 3, "async": 3, "left": 3, "chained": 3, "idle": 1})
        way = "chained" if "[...]" in ends and way in ("make", "left") else way  # JAX names the line of the start, the checker the operand's
        if way == "sync":
            self.lines.append(f"pltpu.sync_copy({ends})")
        elif way == "chained":
            self.lines += [f"pltpu.make_async_copy({ends}, {signal}).start()", f"pltpu.make_async_copy({ends}, {signal}).wait()"]
        else:
            made = "async_copy" if way == "async" else "make_async_copy"
            self.lines.append(f"{self._new('copy')} = pltpu.{made}({ends}, {signal})")
            handle = self.lines[-1].split(" ")[0]
            self.lines += ([] if way == "async" else [f"{handle}.start()"] * (way != "idle")) + ([] if way in ("left", "idle") else [f"{handle}.wait()"])
        self.lines.append(f"{name} = {buffer}[...]")
        self._hold(name, jax.ShapeDtypeStruct(shape, _dtype(dtype)))

    def _scoped(self) -> None:
        """A buffer that lives for a function, and the value that comes out of it."""
        dice, value, name, function = self.dice, self._last(), self._new(), self._new("scope")
        buffer = self._scratch_like(value)
        allocated = self.scratch.pop(buffer)
        given = dice.pick(allocated, f"{buffer}={allocated}")
        self.lines += [f"def {function}({buffer}):", f"    {buffer}[...] = {value}", f"    return {buffer}[...]", f"{name} = pl.run_scoped({function}, {given})"]
        self._hold(name, jax.ShapeDtypeStruct(self.env[value].shape, self.env[value].dtype))

    def _result(self) -> jax.ShapeDtypeStruct:
        """The last value is stored, whole or under a condition; the struct of the ref that it is stored in."""
        dice, value = self.dice, list(self.env)[-1]
        made = self.env[value]
        if not made.shape:
            value, made = f"jnp.full((8, 128), {value})", jax.ShapeDtypeStruct((8, 128), made.dtype)
        dtype = made.dtype if dice.chance(0.8) else _dtype(dice.weighted(DTYPES))
        text = f"{value}.astype(o_ref.dtype)" if dtype != made.dtype else value
        self.lines += dice.pick([f"o_ref[...] = {text}"], [f"o_ref[...] = {text}"], ["@pl.when(n == 0)", "def _last():", f"    o_ref[...] = {text}"])
        return jax.ShapeDtypeStruct(made.shape, dtype)

    # The module

    def _module(self, out: jax.ShapeDtypeStruct) -> str:
        dice = self.dice
        for name in self.inputs:  # what is copied by DMA may be anywhere, if nothing else reads it
            loads = [line for line in self.lines if f"{name}[...]" in line]
            if any(f"{name}.at[" in line or f"({name}, " in line for line in self.lines) and dice.chance(0.6):
                unread = not any(_reads(line, name[0]) for line in self.lines if line not in loads)
                if unread and len(loads) == 1:
                    self.lines.remove(loads[0])
                    self.spaces[name] = dice.pick("pl.ANY", "pltpu.HBM")
        refs = ", ".join([*self.inputs, "o_ref", *self.scratch])
        specs = ", ".join(f"pl.BlockSpec(memory_space={self.spaces.get(name, 'pltpu.VMEM')})" for name in self.inputs)
        words = [f"grid={self.grid}"] if self.grid else []
        words += [f"in_specs=[{specs}]", f"out_shape=jax.ShapeDtypeStruct({out.shape}, jnp.{_word(out.dtype)})"]
        words += [f"scratch_shapes=[{', '.join(self.scratch.values())}]"] if self.scratch else []
        names = ", ".join(name.removesuffix("_ref") for name in self.inputs)
        structs = ", ".join(f"jax.ShapeDtypeStruct({shape}, jnp.{dtype})" for shape, dtype in self.inputs.values())
        imports = ["import jax", "import jax.numpy as jnp", "import numpy as np", "from jax import lax", "from jax.experimental import pallas as pl", "from jax.experimental.pallas import tpu as pltpu"]
        lines = [
            *imports, "", "", f"def kernel({refs}):", *indented(self.lines), "", "", f"def run({names}):",
            f"    return pl.pallas_call(kernel, {', '.join(words)})({names})", "", "", f"ARGS = [{structs}]", "", 'if __name__ == "__main__":', "    jax.jit(run).lower(*ARGS)", "",
        ]  # fmt: skip
        return "\n".join(lines)


def _reads(line: str, name: str) -> bool:
    return re.search(rf"\b{name}\b", line) is not None


def _dtype(name: str) -> object:
    return jnp.dtype(getattr(jnp, name))


def _word(dtype: object) -> str:
    return "bool_" if str(dtype) == "bool" else str(dtype)

"""Random bodies of kernels: statements in the control flow that kernels have."""

from __future__ import annotations

from dataclasses import replace

from random_kernels.faults import FAULTS
from random_kernels.plan import DTYPES, Bound, Dice, Ref, Scope
from random_kernels.stores import good_store
from random_kernels.values import Values

Lines = list[str]


def indented(lines: Lines) -> Lines:
    return [f"    {line}" if line else line for line in lines]


class Body:
    """Draws statements. ``helpers``: functions of the module that they call; ``pending``: a fault is still to be made."""

    def __init__(self, dice: Dice, faulty: bool) -> None:
        self.dice = dice
        self.helpers: list[Lines] = []
        self.pending = faulty
        self._count = 0

    def whole(self, scope: Scope) -> Lines:
        """The body of a kernel, its fault included."""
        lines = self._opening(scope)
        lines += self.block(scope, depth=2, most=4)
        while self.pending:
            lines += self._fault(scope)
        return lines

    def block(self, scope: Scope, depth: int, most: int = 3) -> Lines:
        """Up to ``most`` statements, at least one."""
        dice = self.dice
        lines: Lines = []
        for _ in range(dice.randint(1, most)):
            if self.pending and dice.chance(0.3):
                lines += self._fault(scope)
            kind = dice.weighted({"store": 8, "bind": 4, "index": 1.5, "flow": 4 * depth, "copy": 1.2, "idle": 1.2, "trap": 1})
            lines += getattr(self, f"_{kind}")(scope, depth)
        return lines if any(not line.lstrip().startswith("#") for line in lines) else [*lines, "pass"]

    def _new(self, stem: str) -> str:
        self._count += 1
        return f"{stem}{self._count}"

    def _opening(self, scope: Scope) -> Lines:
        """Program ids, and the dims of a ref by name."""
        dice, lines = self.dice, list[str]()
        for axis in range(len(scope.grid)):
            name = ("i", "j", "step")[axis]
            lines.append(f"{name} = pl.program_id({dice.pick(str(axis), f'axis={axis}')})")
            scope.traced += (name,)
        refs = [ref for ref in scope.refs if ref.is_array and len(ref.shape) == 2]
        if refs and dice.chance(0.25):
            ref = dice.choice(refs)
            lines.append(f"rows, cols = {ref.name}.shape")
            for name, dim in zip(("rows", "cols"), ref.shape, strict=True):
                scope.numbers[dim] = (*scope.numbers.get(dim, ()), name)
        return lines

    def _fault(self, scope: Scope) -> Lines:
        dice = self.dice
        lines = dice.weighted(FAULTS)(Values(dice, scope))
        if lines is None:
            return []
        self.pending = False
        return lines

    def _store(self, scope: Scope, depth: int) -> Lines:
        made = good_store(Values(self.dice, scope))
        return [made] if made else self._bind(scope, depth)

    def _bind(self, scope: Scope, depth: int) -> Lines:
        """A value gets a name."""
        dice, values = self.dice, Values(self.dice, scope)
        dtype = dice.weighted({"f32": 6, "i32": 2, "bf16": 2})
        shapes = [ref.shape for ref in scope.refs if ref.is_array and ref.dtype == dtype] or [(8, 128)]
        shape = dice.pick(dice.choice(shapes), dice.choice(shapes), (), (8, 128))
        name = self._new("v")
        line = f"{name} = {values.of(shape, dtype, 2)}"
        scope.bound.append(Bound(name, shape, dtype))
        return [line]

    def _index(self, scope: Scope, depth: int) -> Lines:
        """A traced integer gets a name."""
        dice, values = self.dice, Values(self.dice, scope)
        refs = scope.those("smem", "vmem", dtypes=("i32",))
        name = self._new("idx")
        if refs and dice.chance(0.7):
            ref = dice.choice(refs)
            line = f"{name} = {values.load(ref, values.indexers.scalar(ref))}"
        elif scope.traced:
            traced = dice.choice(scope.traced)
            line = f"{name} = {dice.pick(f'{traced} * 2', f'{traced} % 4', f'{traced} + 1', f'jnp.minimum({traced}, 3)', f'pl.multiple_of({traced} * 8, 8)')}"
        else:
            line = f"{name} = jnp.int32(1)"
        scope.traced += (name,)
        return [line]

    def _copy(self, scope: Scope, depth: int) -> Lines:
        """One ref, or a part of it, is copied to another."""
        dice = self.dice
        refs = [ref for ref in scope.refs if ref.space in ("vmem", "any", "hbm") and ref.shape and ref.dtype != "bool"]
        dice.shuffle(refs)
        for target in refs:
            for source in refs:
                if (
                    source is target
                    or source.dtype != target.dtype
                    or ("hbm" not in (source.space, target.space) and "any" not in (source.space, target.space))
                ):
                    continue
                text = self._part_for(source, target, scope)
                if text is not None:
                    return self._copy_of(text, target.name, scope)
        return self._store(scope, depth)

    def _part_for(self, source: Ref, target: Ref, scope: Scope) -> str | None:
        dice = self.dice
        index = dice.choice(scope.traced) if scope.traced and dice.chance(0.6) else "0"
        if source.shape == target.shape:
            return source.name
        if source.shape[1:] == target.shape:
            return f"{source.name}.at[{index}]"
        if source.shape[1:] == target.shape[1:] and source.shape[0] > target.shape[0]:
            return f"{source.name}.at[pl.ds({index} * {target.shape[0]}, {target.shape[0]})]"
        return None

    def _copy_of(self, source: str, target: str, scope: Scope) -> Lines:
        dice = self.dice
        sems = [ref for ref in scope.refs if ref.space == "dma_sem"]
        if not sems or dice.chance(0.4):
            return [f"pltpu.sync_copy({source}, {target})"]
        sem = sems[0].name if not sems[0].array else f"{sems[0].name}.at[0]"
        if dice.chance(0.3):
            return [f"pltpu.async_copy({source}, {target}, {sem}).wait()"]
        name = self._new("copy")
        return [f"{name} = pltpu.make_async_copy({source}, {target}, {sem})", f"{name}.start()", f"{name}.wait()"]

    def _idle(self, scope: Scope, depth: int) -> Lines:
        """What does nothing: comments, assertions, names for numbers."""
        dice = self.dice
        refs = [ref for ref in scope.refs if ref.is_array and ref.shape] or None
        if refs is None:
            return ["# nothing here"]
        ref = dice.choice(refs)
        name = self._new("n")
        return dice.pick(
            [f"# {ref.name} holds one block"], [f"assert {ref.name}.shape[0] == {ref.shape[0]}"], [f"{name} = {ref.name}.shape[-1] // 2"],
            [f"if {ref.name}.dtype != jnp.{DTYPES[ref.dtype]}:", "    raise TypeError('not the dtype of this kernel')"], [f"{name} = None"],
            [f"{name} = len({ref.name}) * {ref.name}.ndim"], ['"""One more note."""'],
        )  # fmt: skip

    def _trap(self, scope: Scope, depth: int) -> Lines:
        """What looks wrong and is not: dead loads, and faults that are never traced."""
        dice, values = self.dice, Values(self.dice, scope)
        ref = dice.choice([ref for ref in scope.refs if ref.is_array])
        name = self._new("dead")
        indexer = values.indexers.any(ref)
        load = values.load(ref, indexer)
        target = [r for r in scope.those("vmem", dtypes=("f32",)) if r.shape == indexer.shape]
        dead = [[f"{name} = {load}"], [f"{name} = ({load}).shape"], [f"{name} = {load}", f"del {name}"]]
        if target:
            dead.append([f"{target[0].name}[...] = jnp.zeros_like({load}, dtype=jnp.float32)"])
        if dice.chance(0.5):
            return dice.choice(dead)
        fault = dice.weighted(FAULTS)(values) or ["pass"]
        never = [flag if not value else f"not {flag}" for flag, value in scope.flags] or ["False"]
        if dice.chance(0.5):
            return [f"if {dice.choice(never)}:", *indented(fault)]
        return [f"@pl.when({dice.choice(never)})", f"def {self._new('never_')}():", *indented(fault)]

    def _flow(self, scope: Scope, depth: int) -> Lines:
        dice = self.dice
        if depth == 0:
            return self._store(scope, depth)
        kind = dice.weighted({
            "when": 6, "fori": 4, "loop": 2, "while": 1, "cond": 2, "for": 3, "if": 3, "helper": 3, "scoped": 2, "nested": 1.5, "refs": 1, "carry": 1.5, "tile": 1,
            "dead_loop": 0.5, "with": 0.5, "pipeline": 1,
        })  # fmt: skip
        return getattr(self, f"_flow_{kind}")(scope, depth - 1)

    def _condition(self, scope: Scope) -> str:
        """A traced or a Python boolean."""
        dice, values = self.dice, Values(self.dice, scope)
        made = [f"{dice.choice(scope.traced)} {dice.pick('==', '>', '<', '!=')} {dice.pick('0', '1', '2')}"] if scope.traced else ["True"]
        made += [f"{values.load(ref, values.indexers.scalar(ref))} > 0" for ref in scope.those("smem", dtypes=("i32", "f32"))[:1]]
        made += ["pl.program_id(0) == pl.num_programs(0) - 1"] if scope.grid else []
        made += [f"jnp.logical_and({made[0]}, {made[-1]})"] if scope.traced else []
        return dice.choice(made)

    def _flow_when(self, scope: Scope, depth: int) -> Lines:
        name = self.dice.pick("_", self._new("when_"))
        return [f"@pl.when({self._condition(scope)})", f"def {name}():", *indented(self.block(scope.inner(), depth))]

    def _traced_loop(self, scope: Scope, name: str, **changes: object) -> Scope:
        return scope.inner(traced=(*scope.traced, name), **changes)

    def _flow_fori(self, scope: Scope, depth: int) -> Lines:
        dice, name, index = self.dice, self._new("body"), dice_name(self.dice)
        inner = self.block(self._traced_loop(scope, index), depth)
        carry, result = dice.pick(("_", "None"), ("carry", "carry"), ("c", "c + 1"), ("_", "()"))
        start = {"None": "None", "()": "()", "carry": dice.pick("0", "None", "jnp.float32(0)"), "c + 1": "0"}[result]
        tail = dice.pick("", ", unroll=True") if dice.chance(0.3) else ""
        bounds = dice.pick("0, 4", "0, 2", "1, 3", f"0, {dice.choice(scope.traced)}" if scope.traced and not tail else "0, 3")
        lines = [f"def {name}({index}, {carry}):", *indented(inner), f"    return {result}", ""]
        return [*lines, f"{dice.pick('lax', 'jax.lax')}.fori_loop({bounds}, {name}, {start}{tail})"]

    def _flow_dead_loop(self, scope: Scope, depth: int) -> Lines:
        """A loop that loads, and whose result nobody uses."""
        values = Values(self.dice, scope)
        ref = self.dice.choice([ref for ref in scope.refs if ref.is_array])
        load = values.load(ref, values.indexers.any(ref))
        name = self._new("body")
        return [
            f"def {name}(k, total):",
            f"    return total + jnp.sum(({load}).astype(jnp.float32))",
            "",
            f"lax.fori_loop(0, 4, {name}, jnp.float32(0))",
        ]

    def _flow_carry(self, scope: Scope, depth: int) -> Lines:
        """A loop that sums up parts of a ref, and its result."""
        dice, name, index = self.dice, self._new("body"), dice_name(self.dice)
        inner = self._traced_loop(scope, index)
        shape = dice.pick((8, 128), (), (4, 128))
        value = Values(dice, inner).of(shape, "f32", 1)
        start = Values(dice, scope).new(shape, "f32")
        total = self._new("total")
        scope.bound.append(Bound(total, shape, "f32"))
        first = self.block(inner, depth, 1) if dice.chance(0.3) else []
        return [
            f"def {name}({index}, acc):",
            *indented(first),
            f"    return acc + {value}",
            "",
            f"{total} = lax.fori_loop(0, 4, {name}, {start})",
        ]

    def _flow_loop(self, scope: Scope, depth: int) -> Lines:
        index = dice_name(self.dice)
        head = self.dice.pick("@pl.loop(0, 4)", "@pl.loop(0, 8, step=2)", "@pl.loop(1, 3)", "@pl.loop(0, 4, unroll=2)")
        return [head, f"def {self._new('loop_')}({index}):", *indented(self.block(self._traced_loop(scope, index), depth))]

    def _flow_while(self, scope: Scope, depth: int) -> Lines:
        name = self._new("body")
        inner = self.block(self._traced_loop(scope, "turn"), depth)
        return [
            f"def {name}(turn):",
            *indented(inner),
            "    return turn + 1",
            "",
            f"lax.while_loop(lambda turn: turn < 3, {name}, {self.dice.pick('0', 'jnp.int32(0)')})",
        ]

    def _flow_cond(self, scope: Scope, depth: int) -> Lines:
        yes, no = self._new("then"), self._new("other")
        lines = [f"def {yes}():", *indented(self.block(scope.inner(), depth, 2)), ""]
        lines += [f"def {no}():", *indented(self.block(scope.inner(), depth, 1) if self.dice.chance(0.5) else ["pass"]), ""]
        return [*lines, f"lax.cond({self._condition(scope)}, {yes}, {no})"]

    def _flow_for(self, scope: Scope, depth: int) -> Lines:
        dice, name, count = self.dice, self._new("k"), self.dice.pick(1, 2, 3)
        head = dice.pick(
            f"for {name} in range({count}):", f"for {name} in range({count}):", f"for {name}, scale in enumerate({[0.5] * count}):"
        )
        inner = scope.inner(static=(*scope.static, (name, count - 1)), under_python_loop=True)
        return [head, *indented(self.block(inner, depth, 2))]

    def _flow_if(self, scope: Scope, depth: int) -> Lines:
        dice = self.dice
        tests = [(name, value) for name, value in scope.flags]
        tests += [(f"{ref.name}.shape[0] == {ref.shape[0]}", True) for ref in scope.refs if ref.is_array and ref.shape][:2]
        tests += [(f"{ref.name}.ndim > 2", len(ref.shape) > 2) for ref in scope.refs if ref.is_array][:1]
        test, value = dice.choice(tests or [("True", True)])
        if dice.chance(0.3):
            test, value = f"not {test}" if " " not in test else f"not ({test})", not value
        taken = indented(self.block(scope.inner(), depth, 2))
        wrong = indented(dice.weighted(FAULTS)(Values(dice, scope)) or ["pass"])
        if value:
            return [f"if {test}:", *taken, *(["else:", *wrong] if dice.chance(0.4) else [])]
        return [f"if {test}:", *wrong, "else:", *taken]

    def _flow_with(self, scope: Scope, depth: int) -> Lines:
        return ['with jax.named_scope("part"):', *indented(self.block(scope.inner(), depth, 2))]

    def _flow_scoped(self, scope: Scope, depth: int) -> Lines:
        dice, name, buffer = self.dice, self._new("scoped"), self._new("buf_")
        space = dice.weighted({"vmem": 4, "smem": 2})
        shape = dice.pick((8, 128), (1, 128), (16, 128)) if space == "vmem" else dice.pick((4,), (1, 1), (2,))
        dtype = dice.pick("f32", "f32", "i32")
        values = Values(dice, scope)
        made = f"pltpu.{space.upper()}({values.shape(shape)}, {values.dtype(dtype)})"
        inner = scope.inner(refs=(*scope.refs, Ref(buffer, "scratch", shape, dtype, space)))
        body = self.block(inner, depth)
        if dice.chance(0.3):
            return [f"@functools.partial(pl.run_scoped, {buffer}={made})", f"def {name}({buffer}):", *indented(body)]
        last = dice.pick(f"pl.run_scoped({name}, {made})", f"pl.run_scoped({name}, {buffer}={made})")
        return [f"def {name}({buffer}):", *indented(body), "", last]

    def _flow_pipeline(self, scope: Scope, depth: int) -> Lines:
        """A pipeline over refs outside of VMEM, with blocks of them in its own body."""
        dice, name = self.dice, self._new("stage")
        outside = [
            ref for ref in scope.those("any", "hbm", dtypes=("f32", "i32", "bf16")) if len(ref.shape) == 2 and ref.shape[1] % 128 == 0
        ]
        if not outside:
            return self._store(scope, depth)
        source, target = dice.choice(outside), dice.choice(outside)
        blocks = [
            Ref(f"{stem}_ref", role, (8, 128), ref.dtype, "vmem")
            for stem, role, ref in (("in", "input", source), ("out", "output", target))
        ]
        spec = dice.pick("pl.BlockSpec((8, 128), lambda n: (n, 0))", "pl.BlockSpec(block_shape=(8, 128), index_map=lambda n: (0, 0))")
        body = self.block(Scope(refs=tuple(blocks), traced=scope.traced), depth)
        call = f"pltpu.emit_pipeline({name}, grid=({source.shape[0] // 8},), in_specs=[{spec}], out_specs=[{spec}])({source.name}, {target.name})"
        return [f"def {name}(in_ref, out_ref):", *indented(body), "", call]

    def _flow_nested(self, scope: Scope, depth: int) -> Lines:
        """A function in the kernel, called once or twice."""
        dice, name = self.dice, self._new("step_")
        inner = self._traced_loop(scope, "pos")
        argument = dice.choice(scope.traced) if scope.traced else "jnp.int32(1)"
        body = self.block(inner, depth)
        calls = [f"{name}({argument})", f"{name}(pos={argument})"][: dice.randint(1, 2)]
        return [f"def {name}(pos):", *indented(body), "", *calls]

    def _flow_helper(self, scope: Scope, depth: int) -> Lines:
        """A function of the module that is given refs."""
        dice, name = self.dice, self._new("helper")
        refs = [ref for ref in scope.refs if ref.is_array]
        handed = dice.sample(refs, min(len(refs), dice.randint(1, 3)))
        inside = tuple(replace(ref, name=f"{parameter}_ref") for ref, parameter in zip(handed, ("src", "dst", "extra"), strict=False))
        inner = Scope(refs=inside, traced=("pos",), flags=())
        body = self.block(inner, depth)
        head = ["@jax.jit"] if dice.chance(0.1) and not any("pl.when" in line for line in body) else []
        self.helpers.append([*head, f"def {name}({', '.join(ref.name for ref in inside)}, pos):", *indented(body)])
        given = [*(ref.name for ref in handed), dice.choice(scope.traced) if scope.traced else "jnp.int32(0)"]
        if dice.chance(0.2) and not head:
            given = [*given[:-1], f"pos={given[-1]}"]
        return [f"{name}({', '.join(given)})"]

    def _flow_tile(self, scope: Scope, depth: int) -> Lines:
        """A function that gives back a part of a ref."""
        dice, name, result = self.dice, self._new("tile"), self._new("v")
        refs = scope.those("vmem", dtypes=("f32", "i32", "bf16"))
        refs = [ref for ref in refs if ref.shape]
        if not refs:
            return self._store(scope, depth)
        ref = dice.choice(refs)
        values = Values(dice, Scope(refs=(replace(ref, name="ref"),), traced=("pos",)))
        indexer = values.indexers.any(values.scope.refs[0])
        self.helpers.append([f"def {name}(ref, pos):", f"    return {values.load(values.scope.refs[0], indexer)}"])
        scope.bound.append(Bound(result, indexer.shape, ref.dtype))
        return [f"{result} = {name}({ref.name}, {dice.choice(scope.traced) if scope.traced else '0'})"]

    def _flow_refs(self, scope: Scope, depth: int) -> Lines:
        """The same statements for several refs of one kind."""
        groups: dict[tuple[object, ...], list[Ref]] = {}
        for ref in scope.refs:
            if ref.is_array:
                groups.setdefault((ref.shape, ref.dtype, ref.space, ref.array), []).append(ref)
        group = max(groups.values(), key=len)
        if len(group) < 2:
            return self._store(scope, depth)
        inner = scope.inner(refs=(*scope.refs, replace(group[0], name="each")), under_python_loop=True)
        return [f"for each in ({', '.join(ref.name for ref in group)}):", *indented(self.block(inner, depth, 2))]


def dice_name(dice: Dice) -> str:
    """A name for a loop index."""
    return dice.pick("k", "t", "n", "r")

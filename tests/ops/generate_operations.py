"""Write what the installed JAX says into ``pallas_lsp/data/operations.toml``, beside what the other versions said.

    python tests/ops/generate_operations.py pallas_lsp/data/operations.toml

Every public array function is put into a kernel with a few plain arguments, and the kernel is lowered for TPU. A function that is
refused whatever the arguments, for a reason that has nothing to do with shapes, is written down: for all dtypes or for some.
"""

from __future__ import annotations

import ast
import inspect
import os
import re
import sys
import tomllib
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import jax.scipy.special
from jax.experimental import pallas as pl
from referee import on_chip

MODULES = ("jax.numpy", "jax.lax", "jax.nn", "jax.scipy.special", "jax.numpy.linalg", "jax.numpy.fft")
DTYPES = ("float32", "bfloat16", "float16", "int32", "int16", "int8", "uint32", "uint16", "uint8", "bool")
TEMPLATES = ("{}(x)", "{}(x, y)", "{}(x, 1)", "{}(x, y, y)")
SHAPES = ((8, 128), (128, 128), (4, 8, 128))

# Functions that need other arguments, and keywords that decide by themselves.
EXPRESSIONS = """
jax.nn.gelu(x, approximate=False)
jax.numpy.pad(x, 8, mode="reflect")
jax.numpy.pad(x, 8, mode="symmetric")
jax.lax.dynamic_slice(x, (0,) * x.ndim, x.shape)
jax.lax.dynamic_slice_in_dim(x, 0, 4)
jax.lax.dynamic_index_in_dim(x, 0)
jax.lax.dynamic_index_in_dim(x, 0, 0, keepdims=False)
jax.lax.dynamic_update_slice(x, y, (0,) * x.ndim)
jax.lax.dynamic_update_slice_in_dim(x, y, 0, 0)
jax.lax.dynamic_update_index_in_dim(x, y[0], 0, 0)
jax.lax.reduce_window(x, 0, jax.lax.add, (1,) * x.ndim, (1,) * x.ndim, "VALID")
jax.lax.rev(x, (0,))
jax.lax.reduce_prod(x, (0,))
jax.lax.reduce_max(x, (0,))
jax.lax.reduce_min(x, (0,))
jax.lax.reduce_sum(x, (0,))
jax.lax.reduce_xor(x, (0,))
jax.lax.argmax(x, 0, jnp.int32)
jax.lax.argmin(x, 0, jnp.int32)
jax.lax.conv_general_dilated(x[None, None, 0, :8] if x.ndim > 2 else x[None, None], y[None, None, 0, :3, :3] if x.ndim > 2 else y[None, None, :3, :3], (1, 1), "VALID")
jax.lax.complex(x, y)
jax.lax.conj(x)
jax.lax.approx_max_k(x, 4)
jax.lax.approx_min_k(x, 4)
jax.lax.reduce_precision(x, 5, 10)
jax.lax.ragged_dot(x, y, jnp.zeros((1,), jnp.int32))
jax.lax.scatter(x, jnp.zeros((1, 1), jnp.int32), y[:1], jax.lax.ScatterDimensionNumbers(tuple(range(1, x.ndim + 0)), (0,), (0,)))
jax.lax.conv(x[None, None, 0, :8] if x.ndim > 2 else x[None, None], y[None, None, 0, :3, :3] if x.ndim > 2 else y[None, None, :3, :3], (1, 1), "VALID")
jax.lax.conv_transpose(x[None, None, 0, :8] if x.ndim > 2 else x[None, None], y[None, None, 0, :3, :3] if x.ndim > 2 else y[None, None, :3, :3], (1, 1), "VALID")
jax.lax.conv_general_dilated_patches(x[None, None] if x.ndim == 2 else x[None], (3, 3), (1, 1), "VALID")
jax.numpy.cumulative_sum(x, axis=0)
jax.numpy.cumulative_prod(x, axis=0)
jax.numpy.unpackbits(x)
jax.numpy.vander(x[0, :8] if x.ndim == 2 else x[0, 0, :8], 4)
jax.numpy.polymul(x.reshape(-1)[:128], y.reshape(-1)[:8])
jax.numpy.polyfit(x.reshape(-1)[:128], y.reshape(-1)[:128], 2)
jax.numpy.put_along_axis(x, jnp.zeros(x.shape, jnp.int32), y, 0, inplace=False)
jax.numpy.union1d(x, y, size=4)
jax.numpy.intersect1d(x, y, size=4)
jax.numpy.setdiff1d(x, y, size=4)
jax.numpy.setxor1d(x, y, size=4)
jax.numpy.unique_values(x, size=4)
jax.numpy.unique_counts(x, size=4)
jax.numpy.unique_inverse(x, size=4)
jax.numpy.unique_all(x, size=4)
jax.numpy.compress(jnp.ones(8, bool), x.reshape(-1), size=4)
jax.numpy.extract(x > 0, y, size=4)
jax.numpy.cross(x[..., :3], y[..., :3])
jax.numpy.linalg.cross(x[..., :3], y[..., :3])
jax.numpy.linalg.outer(x.reshape(-1)[:128], y.reshape(-1)[:128])
jax.scipy.special.ndtri(x)
jax.scipy.special.erfcx(x)
jax.scipy.special.dawsn(x)
jax.numpy.convolve(x.reshape(-1)[:128], y.reshape(-1)[:8])
jax.numpy.correlate(x.reshape(-1)[:128], y.reshape(-1)[:8])
jax.numpy.quantile(x, 0.5)
jax.numpy.nanquantile(x, 0.5)
jax.numpy.unique(x, size=4)
jax.numpy.nonzero(x, size=4)
jax.numpy.flatnonzero(x, size=4)
jax.numpy.argwhere(x, size=4)
jax.numpy.searchsorted(x.reshape(-1)[:128], y.reshape(-1)[:8], method="scan")
jax.numpy.searchsorted(x.reshape(-1)[:128], y.reshape(-1)[:8], method="sort")
jax.numpy.rot90(x, k=1)
jax.numpy.rot90(x, k=2)
jax.numpy.rot90(x, k=3)
jax.numpy.rot90(x, k=-1)
jax.numpy.digitize(x, y.reshape(-1)[:128])
jax.numpy.interp(x, y.reshape(-1)[:128], y.reshape(-1)[:128])
jax.numpy.bincount(x.reshape(-1)[:128], length=8)
jax.numpy.insert(x, 0, 0, axis=0)
jax.numpy.piecewise(x, [x > 0], [0, 1])
jax.numpy.select([x > 0, y > 0], [x, y], 0)
jax.ops.segment_sum(x, jnp.zeros(x.shape[:1], jnp.int32), num_segments=8)
jax.ops.segment_max(x, jnp.zeros(x.shape[:1], jnp.int32), num_segments=8)
jax.ops.segment_min(x, jnp.zeros(x.shape[:1], jnp.int32), num_segments=8)
jax.ops.segment_prod(x, jnp.zeros(x.shape[:1], jnp.int32), num_segments=8)
jax.pure_callback(lambda v: v, x, x)
jax.random.split(key)
jax.random.randint(key, x.shape, 0, 10)
jax.random.permutation(key, x)
jax.random.choice(key, x.reshape(-1)[:128], (8,))
jax.random.gamma(key, 2.0, x.shape)
jax.random.poisson(key, 2.0, x.shape)
jax.random.dirichlet(key, jnp.ones((4,)), x.shape)
jax.random.beta(key, 2.0, 2.0, x.shape)
jax.random.truncated_normal(key, -1.0, 1.0, x.shape)
""".strip().splitlines()
# Keywords of the expressions that are what the refusal depends on.
DECISIVE = ("approximate", "mode", "method", "k")
# What is refused with the plain arguments above but not with others, and what is no array function.
EXCEPT = frozenset(
    {
        "jax.numpy.array", "jax.numpy.asarray", "jax.numpy.diag", "jax.numpy.take", "jax.numpy.polyval", "jax.numpy.linspace",
        "jax.numpy.logspace", "jax.numpy.geomspace", "jax.numpy.histogram", "jax.numpy.histogram_bin_edges", "jax.numpy.histogram2d",
        "jax.numpy.histogramdd", "jax.numpy.partition", "jax.numpy.argpartition", "jax.numpy.array_repr", "jax.numpy.array_str",
        "jax.numpy.save", "jax.numpy.savez", "jax.numpy.load", "jax.numpy.from_dlpack", "jax.numpy.fromfile", "jax.lax.psum",
        "jax.lax.pmax", "jax.lax.pmin", "jax.lax.reshape", "jax.lax.top_k", "jax.numpy.top_k", "jax.lax.approx_max_k", "jax.lax.reduce",
        "jax.numpy.apply_along_axis", "jax.lax.random_gamma_grad", "jax.numpy.linalg.det", "jax.numpy.linalg.slogdet",
        "jax.numpy.linalg.norm", "jax.numpy.packbits", "jax.numpy.digitize",
    }
)  # fmt: skip
# JAX's words → the reason that the table gives.
REASONS = (
    (r"Unimplemented primitive in Pallas TPU lowering for tc: ([\w-]+)\.", "primitive {0}"),
    (r"Only float32 is supported$|for reduce_index", "argmax"),
    (r"Only arrays with 32-bit element types can be converted to scalars", "scalar"),
    (r"Reductions over .* not implemented", "reduction"),
    (r"'tpu.weird' op Input type must be F32", "is_finite"),
    (r"`nextafter` only supports", "nextafter"),
    (r"erf_inv_lowering_helper not implemented", "erf_inv"),
    (r"^bool$", "extremum"),
    (r"failed to verify 'elementType': VectorElementTypeInterface", "complex"),
    (r"'tpu.iota' op result #0 must be vector of integer", "iota"),
    (r"vector types must have positive constant sizes", "empty"),
    (r"select_n only supported with <= 2 arguments", "select_n"),
    (r"Only take_along_axis-like gathers supported", "gather"),
)


@dataclass
class Answers:
    """What JAX said of a function: per dtype the reasons of all its calls that trace, None for one that lowers."""

    of_dtype: dict[str, set[str | None]] = field(default_factory=lambda: defaultdict(set))

    def refusals(self) -> dict[str, list[str]]:
        """Reason → the dtypes for which every call is refused for it; ``["*"]`` where that is every dtype that traces."""
        found: dict[str, list[str]] = defaultdict(list)
        for dtype, reasons in self.of_dtype.items():
            # Reduced to a scalar a narrow array is refused for that; what else refuses it is what the function is about.
            named = reasons - {"scalar"} or reasons
            if len(named) == 1 and (reason := next(iter(named))):
                found[reason].append(dtype)
        return {reason: ["*"] if len(dtypes) == len(self.of_dtype) > 1 else dtypes for reason, dtypes in found.items()}


def reason_of(function: Callable[..., Any], shape: tuple[int, ...], dtype: str) -> str | None:
    """Why the kernel that stores ``function(x, y)`` is not lowered, None when it is. Raises LookupError when it does not even trace."""
    operand = jax.ShapeDtypeStruct(shape, dtype)
    try:
        results = [leaf for leaf in jax.tree.leaves(jax.eval_shape(function, operand, operand)) if hasattr(leaf, "shape")]
    except Exception as error:
        raise LookupError from error
    stored = [jax.ShapeDtypeStruct(leaf.shape or (1, 1), leaf.dtype) for leaf in results]
    if not stored or any(0 in leaf.shape or jnp.issubdtype(leaf.dtype, jax.dtypes.extended) for leaf in stored):
        raise LookupError

    def kernel(x_ref: Any, y_ref: Any, *out_refs: Any) -> None:
        values = [leaf for leaf in jax.tree.leaves(function(x_ref[...], y_ref[...])) if hasattr(leaf, "shape")]
        for ref, value in zip(out_refs, values, strict=True):
            ref[...] = value if value.shape else jnp.broadcast_to(value, (1, 1))

    try:
        traced = jax.jit(lambda x, y: pl.pallas_call(kernel, out_shape=stored)(x, y)).trace(operand, operand)
    except Exception as error:
        raise LookupError from error
    try:
        traced.lower(lowering_platforms=("tpu",))
    except Exception as error:
        message = str(error)
        for pattern, reason in REASONS:
            if match := re.search(pattern, message):
                return reason.format(*match.groups())
        return f"? {message[:60]}"
    return None


def answers_of(
    expressions: list[str],
    dtypes: tuple[str, ...] = DTYPES,
    shapes: tuple[tuple[int, ...], ...] = SHAPES,
    ask: Callable[[Callable[..., Any], tuple[int, ...], str], str | None] = reason_of,
) -> Answers:
    """What JAX says of one function, written out as these calls of ``x`` and ``y``; ``ask`` gives its reason to refuse one."""
    answers = Answers()
    for text in expressions:
        for dtype in dtypes:
            if dtype == "bool" and text.endswith(", 1)"):
                continue  # with a number it is an integer
            for shape in shapes:
                try:
                    answers.of_dtype[dtype].add(ask(_function(text), shape, dtype))
                except LookupError:
                    continue
    answers.of_dtype = defaultdict(set, {dtype: reasons for dtype, reasons in answers.of_dtype.items() if reasons})
    return answers


def _function(text: str) -> Callable[..., Any]:
    code = compile(text, "call", "eval")

    def call(x: Any, y: Any) -> Any:
        key = jax.random.key(0) if "key" in text else None
        return eval(code, {"jax": jax, "jnp": jnp, "x": x, "y": y, "key": key})

    return call


def spelled(text: str) -> str:
    """The function of a call, with the keywords that decide: ``jax.nn.gelu(approximate=False)``."""
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    name = ast.unparse(call.func)
    parameters = list(inspect.signature(eval(name)).parameters.values()) if call.keywords else []
    decisive = []
    for keyword in call.keywords:
        if keyword.arg in DECISIVE:
            at = next(i for i, p in enumerate(parameters) if p.name == keyword.arg)
            optional = "?" if parameters[at].default == ast.literal_eval(keyword.value) else ""
            decisive.append(f"{keyword.arg}@{at}{optional}={ast.unparse(keyword.value)}")
    return f"{name}({','.join(decisive)})" if decisive else name


def calls() -> dict[str, list[str]]:
    """The calls to try, by the function as it is spelled in the table."""
    found: dict[str, list[str]] = defaultdict(list)
    for text in EXPRESSIONS:
        found[spelled(text)].append(text)
    for module in MODULES:
        for name in sorted(dir(sys.modules[module])):
            function = getattr(sys.modules[module], name, None)
            full = f"{module}.{name}"
            if name.startswith("_") or full in EXCEPT or full in found or inspect.isclass(function) or not callable(function):
                continue
            found[full] = [template.format(full) for template in TEMPLATES]
    return found


def refused() -> Iterator[tuple[str, str, str]]:
    """(reason, dtypes, function) for everything the installed JAX refuses."""
    with on_chip("v5e"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, texts in calls().items():
            if not any(answers_of(texts, (*DTYPES[:2], "int8", "uint32", "bool"), SHAPES[:2]).refusals()):
                continue  # nothing to look at more closely
            for reason, dtypes in answers_of(texts).refusals().items():
                if not reason.startswith("?") and reason != "scalar":
                    yield reason, " ".join(dtypes), name


def main(path: Path) -> None:
    path.write_text(updated(path, "generate_operations", "refused", "reason", refused()), encoding="utf-8")


def updated(path: Path, script: str, title: str, first: str, found: Iterable[tuple[str, str, str]]) -> str:
    """The table at ``path`` as text, with what the installed JAX says in place of what it said before."""
    rows: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    versions = {jax.__version__}
    if path.exists():
        old = tomllib.loads(path.read_text(encoding="utf-8"))
        versions |= set(old["versions"])
        for row in old[title]:
            for name in row["functions"].split():
                rows[row[first], row["dtypes"], name] = set(row["versions"].split()) - {jax.__version__}
    for key in found:
        rows[key].add(jax.__version__)
    return table_text(script, title, first, rows, sorted(versions))


def table_text(script: str, title: str, first: str, rows: dict[tuple[str, str, str], set[str]], versions: list[str]) -> str:
    """A table as text: one entry for what shares the field ``first``, dtypes and versions."""
    grouped: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for (value, dtypes, name), having in rows.items():
        if having:
            grouped[value, dtypes, " ".join(sorted(having))].append(name)
    lines = [f"# Written by tests/ops/{script}.py from what these versions of JAX lower for TPU; do not edit."]
    lines.append("versions = [" + ", ".join(f'"{version}"' for version in versions) + "]")
    for (value, dtypes, having), names in sorted(grouped.items()):
        lines += ["", f"[[{title}]]", f'{first} = "{value}"', f'dtypes = "{dtypes}"', f'versions = "{having}"']
        lines += ['functions = """', *wrapped(sorted(names)), '"""']
    return "\n".join(lines) + "\n"


def wrapped(names: list[str], width: int = 130) -> Iterator[str]:
    line = ""
    for name in names:
        if line and len(line) + len(name) >= width:
            yield line
            line = ""
        line += f" {name}" if line else name
    yield line


if __name__ == "__main__":
    main(Path(sys.argv[1]))

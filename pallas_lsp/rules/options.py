"""Compiler parameters, and what they say of the grid's dimensions.

Mirrors ``jax/_src/pallas/mosaic/lowering.py`` (``MosaicGridMapping``, ``_get_dimension_semantics``), ``jax/_src/tpu_custom_call.py``
(``_lower_to_custom_call_config``) and ``jax/_src/pallas/core.py`` (``CostEstimate``); its order of checks.
"""

from __future__ import annotations

from ..data import chips
from ..interpreter.call_events import Options
from ..interpreter.events import CallFault
from ..interpreter.values import Array, Library, Opaque, Unknown, Value
from ..kernels.parameters import field_of, position_of
from ..text.span import Location
from . import places, words
from .registry import Context, Finding, rule

TPU = "jax.experimental.pallas.tpu"
SEMANTICS = ("parallel", "arbitrary", "core_parallel", "subcore_parallel")


def _place(event: Options, name: str) -> Location:
    parameters = event.parameters
    if not isinstance(parameters, Opaque) or parameters.origin is None:
        return event.where.location
    return places.of_argument(parameters.origin, 99 if (position := position_of(name)) is None else position, name)


@rule("compiler-params-type", on=Options, also=(CallFault,), order=0, stage="lower")
def compiler_params_type(event: Options | CallFault, context: Context) -> Finding | None:
    """Compiler parameters that are no ``pltpu.CompilerParams``."""
    if isinstance(event, CallFault):
        if event.kind != "gpu-parameters":
            return None
        what = "these compiler parameters are a GPU's, but the call has memory or prefetched operands of a TPU: `pltpu.CompilerParams` are its own"
        message = None if context.jax(until="0.12") else "Compiler params for platform gpu cannot be used for tpu lowering."
        return Finding(event.where.location, what, jax_message=message)
    for name, value, instead in (
        ("compiler_params", event.parameters, "`pltpu.CompilerParams(...)`"),
        ("cost_estimate", event.cost, "`pl.CostEstimate(...)`"),
    ):
        if isinstance(value, dict):
            return Finding(event.where.location, f"`{name}` is a dict: it is {instead}", jax_message="unhashable type: 'dict'")
    return None


def _semantics(event: Options) -> tuple[Value, ...] | None:
    """What is said of each dimension; a string is its letters."""
    value = field_of(event.parameters, "dimension_semantics")
    return tuple(value) if isinstance(value, tuple | list | str) else None


@rule("dimension-semantics-length", on=Options, order=10, stage="lower")
def dimension_semantics_length(event: Options, context: Context) -> Finding | None:
    """There are more or fewer dimension semantics than grid dims."""
    semantics = _semantics(event)
    if event.kind != "pallas_call" or semantics is None or event.grid is None or len(semantics) == len(event.grid):
        return None
    grid = f"the grid {words.grid(event.grid)} has {words.count(len(event.grid), 'dim')}" if event.grid else "the call has no grid"
    value = field_of(event.parameters, "dimension_semantics")
    what = f"the string {value!r} is taken apart into {len(value)} letters" if isinstance(value, str) else words.count(len(semantics), "entry")
    if not isinstance(value, str):
        what = f"`dimension_semantics` has {what.replace('entrys', 'entries')}"
    return Finding(
        _place(event, "dimension_semantics"),
        f"{what}, but {grid}",
        jax_message="Length of grid does not match length of dimension semantics. "
        f"len(grid)={len(event.grid)}, len(dimension_semantics)={len(semantics)}",
    )


def name_of(entry: Value) -> str | None:
    """The name of a dimension semantic: a string or an enum member; None for what is not known."""
    if isinstance(entry, str):
        return entry
    return entry.name.rpartition(".")[2].lower() if isinstance(entry, Library) else "arbitrary" if entry is None else None


@rule("dimension-semantics-value", on=Options, order=20, stage="lower")
def dimension_semantics_value(event: Options, context: Context) -> Finding | None:
    """A dimension semantic that the compiler does not know."""
    if event.kind != "pallas_call":
        return None
    wrong = next((entry for entry in _semantics(event) or () if isinstance(entry, str) and entry not in SEMANTICS), None)
    if wrong is None:
        return None
    return Finding(
        _place(event, "dimension_semantics"),
        f"`{wrong}` is no dimension semantic: there are `parallel`, `arbitrary`, `core_parallel` and `subcore_parallel`",
        jax_message=f'Unable to parse attribute:\nerror: "#tpu.dimension_semantics<{wrong}>":1:26: expected ::mlir::tpu::DimensionSemantics to be '
        "one of: parallel, arbitrary, core_parallel, subcore_parallel",
    )


@rule("dimension-semantics-core-parallel", on=Options, order=30, stage="lower")
def dimension_semantics_core_parallel(event: Options, context: Context) -> Finding | None:
    """Two dims of a grid are ``core_parallel``."""
    names = [name_of(entry) for entry in _semantics(event) or ()]
    if event.kind != "pallas_call" or names.count("core_parallel") < 2:
        return None
    return Finding(
        _place(event, "dimension_semantics"),
        f"{names.count('core_parallel')} dims of the grid are `core_parallel`: the cores of a chip share out one dim",
        jax_message="A single Mosaic subkernel cannot contain multiple core sharding dimensions.",
    )


@rule("plkernel-dimension-semantics", on=Options, order=5, stage="lower")
def plkernel_dimension_semantics(event: Options, context: Context) -> Finding | None:
    """A kernel of a mesh has dimension semantics."""
    if event.kind != "kernel" or field_of(event.parameters, "dimension_semantics") is None or isinstance(field_of(event.parameters, "dimension_semantics"), Unknown):
        return None
    return Finding(
        _place(event, "dimension_semantics"),
        "`pl.kernel` runs over a mesh and has no grid that `dimension_semantics` could be about",
        jax_message="mpmd_map does not support dimension_semantics= in compiler_params=",
    )


@rule("collective-id-without-barrier", on=Options, order=40, stage="lower")
def collective_id_without_barrier(event: Options, context: Context) -> Finding | None:
    """``collective_id`` and the barrier semaphore do not come together."""
    value = field_of(event.parameters, "collective_id")
    if event.barrier is None:
        return None
    if not event.barrier and isinstance(value, int) and not _allows(event):
        return Finding(
            _place(event, "collective_id"),
            f"`collective_id` is {value}, but the kernel does not use `pltpu.get_barrier_semaphore`, which it is for",
            jax_message="collective_id has to be unspecified or None when not using a custom barrier",
        )
    is_known = event.parameters is None or (isinstance(event.parameters, Opaque) and event.parameters.name == f"{TPU}.CompilerParams")
    if event.barrier and value is None and is_known and context.jax(until="0.11"):
        return Finding(
            event.where.location,
            "the kernel uses `pltpu.get_barrier_semaphore`, but no `collective_id` says which: `pltpu.CompilerParams(collective_id=0)`",
            jax_message="collective_id has to be specified when using a custom barrier",
        )
    return None


def _allows(event: Options) -> bool:
    value = field_of(event.parameters, "allow_collective_id_without_custom_barrier")
    return value is not None and value is not False


@rule("vmem-limit-not-int", on=Options, order=50, stage="lower")
def vmem_limit_not_int(event: Options, context: Context) -> Finding | None:
    """``vmem_limit_bytes`` is no Python int."""
    value = field_of(event.parameters, "vmem_limit_bytes")
    if not isinstance(value, float | str | Array):
        return None
    kind = {float: "float", str: "str"}.get(type(value), "numpy.int64")
    what = "an array or NumPy number" if isinstance(value, Array) else words.kind_of(value)
    return Finding(
        _place(event, "vmem_limit_bytes"),
        f"`vmem_limit_bytes` is {what}: it is a Python int, `int(...)` makes one",
        jax_message=f"vmem_limit_bytes must be an int: provided with a <class '{kind}'>.",
    )


@rule("core-parallel-exceeds-cores", on=Options, order=60, stage="compile")
def core_parallel_exceeds_cores(event: Options, context: Context) -> Finding | None:
    """A ``core_parallel`` dim is longer than the chip has cores, or ``subcore_parallel`` is asked of a TensorCore."""
    names = [name_of(entry) for entry in _semantics(event) or ()]
    if event.kind != "pallas_call" or event.grid is None or len(names) != len(event.grid):
        return None
    if "subcore_parallel" in names:
        what = f"dim {names.index('subcore_parallel')} of the grid is `subcore_parallel`: a TensorCore has no subcores, a SparseCore has"
        return Finding(_place(event, "dimension_semantics"), what, jax_message="subcore_parallel is only supported on SparseCore.")
    if names.count("core_parallel") != 1:
        return None
    axis = names.index("core_parallel")
    size, cores = event.where.facts.resolve(event.grid[axis]), chips.at_most(context.target, "cores")
    if not isinstance(size, int) or size <= cores:
        return None
    which = f"a {context.target} has {cores}" if context.target is not None else f"no known chip has more than {cores}"
    return Finding(
        _place(event, "dimension_semantics"),
        f"dim {axis} of the grid is `core_parallel` and has {size} steps, a core for each of them, but {which}",
        jax_message=f"Core-parallel dimension {axis} has iteration bound: {size}, which is greater than the number of active cores: {cores}.",
    )


@rule("cost-estimate-not-int", on=CallFault, order=80, stage="trace")
def cost_estimate_not_int(event: CallFault, context: Context) -> Finding | None:
    """A field of a cost estimate is no Python int."""
    if event.kind != "cost-estimate":
        return None
    name, value = event.detail
    return Finding(
        event.where.location,
        f"`{name}` of this cost estimate is {words.kind_of(value)}: it is a Python int, `int(...)` makes one",
        jax_message=f"All fields in CostEstimate must be ints. {name} is not an int: {type(value)}({words.literal(value)})",
    )

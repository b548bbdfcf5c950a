"""Arrays made of host data inside a kernel: JAX makes captured constants of them."""

from __future__ import annotations

from ..values import Array, Value
from .registry import FALLBACK, Call, models


@models("jax.numpy.array", "jax.numpy.asarray")
def _array(call: Call) -> Value:
    """``jnp.array`` of a list of numbers, or of a NumPy array, is older than the kernel that makes it; of a single number it is a
    literal.
    """
    result = FALLBACK[0](call)
    if (
        call.machine.kernel is not None
        and isinstance(result, Array)
        and result.shape
        and _is_host_data(call.get(0, "object", call.kwargs.get("a")))
    ):
        result.born = 0
    return result


def _is_host_data(value: Value) -> bool:
    if isinstance(value, tuple | list):
        return all(map(_is_host_data, value))
    return isinstance(value, bool | int | float) or (isinstance(value, Array) and not value.traced and bool(value.shape))

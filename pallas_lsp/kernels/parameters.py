"""The compiler parameters of a kernel call, and what they say of its memory."""

from __future__ import annotations

from ..data import chips
from ..interpreter.library.registry import TPU
from ..interpreter.values import Opaque, Value

_FIELDS = ("dimension_semantics", "allow_input_fusion", "vmem_limit_bytes", "collective_id")


def position_of(name: str) -> int | None:
    """The place of a field among the arguments of ``pltpu.CompilerParams``, None for one that is given by name."""
    return _FIELDS.index(name) if name in _FIELDS else None


def field_of(parameters: Value, name: str) -> Value:
    """A field of compiler parameters, None where it is not given or they are no parameters of a TPU."""
    if not isinstance(parameters, Opaque) or parameters.name != f"{TPU}.CompilerParams":
        return None
    position = position_of(name)
    in_place = position is not None and position < len(parameters.args)
    return parameters.args[position] if in_place and position is not None else parameters.kwargs.get(name)


def vmem_limit(parameters: Value, chip: str) -> int:
    """The bytes of VMEM that a kernel with these compiler parameters may use; the most there are where they are not known."""
    given, has = field_of(parameters, "vmem_limit_bytes"), chips.load_chips()[chip]
    if isinstance(given, int):
        return min(given, has["limit"])
    is_default = parameters is None or (isinstance(parameters, Opaque) and given is None)
    return has["scoped"] if is_default else has["limit"]

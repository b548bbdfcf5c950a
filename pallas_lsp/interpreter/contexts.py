"""What is known of the kernel, index map or pipeline whose body runs."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..text.span import Location
from .cores import TENSOR, Core
from .values import Value, next_birth


@dataclass(slots=True)
class KernelContext:
    """The kernel whose body runs: the call it belongs to, and whether JAX keeps unused loads in it.

    ``inside``: ``kernel``, ``index map``, ``pipeline`` (a body of ``emit_pipeline``) or ``mesh`` (a kernel of ``pl.kernel``); ``started``:
    the birth of the first array that can be its own. ``cores``: the sizes of the axes of a mesh of cores, as far as they are
    known; ``axes``: the named axes that it can use with their sizes, None where these are not known; ``core``: what it runs on;
    ``in_mesh``: it is a mesh's kernel, or a pipeline in one; ``in_parallel_loop``: what runs is the body of a ``plsc.parallel_loop``.
    """

    call: Location
    dead_code_kept: bool = False
    grid: Value = ()
    inside: str = "kernel"
    started: int = field(default_factory=next_birth)
    cores: dict[str, Value] = field(default_factory=dict)
    axes: dict[str, Value] | None = None
    core: Core = TENSOR
    in_mesh: bool = False
    in_parallel_loop: bool = False

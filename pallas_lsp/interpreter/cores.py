"""The kinds of cores that a kernel's body can run on.

Mirrors ``jax/_src/pallas/mosaic/core.py`` (``CoreType``) and the choice of lowering rules by it in
``jax/_src/pallas/mosaic/lowering.py``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Core:
    """``kind``: ``tensor``, or of a SparseCore the ``vector`` or the ``scalar`` subcore.

    ``registers``: a SparseCore's loads and stores are of one register each, for no layout passes are made; None where that is not known.
    """

    kind: str = "tensor"
    registers: bool | None = False

    @property
    def is_sparse(self) -> bool:
        """Whether it is a SparseCore's."""
        return self.kind != "tensor"


TENSOR = Core()
EVERY = ("tensor", "vector", "scalar")
SPARSE = ("vector", "scalar")

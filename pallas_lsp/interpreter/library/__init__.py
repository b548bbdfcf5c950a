"""Models of the functions that programs call, a module a topic. Importing the package fills the tables."""

from . import (
    arrays,
    containers,
    control,
    copies,
    dma,
    exports,
    host_data,
    kernels,
    loops,
    mesh_kernels,
    pipelines,
    python,
    specs,
    stdlib,
    transforms,
    trees,
)

__all__ = [
    "arrays",
    "containers",
    "control",
    "copies",
    "dma",
    "exports",
    "host_data",
    "kernels",
    "loops",
    "mesh_kernels",
    "pipelines",
    "python",
    "specs",
    "stdlib",
    "transforms",
    "trees",
]

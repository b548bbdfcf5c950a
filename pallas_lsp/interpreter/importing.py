"""Import statements, and the modules of the project behind them."""

from __future__ import annotations

import ast

from ..resolve.imports import STAR, LibraryName, ProjectAttribute, ProjectModule, Target, import_targets
from .frames import MISSING, Frame
from .library_names import library
from .machine import Machine
from .modules import ModuleFile
from .paths import Explorer, Path, PathEnd
from .statements import EXECUTE_ERRORS, executes
from .values import Imported, Library, ModuleValue, Unknown, Value

_WITHOUT_KERNELS = frozenset(
    [
        "absl",
        "aqt",
        "attr",
        "attrs",
        "beartype",
        "chex",
        "clu",
        "cloudpickle",
        "cv2",
        "datasets",
        "einops",
        "etils",
        "flax",
        "fsspec",
        "grpc",
        "h5py",
        "haiku",
        "huggingface_hub",
        "hypothesis",
        "jaxtyping",
        "keras",
        "matplotlib",
        "ml_collections",
        "mypy_extensions",
        "networkx",
        "numba",
        "omegaconf",
        "optax",
        "orbax",
        "packaging",
        "pandas",
        "PIL",
        "psutil",
        "pydantic",
        "pytest",
        "requests",
        "rich",
        "safetensors",
        "scipy",
        "seaborn",
        "sklearn",
        "tensorboard",
        "tensorflow",
        "tensorstore",
        "tiktoken",
        "torch",
        "torchax",
        "torch_xla",
        "tqdm",
        "transformers",
        "triton",
        "typing_extensions",
        "wandb",
        "yaml",
        "zstandard",
    ]
)


@executes(ast.Import, ast.ImportFrom)
def _import(machine: Machine, node: ast.Import | ast.ImportFrom, frame: Frame) -> None:
    for name, target in import_targets(node, frame.module.path, machine.project).items():
        if name == STAR:
            _import_star(machine, target, frame)
        else:
            frame.assign(name, bound_value(target, frame.module))


def bound_value(target: Target, importer: ModuleFile) -> Value:
    """What an import binds: a known library's name at once, anything else when it is first used."""
    if isinstance(target, LibraryName) and (target.is_known or not may_matter(target.dotted)):
        return library(target.dotted)
    return Imported(target, importer)


def may_matter(dotted: str) -> bool:
    """Whether a package may hold names of Pallas or kernels: the big libraries of the field do not."""
    return dotted.partition(".")[0] not in _WITHOUT_KERNELS


def imported_value(machine: Machine, name: Imported) -> Value:
    """The value of an imported name, its module run where that has not been done."""
    target = name.target
    if isinstance(target, ProjectModule):
        module = load_module(machine, target.path)
        return ModuleValue(module) if module is not None else Unknown(f"module {target.path} cannot be read", host=True)
    if isinstance(target, ProjectAttribute):
        module = load_module(machine, target.path)
        return module_attribute(machine, module, target.name) if module is not None else Unknown(f"`{target.name}` is not read", host=True)
    return _installed(machine, target, name.importer)


def _installed(machine: Machine, target: LibraryName, importer: ModuleFile) -> Value:
    """A name of a package that is neither the project's nor one we know: whoever can look it up says what it is, once."""
    if machine.installed is None:
        machine.unresolved.add(target.dotted)
        return Library(target.dotted)
    known = machine.looked_up.get(target.dotted)
    if known is None:
        found = machine.installed(target, importer.path)
        unnamed = found is None or found == target or (isinstance(found, LibraryName) and not found.is_known)
        value = Library(target.dotted) if unnamed or found is None else bound_value(found, importer)
        known = machine.looked_up[target.dotted] = imported_value(machine, value) if isinstance(value, Imported) else value
    return known


def _import_star(machine: Machine, target: Target, frame: Frame) -> None:
    if isinstance(target, LibraryName):
        frame.module.star_libraries.append(target)
        return
    module = load_module(machine, target.path)
    if module is None:
        return
    listed = module.frame.names.get("__all__")
    names = (
        [n for n in listed if isinstance(n, str)]
        if isinstance(listed, list | tuple)
        else [n for n in module.frame.names if not n.startswith("_")]
    )
    for name in names:
        if name in module.frame.names:
            frame.assign(name, module.frame.names[name])
    frame.module.star_libraries.extend(module.star_libraries)


def star_name(module: ModuleFile, name: str) -> Value | None:
    """The value of a name that a star import of a library brings in, None when none does."""
    for target in module.star_libraries:
        if target.has(name):
            return library(target.member(name).dotted)
    return None


def load_module(machine: Machine, path: str) -> ModuleFile | None:
    """The module of a file, its top level run once; one in the middle of an import cycle shows what it has bound so far."""
    module = machine.modules.get(path)
    if module is None:
        source = machine.project.read(path)
        parsed = machine.project.parsed(path) if source is not None else None
        if source is None or parsed is None:
            return None
        module = machine.modules[path] = ModuleFile(source, parsed)
    if module.state == "new":
        run_quietly(machine, module)
    return module


def run_quietly(machine: Machine, module: ModuleFile) -> None:
    """Run a module's top level on one path of its own, without events: its calls are its own analysis's business."""
    saved = machine.path, machine.kernel, machine.stack
    machine.path, machine.kernel, machine.stack = Path(Explorer(1)), None, []
    machine.muted += 1
    module.state = "running"
    try:
        run_top_level(machine, module)
    finally:
        module.state = "done"
        machine.muted -= 1
        machine.path, machine.kernel, machine.stack = saved


def run_top_level(machine: Machine, module: ModuleFile) -> None:
    """Run the statements of a module; one that ends the path is passed over, so that later definitions are still seen."""
    for statement in module.parsed.tree.body:
        try:
            machine.execute([statement], module.frame)
        except PathEnd as end:
            if end.reason == "step budget":
                machine.path.steps = 0
        except EXECUTE_ERRORS:
            continue


def module_attribute(machine: Machine, module: ModuleFile, name: str) -> Value:
    """``module.name``: what its top level binds, else a submodule of the package."""
    value = module.frame.lookup(name)
    if value is not MISSING:
        if not isinstance(value, Imported):
            return machine.settle(value)
        if value not in machine.resolving:
            machine.resolving.append(value)
            try:
                resolved = module.frame.names[name] = imported_value(machine, value)
            finally:
                machine.resolving.pop()
            return machine.settle(resolved)
    starred = star_name(module, name)
    if starred is not None:
        return starred
    submodule = machine.project.submodule(module.path, name)
    if submodule is not None:
        loaded = load_module(machine, submodule)
        if loaded is not None:
            return ModuleValue(loaded)
    return Unknown(f"`{name}` of {module.path}", f"{name}", host=True)

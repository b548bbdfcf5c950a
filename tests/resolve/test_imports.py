"""What import statements bind, by the rules of Python's import system, read from files."""

from __future__ import annotations

import ast

import pytest
from resolve.workspace import Workspace, library

from pallas_lsp.resolve.imports import import_targets


@pytest.fixture
def package(workspace: Workspace) -> Workspace:
    workspace.write("pkg/__init__.py", "from .kernels import *\nfrom .specs import block as spec\nfrom . import helpers\n")
    workspace.write("pkg/kernels.py", "def kernels(): pass\ndef matmul(): pass\ndef _hidden(): pass\n")
    workspace.write("pkg/specs.py", "block = 1\n")
    workspace.write("pkg/helpers.py", "x = 1\n")
    workspace.write("pkg/sub/__init__.py", "")
    workspace.write("pkg/sub/deep.py", "y = 1\n")
    return workspace


def test_plain_import_binds_the_top_package(package: Workspace) -> None:
    assert package.imports("main.py", "import pkg.sub.deep") == {"pkg": package.module("pkg/__init__.py")}


def test_import_as_binds_the_submodule(package: Workspace) -> None:
    assert package.imports("main.py", "import pkg.sub.deep as d") == {"d": package.module("pkg/sub/deep.py")}


def test_import_as_takes_an_attribute_that_hides_the_submodule(package: Workspace) -> None:
    assert package.imports("main.py", "import pkg.kernels as k") == {"k": package.attribute("pkg/__init__.py", "kernels")}


def test_from_package_takes_the_attribute_before_the_submodule(package: Workspace) -> None:
    assert package.imports("main.py", "from pkg import spec, specs, kernels, matmul as m") == {
        "spec": package.attribute("pkg/__init__.py", "spec"),
        "specs": package.module("pkg/specs.py"),
        "kernels": package.attribute("pkg/__init__.py", "kernels"),
        "m": package.attribute("pkg/__init__.py", "matmul"),
    }


def test_a_star_import_leaves_private_names_behind(package: Workspace) -> None:
    assert not package.project.binds(package.path("pkg/__init__.py"), "_hidden")
    package.write("pkg/kernels.py", "__all__ = ['_hidden']\ndef matmul(): pass\ndef _hidden(): pass\n")
    assert package.project.binds(package.path("pkg/__init__.py"), "_hidden")
    assert not package.project.binds(package.path("pkg/__init__.py"), "matmul")


def test_a_package_that_imports_its_own_submodule(package: Workspace) -> None:
    assert package.imports("pkg/__init__.py")["helpers"] == package.module("pkg/helpers.py")


def test_relative_imports(package: Workspace) -> None:
    text = "from . import deep as sibling\nfrom .deep import y\nfrom .. import specs\nfrom ..specs import block\nfrom ..sub.deep import *\n"
    assert package.imports("pkg/sub/user.py", text) == {
        "sibling": package.module("pkg/sub/deep.py"),
        "y": package.attribute("pkg/sub/deep.py", "y"),
        "specs": package.module("pkg/specs.py"),
        "block": package.attribute("pkg/specs.py", "block"),
        "*": package.module("pkg/sub/deep.py"),
    }


def test_relative_imports_of_an_init_start_in_its_own_folder(package: Workspace) -> None:
    assert package.imports("pkg/sub/__init__.py", "from .deep import y\nfrom ..helpers import x") == {
        "y": package.attribute("pkg/sub/deep.py", "y"),
        "x": package.attribute("pkg/helpers.py", "x"),
    }


def test_a_relative_import_that_leads_nowhere_is_no_library(package: Workspace) -> None:
    assert package.imports("pkg/user.py", "from .jax import numpy\nfrom ....... import jax\nfrom .jax import *") == {
        "numpy": library(".jax.numpy"),
        "jax": library(".......jax"),
        "*": library(".jax"),
    }


def test_star_import_of_a_library() -> None:
    statement = ast.parse("from jax.experimental.pallas.tpu import *").body[0]
    workspace_free = import_targets(statement, "/nowhere/x.py", None)
    assert workspace_free == {"*": library("jax.experimental.pallas.tpu")}


def test_namespace_package(workspace: Workspace) -> None:
    workspace.write("ns/inner/kernel.py", "k = 1\n")
    text = "import ns.inner.kernel\nfrom ns.inner import kernel as k\nfrom ns.inner.kernel import k as kk"
    assert workspace.imports("main.py", text) == {
        "ns": workspace.module("ns"),
        "k": workspace.module("ns/inner/kernel.py"),
        "kk": workspace.attribute("ns/inner/kernel.py", "k"),
    }
    assert workspace.project.submodule(workspace.path("ns"), "inner") == workspace.path("ns/inner")
    assert workspace.project.submodule(workspace.path("ns/inner"), "kernel") == workspace.path("ns/inner/kernel.py")


def test_a_folder_that_is_no_package_does_not_hide_an_installed_one(workspace: Workspace) -> None:
    workspace.write("yaml/data.txt", "")
    assert workspace.imports("main.py", "import yaml\nimport yaml as y\nfrom yaml import load") == {
        "yaml": library("yaml"),
        "y": library("yaml"),
        "load": library("yaml.load"),
    }


def test_a_regular_package_goes_before_a_namespace_package(workspace: Workspace) -> None:
    workspace.write("tools/data.txt", "")
    workspace.write("src/tools/__init__.py", "x = 1\n")
    assert workspace.imports("main.py", "from tools import x") == {"x": workspace.attribute("src/tools/__init__.py", "x")}


def test_src_layout_and_the_folder_of_a_script(workspace: Workspace) -> None:
    workspace.write("src/lib/__init__.py", "a = 1\n")
    workspace.write("scripts/common.py", "b = 1\n")
    assert workspace.imports("scripts/run.py", "from lib import a\nfrom common import b") == {
        "a": workspace.attribute("src/lib/__init__.py", "a"),
        "b": workspace.attribute("scripts/common.py", "b"),
    }


def test_package_root_by_init_files(workspace: Workspace) -> None:
    workspace.write("deep/down/app/__init__.py", "")
    workspace.write("deep/down/app/ops/__init__.py", "")
    workspace.write("deep/down/app/spaces.py", "SPACE = 1\n")
    assert workspace.imports("deep/down/app/ops/kernel.py", "from app.spaces import SPACE") == {
        "SPACE": workspace.attribute("deep/down/app/spaces.py", "SPACE")
    }


def test_libraries_are_not_looked_for_in_the_project(workspace: Workspace) -> None:
    for name in ("jax/__init__.py", "numpy/__init__.py", "types.py"):
        workspace.write(name, "ndarray = lax = SimpleNamespace = 1\n")
    assert workspace.imports("main.py", "from jax import lax\nfrom numpy import ndarray\nfrom types import SimpleNamespace") == {
        "lax": library("jax.lax"),
        "ndarray": library("numpy.ndarray"),
        "SimpleNamespace": library("types.SimpleNamespace"),
    }


def test_the_kernels_in_a_checkout_of_jax_are_project_files(workspace: Workspace) -> None:
    for folder in ("jax", "jax/experimental", "jax/experimental/pallas", "jax/experimental/pallas/ops"):
        workspace.write(f"{folder}/__init__.py", "")
    workspace.write("jax/experimental/pallas/ops/attention.py", "def mha(): pass\n")
    text = "from jax.experimental.pallas.ops.attention import mha\nfrom jax.experimental import pallas as pl"
    assert workspace.imports("jax/experimental/pallas/ops/user.py", text) == {
        "mha": workspace.attribute("jax/experimental/pallas/ops/attention.py", "mha"),
        "pl": library("jax.experimental.pallas"),
    }


def test_unknown_packages_are_library_names_to_ask_about(workspace: Workspace) -> None:
    target = workspace.imports("main.py", "from somewhere.compat import SMEM")["SMEM"]
    assert target == library("somewhere.compat.SMEM")
    assert not target.is_known
    assert library("jax.lax.add").is_known
    assert not library("jax.experimental.pallas.ops.tpu.matmul").is_known


def test_imports_in_branches_and_functions_are_found(workspace: Workspace) -> None:
    text = """
    try:
        import numpy as a
    except ImportError as error:
        import math as b
    else:
        import jax as c
    finally:
        import ast as d
    def f():
        with open("x") as x:
            import os as e
    match 1:
        case 1:
            import sys as g
    """
    assert set(workspace.imports("main.py", text)) == set("abcdeg")

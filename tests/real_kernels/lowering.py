"""JAX's verdicts on mutants, from a child process: a lowering may take the interpreter down with it.

The child imports the kernels from a folder of copies, writes each mutant's file there, imports what depends on it anew, and traces and
lowers calls of it.
"""

from __future__ import annotations

import ast
import importlib
import json
import linecache
import os
import select
import subprocess
import sys
import traceback
import types
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Refusal:
    """What JAX says of a call that it refuses; ``own``: it is the program's own check that does, with ``raise`` or ``assert``."""

    stage: str
    error: str
    path: str | None
    line: int | None
    own: bool


def lowered(folder: Path, requests: Iterable[dict[str, Any]], seconds: float = 300) -> Iterator[Refusal | None]:
    """JAX's verdict on each request (``path``, ``text``, ``module``, ``call``): None where it lowers. One that takes longer is stopped."""
    child: subprocess.Popen[str] | None = None
    for request in requests:
        if child is None or child.poll() is not None:
            child = subprocess.Popen(
                [sys.executable, "-m", "real_kernels.lowering", str(folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=os.environ | {"JAX_PLATFORMS": "cpu", "JAX_TRACEBACK_FILTERING": "off", "PYTHONPATH": str(Path(__file__).parents[1])},
            )
        assert child.stdin is not None and child.stdout is not None
        child.stdin.write(json.dumps(request) + "\n")
        child.stdin.flush()
        if not select.select([child.stdout], [], [], seconds)[0]:
            child.kill()
        answer = child.stdout.readline()
        if answer:
            said = json.loads(answer)
            yield Refusal(**said) if said else None
        else:
            child.wait()
            yield Refusal("crash", f"the process ended with {child.returncode}", None, None, False)
    if child is not None:
        child.communicate()


def _serve(folder: Path) -> None:
    """Answer the requests on standard input, one line each."""
    from real_kernels.packages import importable

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the kernels print
    warnings.filterwarnings("ignore")
    with importable(folder):
        for line in sys.stdin:
            request = json.loads(line)
            refusal = _verdict(folder, **request)
            answers.write(json.dumps(asdict(refusal) if refusal else None) + "\n")
            answers.flush()


def _verdict(folder: Path, path: str, text: str, module: str, call: str) -> Refusal | None:
    import jax
    from real_kernels.calls import RealCall
    from real_kernels.jax_calls import traceable
    from referee import on_chip

    file = Path(path)
    before = file.read_text()
    file.write_text(text)
    linecache.clearcache()
    stage = "trace"
    try:
        forget_users(folder, path)
        jax.clear_caches()
        with on_chip("v5e"):
            traced = traceable(RealCall("", module, call)).trace()
            stage = "lower"
            traced.lower(lowering_platforms=("tpu",))
    except Exception as error:
        return _refusal(error, stage, folder)
    finally:
        file.write_text(before)
        forget_users(folder, path)
    return None


def forget_users(folder: Path, path: str) -> None:
    """Let the module of ``path``, and every module that holds something of it, be imported anew: packages at once, as their modules stay,
    and those first that are nearer to it, for the others take its things from them."""
    own = {name: m for name, m in sys.modules.items() if str(getattr(m, "__file__", None)).startswith(f"{folder}{os.sep}")}
    changed = {name: 0 for name, m in own.items() if m.__file__ == path}
    while True:
        things = {id(value) for name in changed for value in _things(own[name])} | {id(own[name]) for name in changed}
        users = {name for name, m in own.items() if name not in changed and not things.isdisjoint(map(id, vars(m).values()))}
        if not users:
            break
        changed |= dict.fromkeys(users, max(changed.values()) + 1)
    from real_kernels.packages import forget_generators

    forget_generators()
    packages = {name for name in changed if hasattr(own[name], "__path__")}
    for name in changed.keys() - packages:
        del sys.modules[name]
        package, _, attribute = name.rpartition(".")
        if package in sys.modules and hasattr(sys.modules[package], attribute):
            delattr(sys.modules[package], attribute)
    for name in sorted(packages, key=lambda name: (changed[name], -name.count("."))):
        importlib.reload(own[name])


def _things(module: types.ModuleType) -> list[Any]:
    """What the module itself defines: functions, classes, and objects that only it can have made."""
    return [value for value in vars(module).values() if getattr(value, "__module__", None) == module.__name__]


def _refusal(error: Exception, stage: str, folder: Path) -> Refusal:
    from referee import blamed

    def is_own(name: str) -> bool:
        return name.startswith(str(folder))

    # While tracing, the frames that raised are there; the cause would tell where the forward function of a `custom_vjp` was called.
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if is_own(frame.filename)] if stage == "trace" else []
    place = (frames[-1].filename, frames[-1].lineno) if frames else blamed(error, is_own)
    innermost = error.__traceback__
    while innermost is not None and innermost.tb_next is not None:
        innermost = innermost.tb_next
    own = innermost is not None and is_own(innermost.tb_frame.f_code.co_filename) and _raises(innermost.tb_frame.f_code.co_filename, innermost.tb_lineno)
    words = f"{type(error).__name__}: {error}".strip()
    return Refusal(stage, words[:600], place[0] if place else None, place[1] if place else None, own)


def _raises(path: str, line: int) -> bool:
    """Whether the statement on the line raises by itself."""
    tree = ast.parse(Path(path).read_text())
    statements = [n for n in ast.walk(tree) if isinstance(n, ast.stmt) and n.lineno <= line <= (n.end_lineno or 0)]
    return isinstance(max(statements, key=lambda n: n.lineno, default=None), ast.Raise | ast.Assert)


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))

"""JAX as the referee of the tests: what does it say about the source of a kernel?

A source defines ``run`` (a function of arrays) and ``ARGS`` (a list of ``jax.ShapeDtypeStruct``). `lower` runs JAX's own
Pallas to Mosaic lowering on the CPU, in this process; `compile_many` also runs the TPU compiler (libtpu, no chip needed)
in a child process, because it may take the interpreter down with it. Only sources that the tests own come here.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import traceback
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from unittest import mock

# chip: (the device kind that JAX asks for, the topology that libtpu compiles for)
CHIPS = {
    "v4": ("TPU v4", "v4:2x2x1"),
    "v5e": ("TPU v5 lite", "v5e:2x2x1"),
    "v5p": ("TPU v5", "v5p:2x2x1"),
    "v6e": ("TPU v6 lite", "v6e:2x2x1"),
    "tpu7x": ("TPU7x", "tpu7x:2x2x1"),
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """JAX's answer: accepted, or the exception's class name and text, the stage that raised it
    (``import``, ``trace``, ``lower``, ``compile``, ``crash``) and the 1-based line of the source it points at."""

    ok: bool
    exc: str | None = None
    message: str = ""
    stage: str | None = None
    line: int | None = None


def jax_version() -> tuple[int, ...]:
    """The installed JAX's version as a tuple that compares."""
    import jax

    return jax.__version_info__


def libtpu_installed() -> bool:
    """Whether `compile_many` can run here."""
    return importlib.util.find_spec("libtpu") is not None


@functools.cache
def lower(source_text: str, name: str = "kernel.py", chip: str | None = None) -> Verdict:
    """Trace and lower the source for a TPU of the kind ``chip``, as ``jax.jit(run)`` would. Asked once, for several tests ask the same.

    Without a chip it is one that has SparseCores or accumulators if the source uses them.
    """
    import jax

    chip = chip or ("tpu7x" if "tpu_sc" in source_text or "pltpu.ACC" in source_text else "v5e")
    stage = "import"
    try:
        with _device_kind(CHIPS[chip][0]), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = _load(source_text, name)
            stage = "trace"
            traced = jax.jit(module.run).trace(*module.ARGS)
            stage = "lower"
            traced.lower(lowering_platforms=("tpu",))
    except Exception as error:
        return _refusal(error, stage, name)
    return Verdict(ok=True)


def compile_many(sources: Sequence[str], chip: str = "v5e") -> list[Verdict]:
    """Lower and compile each source for ``chip`` with libtpu; a compiler that crashes is a refusal at stage ``crash``."""
    verdicts: list[Verdict] = []
    while len(verdicts) < len(sources):  # a crash ends the child: start another one behind the source that caused it
        code, answers = _compile_in_child(sources[len(verdicts) :], chip)
        verdicts += answers
        if len(verdicts) < len(sources):
            if code >= 0:
                raise RuntimeError(f"the compiling child ended with code {code}")
            verdicts.append(Verdict(ok=False, exc=signal.Signals(-code).name, stage="crash"))
    return verdicts


def on_chip(chip: str) -> contextlib.AbstractContextManager[None]:
    """A context in which JAX lowers for the chip."""
    return _device_kind(CHIPS[chip][0])


@contextlib.contextmanager
def _device_kind(kind: str) -> Iterator[None]:
    """Answer JAX's question which TPU this is (the lowering of rank-1 blocks asks): a CPU has no answer.

    JAX remembers the answer, so that it has to be forgotten before and after.
    """
    info = _tpu_info()
    info.get_tpu_info.cache_clear()
    try:
        with mock.patch.object(info, "get_device_kind", lambda: kind), mock.patch.object(info, "get_num_device_cores", lambda: 1):
            yield
    finally:
        info.get_tpu_info.cache_clear()


@functools.cache
def _tpu_info() -> types.ModuleType:
    """The module whose globals answer for the device: moved between JAX 0.10 and 0.12."""
    try:
        return importlib.import_module("jax._src.tpu_info")
    except ImportError:
        return importlib.import_module("jax._src.pallas.mosaic.tpu_info")


def _load(source_text: str, name: str) -> types.ModuleType:
    module = types.ModuleType(name.removesuffix(".py"))
    exec(compile(source_text, name, "exec", dont_inherit=True), module.__dict__)
    return module


def _refusal(error: Exception, stage: str, name: str) -> Verdict:
    return Verdict(ok=False, exc=type(error).__name__, message=str(error), stage=stage, line=_line(error, name))


def _line(error: BaseException, name: str) -> int | None:
    """The innermost line of the file ``name`` that JAX blames."""
    place = blamed(error, lambda filename: filename == name)
    if place is not None:
        return place[1]
    mentioned = re.search(re.escape(name) + r'"?:(\d+)', str(error))
    return int(mentioned[1]) if mentioned else None


def blamed(error: BaseException, is_own: Callable[[str], bool]) -> tuple[str, int] | None:
    """The innermost place that JAX blames, file and line, among the files that ``is_own`` accepts.

    While lowering, the user's frames are in the cause ``JaxStackTraceBeforeTransformation``; while tracing and compiling, and for
    a verifier error of MLIR, in the traceback itself.
    """
    causes = []
    cause: BaseException | None = error.__cause__ or error.__context__
    while cause is not None and len(causes) < 8:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    before_lowering = [c for c in causes if type(c).__name__ == "JaxStackTraceBeforeTransformation"]
    verifier = [error] if type(error).__name__ in ("VerificationError", "MosaicError") else []
    for candidate in (*verifier, *before_lowering, error, *causes):
        frames = [frame for frame in traceback.extract_tb(candidate.__traceback__) if is_own(frame.filename)]
        if frames:
            return frames[-1].filename, frames[-1].lineno or 0
    return None


def _compile_in_child(sources: Sequence[str], chip: str) -> tuple[int, list[Verdict]]:
    environment = {key: value for key, value in os.environ.items() if key != "JAX_PLATFORMS"}
    environment |= {
        "TPU_SKIP_MDS_QUERY": "1",
        "TPU_WORKER_HOSTNAMES": "localhost",
        "TPU_ACCELERATOR_TYPE": "v5litepod-4",  # what it starts as; the topology says what it compiles for
        "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    }
    with tempfile.TemporaryFile("w+") as answers:
        child = subprocess.run(
            [sys.executable, os.path.abspath(__file__), chip, str(answers.fileno())],
            input=json.dumps(list(sources)),
            pass_fds=[answers.fileno()],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        answers.seek(0)
        return child.returncode, [Verdict(**json.loads(line)) for line in answers]


def _child(chip: str, answers_fd: int) -> None:
    """Compile the sources given on standard input, one JSON line with a verdict each."""
    import jax
    from jax.experimental import topologies

    device = topologies.get_topology_desc(topology_name=CHIPS[chip][1], platform="tpu").devices[0]
    sharding = jax.sharding.SingleDeviceSharding(device)
    with open(answers_fd, "w") as answers:
        for source in json.load(sys.stdin):
            print(json.dumps(asdict(_compile(source, chip, sharding))), file=answers, flush=True)


def _compile(source_text: str, chip: str, sharding: object) -> Verdict:
    import jax

    name, stage = "kernel.py", "import"
    try:
        with _device_kind(CHIPS[chip][0]), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = _load(source_text, name)
            stage = "trace"
            traced = jax.jit(module.run).trace(*(jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=sharding) for a in module.ARGS))
            stage = "lower"
            lowered = traced.lower()
            stage = "compile"
            lowered.compile()
    except Exception as error:
        return _refusal(error, stage, name)
    return Verdict(ok=True)


if __name__ == "__main__":
    _child(sys.argv[1], int(sys.argv[2]))

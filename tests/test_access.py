"""Is CUDA here: each way in which it is not has its own answer.

What is missing is simulated in a fresh interpreter: an import hook for packages, stand-in modules
for libraries and drivers.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from perfkit import access
from perfkit.access import State, Status, status

REPOSITORY = Path(__file__).resolve().parents[1]

#: A finder in front of all others that refuses some modules.
HIDE = """
import sys
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {hidden!r} or name in {hidden!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name={name} or name)
sys.meta_path.insert(0, Hide())
for name in [n for n in sys.modules if n.split(".")[0] in {hidden!r}]:
    del sys.modules[name]
"""

#: Stand-ins for cuda.pathfinder and cuda.bindings.
FAKE = """
import sys, types, enum
def module(name, **names):
    sys.modules[name] = found = types.ModuleType(name)
    found.__dict__.update(names)
    found.__path__ = []
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, found)
class DynamicLibNotFoundError(RuntimeError): pass
class Result(enum.IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_NO_DEVICE = 100
    CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803
def call(answer):
    def ask(*_):
        if isinstance(answer, Exception):
            raise answer
        return answer
    return ask
module("cuda")
module("cuda.pathfinder", DynamicLibNotFoundError=DynamicLibNotFoundError,
       find_nvidia_header_directory=lambda name: None)
module("cuda.bindings")
module("cuda.bindings.nvrtc", nvrtcVersion=call({nvrtc}),
       nvrtcGetNumSupportedArchs=call((0, 2)), nvrtcGetSupportedArchs=call((0, [121, 50])))
module("cuda.bindings.driver", CUresult=Result, cuInit=call({init}), cuDeviceGetCount=call({count}))
"""

ASK = """
import json
from perfkit import access
from perfkit.errors import PerfkitError
answers = {}
for name in ("require_nvrtc", "require_cuda", "header_directories"):
    try:
        answers[name] = ["ok", getattr(access, name)()]
    except (PerfkitError, ImportError) as error:
        answers[name] = [type(error).__name__.lstrip("_"), str(error), getattr(error, "hint", None)]
answers["status"] = [[row.what, row.state, row.detail, row.hint] for row in access.status()]
print(json.dumps(answers))
"""


def ask(preparation):
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-c", preparation + ASK]
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(answer.stdout)


def fake(nvrtc="(0, 12, 9)", init="(Result(0),)", count="(Result(0), 2)"):
    return FAKE.replace("{nvrtc}", nvrtc).replace("{init}", init).replace("{count}", count)


def hide(*names, reported="None"):
    return HIDE.format(hidden=set(names), name=reported)


def test_no_package():
    answers = ask(hide("cuda"))
    for name in ("require_nvrtc", "require_cuda", "header_directories"):
        kind, message, hint = answers[name]
        assert kind == "NoCudaPackage"
        assert message == "NVIDIA's cuda-python is not installed"  # "cuda" is another package
        assert "cubins" in hint
        assert "perfkit[cu12]" in hint
        assert "perfkit[cu13]" in hint
    rows = {row[0]: row for row in answers["status"]}
    assert rows["NVRTC"][1] == rows["CUDA device"][1] == "missing"


def test_a_package_that_lacks_another_is_not_ours_to_explain():
    answers = ask(hide("cuda", reported="'numpy'"))
    assert answers["require_nvrtc"][0] == answers["require_cuda"][0] == "ModuleNotFoundError"
    rows = {row[0]: row for row in answers["status"]}
    assert rows["NVRTC"][1] == "broken"


def test_everything_there():
    answers = ask(fake())
    assert answers["require_nvrtc"] == ["ok", [12, 9]]
    assert answers["require_cuda"] == ["ok", 2]
    assert answers["header_directories"] == ["ok", {}]
    rows = {row[0]: row for row in answers["status"]}
    assert rows["NVRTC"][1:3] == ["ok", "12.9, compiles sm_50 … sm_121"]
    assert rows["CUDA headers"][1] == "missing"


@pytest.mark.parametrize(
    ("answer", "state", "message"),
    [
        ("DynamicLibNotFoundError('libnvrtc')", "missing", "is not installed"),
        ("RuntimeError('wrong ELF class')", "broken", "cannot be loaded: wrong ELF class"),
        ("OSError('wrong ELF class')", "broken", "cannot be loaded: wrong ELF class"),
    ],
)
def test_no_library(answer, state, message):
    answers = ask(fake(nvrtc=answer, init=answer))
    for name, hint in (("require_nvrtc", "perfkit[cu12]"), ("require_cuda", "driver")):
        assert answers[name][0] in {"NoCudaLibrary", "BrokenLibrary"}
        assert message in answers[name][1]
        assert hint in answers[name][2]
    rows = {row[0]: row for row in answers["status"]}
    assert rows["NVRTC"][1] == rows["CUDA device"][1] == state


@pytest.mark.parametrize(
    ("init", "count", "state", "message"),
    [
        ("(Result(100),)", "(Result(0), 0)", "missing", "finds no device"),
        ("(Result(0),)", "(Result(0), 0)", "missing", "finds no device"),
        ("(Result(803),)", "(Result(0), 1)", "broken", "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"),
    ],
)
def test_no_device(init, count, state, message):
    answers = ask(fake(init=init, count=count))
    assert answers["require_cuda"][0] in {"NoDevice", "RefusingDriver"}
    assert message in answers["require_cuda"][1]
    rows = {row[0]: row for row in answers["status"]}
    assert rows["CUDA device"][1] == state


def test_status_here():
    """Whatever is here, the rows are complete and what is not ok has a hint."""
    rows = status()
    assert [row.what for row in rows] == ["cuda-python", "NVRTC", "CUDA headers", "CUDA device"]
    for row in rows:
        assert isinstance(row, Status)
        assert row.detail
        assert (row.state is State.OK) == (row.hint is None)


@pytest.mark.parametrize(
    ("installed", "state", "detail"),
    [
        # as some images have it: without ``cuda-python``, which is nothing but their names
        (
            {"cuda-bindings": "13.3.1", "cuda-core": "1.2.0"},
            State.OK,
            "cuda-bindings 13.3.1, cuda-core 1.2.0",
        ),
        (
            {"cuda-python": "12.9", "cuda-bindings": "12.9"},
            State.MISSING,
            "cuda-core is not installed, beside cuda-bindings 12.9",
        ),
        ({}, State.MISSING, "cuda-bindings and cuda-core are not installed"),
    ],
)
def test_what_is_called_is_what_counts(monkeypatch, installed, state, detail):
    def version(name):
        if name not in installed:
            raise PackageNotFoundError(name)
        return installed[name]

    monkeypatch.setattr(access, "version", version)
    row = status()[0]
    assert (row.what, row.state, row.detail) == ("cuda-python", state, detail)
    assert (row.hint is None) == (state is State.OK)


def test_the_headers_row_is_short(monkeypatch):
    """Three long paths make a row that no terminal shows."""
    base = "/home/somebody/project/.venv/lib/python3.11/site-packages/nvidia"
    found = {name: f"{base}/{name}_of_some_version/include" for name in access.HEADERS}
    monkeypatch.setattr(access, "header_directories", lambda: found)
    (row,) = [row for row in status() if row.what == "CUDA headers"]
    assert row.detail == f"cuda_fp16.h, cuda/std/cstdint, crt/mma.h in {base}"


def test_targets_here():
    if status()[1].state is not State.OK:
        pytest.skip("no NVRTC")
    targets = access.nvrtc_targets()
    assert list(targets) == sorted(targets)
    assert {75, 90, 120} <= set(targets)
    headers = access.header_directories()
    assert all((Path(headers[name]) / access.HEADERS[name]).is_file() for name in headers)

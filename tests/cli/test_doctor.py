"""``perfkit doctor`` on machines that lack things, have them, and have them broken."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from perfkit import access
from perfkit.access import State, Status
from perfkit.arch import catalog
from perfkit.cli import doctor
from perfkit.cli.app import main
from perfkit.device import nvml, properties
from perfkit.errors import DeviceError
from tests.compiled.containers import needs_sh, program
from tests.device.fake_card import FakeMonitor
from tests.device.fakes import FakeDriver

ROOT = Path(__file__).resolve().parents[2]
NO_CUDA = (
    Status(what="cuda-python", state=State.MISSING, detail="not installed", hint="pip …"),
    Status(what="CUDA device", state=State.MISSING, detail="not installed", hint="pip …"),
)
A_DEVICE = (Status(what="CUDA device", state=State.OK, detail="1 found"),)
REQUIRES = [
    "typer<0.28,>=0.27.2",
    "cuda-python<13,>=12.9; extra == 'cu12'",
    "nvidia-cuda-nvrtc-cu12<13,>=12.9; extra == 'cu12'",
    "cuda-python<14,>=13; extra == 'cu13'",
    "nvidia-cuda-nvrtc<14,>=13; extra == 'cu13'",
    "matplotlib>=3.8; extra == 'plot'",
    'pyarrow>=15; extra == "parquet"',
    "pytest>=8; extra == 'test'",
]


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """An empty home and no CUDA; returns a function that asks the doctor."""
    for name in ("PERFKIT_CACHE", "PERFKIT_ARCHDB", "XDG_CACHE_HOME", "PERFKIT_FORMAT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    cuda(monkeypatch, NO_CUDA)

    def ask(capsys):
        code = main(["doctor", "--format", "json"])
        answer = json.loads(capsys.readouterr().out)
        assert answer["schema"] == "perfkit.doctor/1"
        assert answer["broken"] == bool(code)
        return code, {check["what"]: check for check in answer["checks"]}

    return ask


def cuda(monkeypatch, rows, driver=None):
    monkeypatch.setattr(access, "status", lambda: rows)
    if driver:
        monkeypatch.setattr(properties, "cuda_driver", lambda: driver)


def installed(monkeypatch, **versions):
    def version(name):
        try:
            return versions[name.replace("-", "_")]
        except KeyError:
            raise importlib.metadata.PackageNotFoundError(name) from None

    monkeypatch.setattr(importlib.metadata, "version", version)
    monkeypatch.setattr(importlib.metadata, "requires", lambda _: REQUIRES)


def test_missing_things_are_no_failure(machine, capsys):
    code, checks = machine(capsys)
    assert code == 0
    assert checks["CUDA device"]["state"] == "missing"
    assert not any(what.startswith("device ") for what in checks)
    assert checks["shell completion"] == {
        "what": "shell completion",
        "state": "missing",
        "detail": "not installed",
        "hint": "perfkit --install-completion",
    }
    assert checks["compile cache"]["state"] == "ok"


def test_the_database_is_counted(machine, capsys):
    _, checks = machine(capsys)
    database = checks["database"]
    assert database["state"] == "ok"
    counts = f"{len(catalog.capability_keys())} capabilities, {len(catalog.gpu_keys())} products"
    assert counts in database["detail"]


def test_an_overlay_is_shown(machine, capsys, monkeypatch, tmp_path):
    (tmp_path / "mine" / "gpu").mkdir(parents=True)
    (tmp_path / "mine" / "aliases.yaml").write_text("my-card: h100-sxm5\n")
    monkeypatch.setenv("PERFKIT_ARCHDB", str(tmp_path / "mine"))
    code, checks = machine(capsys)
    assert code == 0
    assert "1 files" in checks["database overlay"]["detail"]
    assert str(tmp_path / "mine") in checks["database overlay"]["detail"]


@pytest.mark.parametrize("content", [None, "limits: [", "a: 1\na: 2\n"])
def test_a_broken_overlay_is_broken(machine, capsys, monkeypatch, tmp_path, content):
    overlay = tmp_path / "mine"
    if content is not None:
        (overlay / "gpu").mkdir(parents=True)
        (overlay / "gpu" / "mine.yaml").write_text(content)
    monkeypatch.setenv("PERFKIT_ARCHDB", str(overlay))
    code, checks = machine(capsys)
    assert code == 1
    assert checks["database"]["state"] == "broken"
    assert str(overlay) in checks["database"]["detail"]
    assert checks["perfkit"]["state"] == "ok"  # the other rows are there all the same


@pytest.mark.parametrize(
    ("name", "what"), [("toy.yaml", "database"), ("gpus/toy.yaml", "database overlay")]
)
def test_an_overlay_with_a_file_that_nothing_reads(
    machine, capsys, monkeypatch, tmp_path, name, what
):
    path = tmp_path / "mine" / name
    path.parent.mkdir(parents=True)
    path.write_text("")
    monkeypatch.setenv("PERFKIT_ARCHDB", str(tmp_path / "mine"))
    code, checks = machine(capsys)
    assert code == 1
    assert checks[what]["state"] == "broken"
    assert str(path) in checks[what]["detail"]
    assert checks[what]["hint"] == "move it to gpu/toy.yaml"


def test_extras_are_told_apart(machine, capsys, monkeypatch):
    installed(monkeypatch, cuda_python="12.9.1", nvidia_cuda_nvrtc_cu12="12.9.86", pyarrow="9.0")
    _, checks = machine(capsys)
    assert checks["extra cu12"]["state"] == "ok"
    assert checks["extra cu13"]["state"] == "missing"
    assert checks["extra cu13"]["detail"] == "not installed, nor needed beside cu12"
    assert checks["extra cu13"]["hint"] is None
    assert "extra test" not in checks
    # its one package is cuobjdump, which has a row of its own and would be counted twice
    assert "extra tools" not in checks
    assert checks["extra parquet"]["detail"] == "lacks pyarrow >= 15 (has 9.0)"


def test_no_extra_at_all(machine, capsys, monkeypatch):
    installed(monkeypatch, cuda_python="13.1.0")
    _, checks = machine(capsys)
    assert checks["extra cu12"]["detail"] == (
        "lacks cuda-python < 13 (has 13.1.0), nvidia-cuda-nvrtc-cu12"
    )
    assert checks["extra cu13"]["detail"] == "lacks nvidia-cuda-nvrtc"
    assert checks["extra cu13"]["hint"] == "pip install 'perfkit[cu13]'"


def test_the_bindings_without_the_package_that_only_requires_them(machine, capsys, monkeypatch):
    installed(monkeypatch, cuda_bindings="13.3.1", nvidia_cuda_nvrtc="13.0.1")
    _, checks = machine(capsys)
    assert checks["extra cu13"]["state"] == "ok"
    assert checks["extra cu12"]["detail"] == "not installed, nor needed beside cu13"


def test_every_extra_of_the_project_is_known():
    text = (ROOT / "pyproject.toml").read_text()
    section = text.partition("[project.optional-dependencies]")[2].partition("\n[")[0]
    named = [line.partition(" = [")[0] for line in section.splitlines() if " = [" in line]
    # for those who work on perfkit
    assert set(doctor.EXTRAS) == set(named) - {"test", "docs"}


def test_a_checkout_that_is_not_installed(machine, capsys, monkeypatch):
    def requires(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "requires", requires)
    code, checks = machine(capsys)
    assert code == 0
    assert checks["extras"]["hint"] == "pip install -e ."


def test_a_device_and_its_product(machine, capsys, monkeypatch):
    cuda(monkeypatch, A_DEVICE, FakeDriver())
    code, checks = machine(capsys)
    assert code == 0
    assert checks["CUDA driver"]["detail"] == "speaks CUDA 13.0"
    assert checks["device 0"]["detail"] == "NVIDIA H200, 9.0, 132 SMs, 140.4 GiB: h200-sxm"


@pytest.mark.parametrize(
    ("lacks", "state"), [(None, "ok"), ("nvidia-ml-py is not installed: no clocks", "missing")]
)
def test_what_tells_the_clocks(machine, capsys, monkeypatch, lacks, state):
    class Monitor(FakeMonitor):
        def __init__(self, uuid):
            super().__init__(uuid)
            self.missing = lacks

    monkeypatch.setattr(nvml, "Monitor", Monitor)
    cuda(monkeypatch, A_DEVICE, FakeDriver())
    code, checks = machine(capsys)
    assert (code, checks["NVML"]["state"]) == (0, state)
    assert checks["NVML"]["detail"] == (lacks or "driver 580.1, tells clocks and processes")
    assert (checks["NVML"]["hint"] is None) == (lacks is None)


def test_a_device_that_the_database_lacks(machine, capsys, monkeypatch):
    driver = FakeDriver(named="NVIDIA R100", devices=2)
    cuda(monkeypatch, A_DEVICE, driver)
    code, checks = machine(capsys)
    assert code == 0
    assert checks["device 1"]["state"] == "missing"
    assert "no such product" in checks["device 1"]["detail"]
    driver.values["COMPUTE_CAPABILITY_MAJOR"] = 19
    code, checks = machine(capsys)
    assert code == 0
    assert "lacks compute capability 19.0" in checks["device 0"]["detail"]


def test_a_driver_that_fails_is_broken(machine, capsys, monkeypatch):
    class Failing(FakeDriver):
        def name(self, index):
            raise DeviceError("cuDeviceGetName fails: CUDA_ERROR_UNKNOWN", hint="nvidia-smi")

    cuda(monkeypatch, A_DEVICE, Failing())
    code, checks = machine(capsys)
    assert code == 1
    assert checks["CUDA driver"]["state"] == "broken"


def test_the_cache_is_measured(machine, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("PERFKIT_CACHE", str(tmp_path / "cache"))
    _, checks = machine(capsys)
    assert checks["compile cache"]["detail"] == f"0 entries, 0 B, {tmp_path / 'cache'}"
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "a.json").write_bytes(bytes(3000))
    (tmp_path / "cache" / "stray").write_bytes(bytes(3000))
    _, checks = machine(capsys)
    assert checks["compile cache"]["detail"] == f"1 entries, 3 KiB, {tmp_path / 'cache'}"
    monkeypatch.setenv("PERFKIT_CACHE", "off")
    code, checks = machine(capsys)
    assert (code, checks["compile cache"]["state"]) == (0, "missing")


def test_a_cache_that_is_a_file_is_broken(machine, capsys, monkeypatch, tmp_path):
    (tmp_path / "cache").write_text("not a directory")
    monkeypatch.setenv("PERFKIT_CACHE", str(tmp_path / "cache"))
    code, checks = machine(capsys)
    assert (code, checks["compile cache"]["state"]) == (1, "broken")


def test_completion_is_found(machine, capsys, tmp_path):
    (tmp_path / ".zfunc").mkdir()
    (tmp_path / ".zfunc" / "_perfkit").write_text("")
    _, checks = machine(capsys)
    assert checks["shell completion"]["detail"] == "installed for zsh"


def test_the_table_ends_with_a_summary(machine, capsys, monkeypatch):
    assert main(["doctor", "--format", "table"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("what")
    assert "note: nothing is broken; " in shown
    refused = Status(what="CUDA device", state=State.BROKEN, detail="CUDA_ERROR_SYSTEM_NOT_READY")
    cuda(monkeypatch, (refused,))
    assert main(["doctor", "--format", "table"]) == 1
    assert "note: 1 broken: here, but it does not work" in capsys.readouterr().out


def test_it_answers_at_once_where_nothing_is_installed(tmp_path):
    """A bare interpreter with neither CUDA nor perfkit's metadata: no traceback, and quick."""
    program = (
        "import sys; sys.modules['cuda'] = None\n"
        "from perfkit.cli.app import main; raise SystemExit(main(['doctor']))"
    )
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=os.environ | {"HOME": str(tmp_path)},
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "is not installed" in done.stdout
    assert time.perf_counter() - began < 10  # one second, on a machine with nothing else to do


@needs_sh
def test_the_tools_tell_their_versions(machine, capsys, monkeypatch, tmp_path):
    for name in ("CUOBJDUMP", "PTXAS", "NVCC", "CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("perfkit.compiled.tools.files", lambda name: [])
    nvcc = program(tmp_path / "nvcc", "echo 'Cuda compilation tools, release 13.9, V13.9.41'")
    broken = program(tmp_path / "broken", "exit 1")
    monkeypatch.setenv("PTXAS", str(broken))
    code, checks = machine(capsys)
    assert checks["nvcc"]["detail"] == f"13.9.41, {nvcc}"
    assert checks["cuobjdump"]["state"] == "missing"
    assert "pip install nvidia-cuda-cuobjdump" in checks["cuobjdump"]["hint"]
    assert (code, checks["ptxas"]["state"]) == (1, "broken")
    nvcc.unlink()
    _, checks = machine(capsys)
    assert checks["nvcc"]["state"] == "missing"
    assert "CUDA toolkit" in checks["nvcc"]["hint"]


def test_what_to_do_stands_below(machine, capsys):
    """Beside the details it would be too far to the right; CSV has one row for each check."""
    main(["doctor"])
    here, below = capsys.readouterr().out.split("\n\n")[:2]
    assert here.splitlines()[0].split() == ["what", "state", "detail"]
    assert "pip …" not in here
    hints = dict(line.split("  ", 1) for line in below.splitlines()[2:])
    assert hints["CUDA device"].strip() == "pip …"
    main(["doctor", "-f", "csv"])
    assert "CUDA device,missing,not installed,pip …" in capsys.readouterr().out.splitlines()

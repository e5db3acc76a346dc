"""The programs of this folder, as far as they need no GPU."""

from __future__ import annotations

import csv
import runpy

import pytest

import perfkit
from tests.gpu import shared_config, validate_90
from tests.gpu.shared_config import launches
from tests.gpu.test_driver_occupancy import VARIANTS
from tests.gpu.test_residency import BY_REGISTERS, STATIC

HOPPER = perfkit.capability("9.0")
HEADER = ["ID", "Process ID", "Kernel Name", "Block Size", "Grid Size"]
TALK = "==PROF== Connected to process 1\n==PROF== Disconnected\n"


def test_launches_are_those_of_the_seed():
    assert launches(HOPPER, 1, 300) == launches(HOPPER, 1, 300)
    assert launches(HOPPER, 1, 300) != launches(HOPPER, 2, 300)


def test_launches_cover_what_is_in_question():
    found = launches(HOPPER, 1, 600)
    assert len(found) == 600
    assert sum(one.carveout >= 0 for one in found) == 300
    assert all(one.predicted(HOPPER) for one in found)
    assert {one.regs for one in found} <= set(shared_config.REGISTERS)


def profile(path, rows, *, config=shared_config.CONFIG, unit="byte", scale=1):
    """What ``ncu --csv --page raw`` writes of ``(launch, bytes)``."""
    names = [*HEADER, config, shared_config.REGISTERS_METRIC]
    lines = [names, ["", "", "", "block", "grid", unit, "register/thread"]]
    for number, (one, size) in enumerate(rows):
        block, grid = f"({one.threads}, 1, 1)", f"({one.grid}, 1, 1)"
        figure = f"{size:,}" if scale == 1 else f"{size / scale:.2f}"
        lines.append([number, 42, "spin", block, grid, figure, one.regs])
    with path.open("w", newline="") as file:
        file.write(TALK)
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(lines)


@pytest.fixture
def measured(tmp_path):
    """A list of 300 launches, and what would be measured if every prediction were right."""
    found = launches(HOPPER, 3, 300)
    rows = [tuple(getattr(one, name) for name in shared_config.COLUMNS) for one in found]
    shared_config.write(tmp_path / "list.csv", shared_config.COLUMNS, rows)
    return tmp_path, [[one, one.predicted(HOPPER)] for one in found]


@pytest.mark.parametrize(("unit", "scale"), [("byte", 1), ("Kbyte", 1000)])
def test_right_predictions(measured, capsys, unit, scale):
    folder, rows = measured
    profile(folder / "ncu.csv", rows, unit=unit, scale=scale)
    assert shared_config.main(["compare", str(folder / "list.csv"), str(folder / "ncu.csv")]) == 0
    assert "all: 300 compared, 0 differ" in capsys.readouterr().out
    with (folder / "list-measured.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    assert [int(row["config_bytes"]) for row in table] == [size for _, size in rows]


def test_a_misfit_is_shown(measured, capsys):
    folder, rows = measured
    index = next(i for i, (_, size) in enumerate(rows) if size == 132 * 1024)
    rows[index][1] = 100 * 1024
    profile(folder / "ncu.csv", rows)
    assert shared_config.main(["compare", str(folder / "list.csv"), str(folder / "ncu.csv")]) == 1
    shown = capsys.readouterr().out
    assert f"misfit: regs={rows[index][0].regs}, threads={rows[index][0].threads}" in shown
    assert "measured 100 KiB, predicted 132 KiB" in shown
    assert "all: 300 compared, 1 differ" in shown


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"config": "launch__other"}, "no column launch__shared_mem_config_size"),
        ({"unit": "furlong"}, "--print-units base"),
        ({"scale": 3.7}, "is no capacity"),
    ],
)
def test_what_is_no_measurement(measured, changed, says):
    folder, rows = measured
    profile(folder / "ncu.csv", rows, **changed)
    with pytest.raises(SystemExit, match=says):
        shared_config.compare(folder / "list.csv", folder / "ncu.csv", "9.0")


def test_files_that_do_not_belong_together(measured):
    folder, rows = measured
    profile(folder / "ncu.csv", rows[:-1])
    with pytest.raises(SystemExit, match="300 launches in"):
        shared_config.compare(folder / "list.csv", folder / "ncu.csv", "9.0")
    profile(folder / "ncu.csv", rows[::-1])
    with pytest.raises(SystemExit, match="do not belong together"):
        shared_config.compare(folder / "list.csv", folder / "ncu.csv", "9.0")
    (folder / "ncu.csv").write_text(TALK)
    with pytest.raises(SystemExit, match="no table"):
        shared_config.compare(folder / "list.csv", folder / "ncu.csv", "9.0")


@pytest.mark.parametrize("program", ["shared_config.py", "validate_90.py"])
def test_programs_explain_themselves(program, monkeypatch, capsys):
    path = validate_90.ROOT / "tests" / "gpu" / program
    monkeypatch.setattr("sys.argv", [program, "--help"])
    with pytest.raises(SystemExit) as stop:
        runpy.run_path(str(path), run_name="__main__")
    assert stop.value.code == 0
    assert "usage:" in capsys.readouterr().out


def test_the_tests_that_validate_exist():
    folder = validate_90.ROOT / "tests" / "gpu"
    marked = {path.name for path in folder.glob("test_*.py") if "mark.gpu" in path.read_text()}
    assert marked - {"test_programs.py"} == set(validate_90.TESTS)


def test_the_report(tmp_path):
    (tmp_path / "junit.xml").write_text(
        '<testsuites><testsuite><testcase name="test_good" time="1.25"><properties>'
        '<property name="compared" value="20000"/></properties></testcase>'
        '<testcase name="test_bad" time="2"><failure message="1 != 2"/></testcase>'
        "</testsuite></testsuites>"
    )
    text = validate_90.markdown(
        {
            "date": "2024-06-01",
            "card": {
                "device": "NVIDIA H200",
                "product": "h200-sxm",
                "compute_capability": "9.0",
                "sm_count": 132,
                "driver_cuda": "13.0",
                "nvrtc": "13.0",
                "perfkit": "0.1.0",
            },
            "packages": {"numpy": "2.4"},
            "nvidia_smi_before": {"driver_version": "580.159", "clocks.sm": "1980 MHz"},
            "nvidia_smi_after": {},
            "tests": validate_90.results(tmp_path / "junit.xml"),
        }
    )
    assert text.startswith("# NVIDIA H200, 2024-06-01\n")
    for line in (
        "* Driver: 580.159, speaks CUDA 13.0",
        "* Outcome: 1 of 2 tests passed",
        "## test_good: passed, 1.2 s",
        "* compared: 20000",
        "## test_bad: failure, 2.0 s",
        "1 != 2",
    ):
        assert line in text


def test_kernels_compile_with_the_registers_they_name():
    """Compiling needs no GPU: the tests do not fail for their kernels where there is one."""
    nvrtc = pytest.importorskip("cuda.bindings.nvrtc")
    from perfkit.access import require_nvrtc
    from perfkit.errors import Unavailable

    try:
        require_nvrtc()
    except Unavailable as error:
        pytest.skip(str(error))
    assert nvrtc
    from tests.gpu.card import compile_cubin

    variants = [VARIANTS[0], VARIANTS[-1], STATIC[1], BY_REGISTERS[0]]
    cubin = compile_cubin("".join(variant.source() for variant in variants), "sm_90")
    assert cubin.startswith(b"\x7fELF")
    assert all(variant.name.encode() in cubin for variant in variants)

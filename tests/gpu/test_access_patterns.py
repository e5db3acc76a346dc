"""The program that counts accesses on a card, as far as it needs no GPU."""

from __future__ import annotations

import csv
import random
import runpy
from collections import Counter

import pytest

from perfkit.models.banks import pairing
from tests.gpu import access_patterns as program
from tests.gpu.patterns import KINDS, LANES, WIDTHS, parse, pattern


def test_patterns_are_those_of_the_seed_and_cover_what_is_in_question():
    found = program.patterns(1, 1000)
    assert found == program.patterns(1, 1000)
    assert found != program.patterns(2, 1000)
    assert len(found) == 1000
    assert {one.width for one in found} == set(WIDTHS)
    assert {one.kind for one in found} == set(KINDS)
    assert all(len(one.offsets) == LANES for one in found)
    pairs = Counter((one.width, pairing(one.width, one.offsets)) for one in found)
    assert all(pairs[width, bit] > 20 for width in (8, 16) for bit in (None, 1, 2))
    for first in range(0, len(found), program.TOGETHER):
        assert len({one.width for one in found[first : first + program.TOGETHER]}) == 1


def test_a_pattern_is_read_as_it_was_written():
    chance = random.Random(1)
    for width in WIDTHS:
        one = pattern(chance, width)
        assert parse(one.kind, str(one.width), one.text) == one


def profile(path, listed, change=None, metrics=program.METRICS):
    """What Nsight Compute would write if every prediction were right, but for ``change``."""
    lines = [["ID", "Kernel Name", *metrics], ["", "", *("" for _ in metrics)]]
    for first in range(0, len(listed), program.TOGETHER):
        four = listed[first : first + program.TOGETHER]
        sums = dict.fromkeys(program.EXECUTED, program.REPEATS)
        for name, metric in program.COUNTS.items():
            sums[metric] = sum(
                program.predicted(one)[name] * program.BASE**k for k, one in enumerate(four)
            )
        if change and first == 0:
            sums |= {metric: sums[metric] + by for metric, by in change.items()}
        lines.append(
            [
                first // program.TOGETHER,
                f"access_{four[0].width}",
                *(f"{sums[m]:,}" for m in metrics),
            ]
        )
    with path.open("w", newline="") as file:
        file.write("==PROF== Connected to process 1\n")
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(lines)


@pytest.fixture
def listed(tmp_path):
    found = program.patterns(3, 200)
    rows = [(one.kind, one.width, one.text) for one in found]
    program.write(tmp_path / "list.csv", program.COLUMNS, rows)
    return tmp_path, found


def compare(folder):
    return program.main(["compare", str(folder / "list.csv"), str(folder / "ncu.csv")])


def test_right_predictions(listed, capsys):
    folder, found = listed
    profile(folder / "ncu.csv", found)
    assert compare(folder) == 0
    assert "all: 200 patterns, 1200 compared, 0 differ" in capsys.readouterr().out
    with (folder / "list-measured.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    for row, one in zip(table, found, strict=True):
        assert {name: int(row[name]) for name in program.COUNTS} == program.predicted(one)


def test_a_misfit_is_shown_with_its_place(listed, capsys):
    folder, found = listed
    # one wavefront more in the third pattern of the first launch
    profile(folder / "ncu.csv", found, {program.COUNTS["shared_ld"]: program.BASE**2})
    assert compare(folder) == 1
    out = capsys.readouterr().out
    expected = program.predicted(found[2])["shared_ld"]
    assert f"misfit: shared_ld, {found[2].width} bytes: {expected + 1}, not {expected}" in out
    assert found[2].text in out
    assert "1200 compared, 1 differ" in out


@pytest.mark.parametrize(
    ("change", "metrics", "says"),
    [
        ({program.EXECUTED[0]: 1}, program.METRICS, "37061 not 37060"),
        (None, program.METRICS[1:], "no column l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld"),
    ],
)
def test_what_is_no_measurement(listed, change, metrics, says):
    folder, found = listed
    profile(folder / "ncu.csv", found, change, metrics)
    with pytest.raises(SystemExit) as stop:
        compare(folder)
    assert says in str(stop.value).replace(",", "")


def test_files_that_do_not_belong_together(listed):
    folder, found = listed
    profile(folder / "ncu.csv", found[:-4])
    with pytest.raises(SystemExit, match="200 patterns in"):
        compare(folder)
    profile(folder / "ncu.csv", found[::-1])
    with pytest.raises(SystemExit, match="do not belong together"):
        compare(folder)
    (folder / "ncu.csv").write_text("==PROF== Disconnected\n")
    with pytest.raises(SystemExit, match="no table"):
        compare(folder)


def test_the_metrics_are_printed_for_the_profiler(capsys):
    assert program.main(["metrics"]) == 0
    assert capsys.readouterr().out.strip().split(",") == list(program.METRICS)


def test_the_program_explains_itself(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["access_patterns.py", "--help"])
    with pytest.raises(SystemExit) as stop:
        runpy.run_path(program.__file__, run_name="__main__")
    assert stop.value.code == 0
    assert "usage:" in capsys.readouterr().out


def test_kernels_compile():
    pytest.importorskip("cuda.bindings.nvrtc")
    from perfkit.access import require_nvrtc
    from perfkit.errors import Unavailable

    try:
        require_nvrtc()
    except Unavailable as error:
        pytest.skip(str(error))
    from tests.gpu.card import compile_cubin

    cubin = compile_cubin(program.source(), "sm_90")
    assert all(f"access_{width}".encode() in cubin for width in WIDTHS)

"""``perfkit sweep``: ranges as typed, every format, and what no launch can have."""

from __future__ import annotations

import csv
import json
from io import StringIO

import pandas as pd
import pytest

import perfkit as package
from perfkit.analysis import frame
from tests.report.schemas import undescribed, validate


def rows(done):
    assert done.code == 0, done.err
    return list(csv.DictReader(StringIO(done.out)))


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("64", [64]),
        ("64,128", [64, 128]),
        ("64:256:64", [64, 128, 192, 256]),
        ("32:100:32", [32, 64, 96]),
        ("30:32", [30, 31, 32]),
        ("7:7", [7]),
        ("1:3,64,100:300:100", [1, 2, 3, 64, 100, 200, 300]),
        (" 64 , 128 ", [64, 128]),
    ],
)
def test_ranges_include_both_ends(perfkit, typed, expected):
    found = rows(perfkit(["sweep", "-g", "9.0", "-t", typed, "-f", "csv"]))
    assert [int(row["block_threads"]) for row in found] == expected


def test_sizes_in_ranges(perfkit):
    found = rows(perfkit("sweep -g 9.0 -t 32 -s 0:2K:1K,48KiB -f csv"))
    assert [int(row["shared_bytes_per_block"]) for row in found] == [0, 1024, 2048, 49152]


def test_the_last_option_varies_fastest(perfkit):
    found = rows(perfkit("sweep -g 9.0,8.6 -t 32,64 -r 16,32 --carveout default,0%,100% -f csv"))
    assert len(found) == 2 * 2 * 2 * 3
    assert [row["carveout_percent"] for row in found[:4]] == ["-1", "0", "100", "-1"]
    assert [row["target"] for row in found] == ["9.0"] * 12 + ["8.6"] * 12


def test_the_figures_are_those_of_the_library(perfkit):
    found = rows(perfkit("sweep -g 8.6 -t 32:1024:96 -r 0:255:51 -s 0:99K:33K --barriers 2 -f csv"))
    assert len(found) == 11 * 6 * 4
    for row in found[::7]:
        expected = package.occupancy(
            "8.6",
            threads=int(row["block_threads"]),
            regs=int(row["registers_per_thread"]),
            smem=int(row["shared_bytes_per_block"]),
            barriers=2,
        )
        assert int(row["blocks_per_sm"]) == expected.blocks_per_sm
        assert int(row["warps_per_sm"]) == expected.warps_per_sm
        assert float(row["occupancy"]) == expected.ratio


def test_the_hardware_rule(perfkit):
    # 14 % of 228 KiB holds 31 blocks' own kilobytes, and their reserve comes on top
    ask = "sweep -g 9.0 -t 32 -r 16 -s 1K --carveout 14% -f csv"
    assert [
        rows(perfkit(f"{ask} --occupancy-rule {rule}"))[0]["blocks_per_sm"]
        for rule in ("driver", "hardware")
    ] == [
        "16",
        "32",
    ]


def test_json(perfkit):
    content = json.loads(perfkit("sweep -g h100,8.6 -t 64,128 -f json").out)
    validate("sweep", content)
    assert undescribed("sweep", content) == []
    assert len(content["results"]) == 4


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_for_people(perfkit, form):
    done = perfkit(f"sweep -g h100 -t 64 -s 16K -f {form}")
    assert done.code == 0
    assert "16 KiB" in done.out
    assert "default" in done.out


def test_files_hold_the_same_frame(perfkit, tmp_path):
    ask = ["sweep", "-g", "h100,8.6", "-t", "64:256:64", "-r", "32,64"]
    for form in ("csv", "parquet"):
        assert perfkit([*ask, "-f", form, "-o", str(tmp_path / form)]) == (0, "", "")
    expected = pd.read_csv(tmp_path / "csv")
    found = pd.read_parquet(tmp_path / "parquet")
    assert len(found) == 16
    assert found.astype({"target": str}).to_dict("list") == expected.to_dict("list")
    assert {path.name for path in tmp_path.iterdir()} == {"csv", "parquet"}


def test_pieces_have_one_header(perfkit, monkeypatch):
    monkeypatch.setattr(frame, "_ROWS", 5)
    done = perfkit("sweep -g 9.0,8.6 -t 32:1024:32 -r 16,32 -f csv")
    assert done.out.count("target") == 1
    assert len(done.out.splitlines()) == 1 + 2 * 32 * 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("-t 5:1", "--threads '5:1': not a range"),
        ("-t 1:2:0", "--threads '1:2:0': not a range"),
        ("-t 1:2:3:4", "--threads '1:2:3:4': not a range"),
        ("-t 1:", "--threads '1:': '' is not a whole number"),
        ("-t 64,", "--threads '64,': '' is not a whole number"),
        ("-t 1.5", "--threads '1.5': '1.5' is not a whole number"),
        ("-t 0:1024:32", "--threads 0: compute capability 9.0 takes 1 to 1024"),
        ("-t 32:1056:32", "--threads 1056: compute capability 9.0 takes 1 to 1024"),
        ("-r 0:256:8", "--regs 256: compute capability 9.0 takes 0 to 255"),
        ("-r -1", "--regs '-1': '-1' is not a whole number"),
        ("-s 228K", "--smem: 233472 bytes"),
        ("-s 1e", "--smem '1e': '1e' is not a size"),
        ("-s 0:9999999999999999:1", "too many values"),
        ("--barriers 17", "--barriers 17: compute capability 9.0 takes 0 to 16"),
        ("--carveout 101%", "--carveout 101%"),
        ("--carveout 50%,", "--carveout '' is not a size"),
        ("-g h100,v100 --carveout 64K", "--carveout 64K is another share on each GPU"),
        ("--occupancy-rule luck", "--occupancy-rule: 'luck' is not"),
        ("-f parquet", "Parquet is binary"),
        ("-t 1:1024 -r 0:255", "262144 rows"),
    ],
)
def test_what_is_refused_and_how(refused, arguments, says):
    assert says in refused(f"sweep -g h100 {arguments}")


def test_shared_memory_that_fits_one_target_is_zero_blocks_on_the_other(perfkit):
    found = rows(perfkit("sweep -g h100,v100 -t 32 -s 128K -f csv"))
    assert [row["blocks_per_sm"] for row in found] == ["1", "0"]


def test_parquet_without_pyarrow_says_what_to_install(refused, monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    err = refused(["sweep", "-g", "9.0", "-f", "parquet", "-o", str(tmp_path / "out")], code=4)
    assert "perfkit[parquet]" in err
    assert list(tmp_path.iterdir()) == []


def test_a_value_typed_twice_is_one_row(perfkit):
    done = perfkit("sweep -g h100,9.0,h100 -t 32,32,32:64:32 --carveout 50%,50% -f csv")
    assert len(done.out.splitlines()) == 1 + 2 * 2


def test_what_is_too_large_in_a_range_is_a_row_with_no_block(perfkit, refused):
    done = perfkit("sweep -g h100 -t 64 -s 0:300K:100K -f json")
    assert [row["blocks_per_sm"] for row in json.loads(done.out)["results"]] == [32, 2, 1, 0]
    assert "allows 232448" in refused("sweep -g h100 -t 64 -s 300K:400K:100K")


def test_the_column_of_barriers_is_shown_where_they_were_asked_about(perfkit):
    assert "barriers" in perfkit("sweep -g h100 -t 64 --barriers 16").out
    assert "barriers" not in perfkit("sweep -g h100 -t 64").out


def test_no_preference_may_be_written_as_it_is_shown(perfkit):
    line = "-g 8.6,9.0 -t 64:256:64 -r 40 -s 20K -f csv --carveout"
    assert perfkit(f"sweep {line} -1").out == perfkit(f"sweep {line} default").out
    line = "occupancy -g 8.6 -t 256 -r 40 -s 20K --carveout"
    assert perfkit(f"{line} -1").out == perfkit(f"{line} default").out

"""``perfkit overlap``: a pipeline of copies and kernels."""

from __future__ import annotations

import csv
import json
from io import StringIO

import pytest

from tests.report.schemas import undescribed, validate

EXACT = (
    "overlap --h2d 1G --h2d-gb-per-s 1.073741824 --d2h 1G --d2h-gb-per-s 1.073741824 "
    "--kernel-ms 1000 --copy-overhead-us 0 --launch-overhead-us 0"
)


def result(done):
    assert done.code == 0, done.err
    content = json.loads(done.out)
    validate("overlap", content)
    assert undescribed("overlap", content) == []
    return content


def test_equal_stages(perfkit):
    found = result(perfkit(f"{EXACT} --chunks 4 -f json"))
    # 1 s each: 3/4 + 3/4, and twice the way from one engine to the next
    assert found["makespan_s"] == pytest.approx(1.5 + 2 * found["handoff_s"])
    assert found["speedup"] == pytest.approx(2, rel=1e-4)
    assert found["limit_speedup"] == pytest.approx(3, rel=1e-4)
    assert [e["engine"] for e in found["engines"]] == ["h2d", "kernel", "d2h"]
    assert len(found["spans"]) == 12


def test_one_copy_engine_issued_in_order(perfkit):
    def seconds(arguments):
        return result(perfkit(f"{EXACT} --chunks 4 --copy-engines 1 {arguments} -f json"))[
            "makespan_s"
        ]

    # the timelines of NVIDIA's blog on a C1060, in quarters of a second
    assert seconds("--queue in-order") == pytest.approx(3, rel=1e-3)
    assert seconds("--queue in-order --order breadth-first") == pytest.approx(2, rel=1e-3)
    assert seconds("") == pytest.approx(2, rel=1e-3)


def test_the_best_number_of_chunks(perfkit):
    line = "overlap --h2d 1G --d2h 1G --kernel-ms 20 --link pcie4x16 -f json"
    found = result(perfkit(f"{line} --best --max-chunks 64"))
    tried = [result(perfkit(f"{line} --chunks {n}"))["makespan_s"] for n in (1, 8, 32, 63, 64)]
    assert found["best"]
    assert found["makespan_s"] <= min(tried)
    assert found["enough_chunks"] <= found["chunks"] <= 64


def test_copies_in_decimal_and_in_binary_units(perfkit):
    def seconds(sizes):
        line = f"overlap {sizes} --h2d-gb-per-s 10 --d2h-gb-per-s 10 --chunks 1 -f json"
        return {e["engine"]: e["busy_s"] for e in result(perfkit(line))["engines"]}

    found = seconds("--h2d 20GB --d2h 20GiB")
    assert found["h2d"] == pytest.approx(2, rel=1e-3)
    assert found["d2h"] == pytest.approx(2 * 2**30 / 10**9, rel=1e-3)
    assert seconds("--h2d 20G --d2h 20G")["h2d"] == pytest.approx(found["d2h"], rel=1e-6)


def test_pageable_memory_says_what_would_help(perfkit):
    done = perfkit("overlap --h2d 1G --kernel-ms 20 --link pcie4x16 --pageable --chunks 4")
    assert "pinned memory (cudaMallocHost, cudaHostRegister) is what makes copies overlap" in (
        done.out
    )


def test_the_timeline(perfkit):
    done = perfkit(f"{EXACT} --chunks 4")
    rows = [line for line in done.out.splitlines() if line.startswith(("copy", "kernel"))]
    # six quarters of a second in 64 characters: in each stage four chunks, each a sixth
    assert rows[0].split()[3].startswith("0" * 10)
    assert rows[1].split()[1].count("1") in {10, 11}
    assert rows[2].split()[2].startswith("." * 20)
    assert rows[2].split()[2].endswith("3" * 10)


@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown"])
def test_every_format(perfkit, form):
    done = perfkit(f"{EXACT} --best -f {form}")
    assert done.code == 0


def test_csv_has_the_counts(perfkit):
    rows = list(csv.DictReader(StringIO(perfkit(f"{EXACT} --chunks 3 -f csv").out)))
    assert [row["chunks"] for row in rows] == ["1", "2", "3", "4", "8", "16", "32", "64"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("", "nothing to do"),
        ("--h2d 1G", "no rate for copies to the GPU"),
        ("--d2h 1G", "no rate for copies from the GPU"),
        ("--h2d 1G --link usb", "--link 'usb' is not a link"),
        ("--h2d 1G --link pcie4x3", "--link PCI Express 4.0 x3"),
        ("--h2d x --link pcie4", "--h2d 'x' is not a size"),
        ("--h2d -1 --link pcie4", "--h2d '-1'"),
        ("--kernel-ms -1", "--kernel-ms -1: must be 0 or more"),
        ("--kernel-ms nan", "--kernel-ms nan"),
        ("--kernel-ms 1e300", "must be 0 or more and at most 1e+09"),
        ("--kernel-ms 1 --chunks 0", "--chunks: 0 is not in the range"),
        ("--kernel-ms 1 --chunks 99999", "99999 is not in the range 1<=x<=4096"),
        ("--kernel-ms 1 --streams 0", "--streams"),
        ("--kernel-ms 1 --copy-engines 3", "--copy-engines"),
        ("--kernel-ms 1 --best --chunks 4", "leave out --chunks"),
        ("--kernel-ms 1 --best --max-chunks 100000", "--max-chunks"),
        ("--kernel-ms 1 --max-chunks 8", "--max-chunks is how far --best looks"),
        ("--kernel-ms 1 --chunks 4 --max-chunks 8", "--max-chunks is how far --best looks"),
        ("--kernel-ms 1 --copy-overhead-us -1", "--copy-overhead-us -1: must be 0 or more"),
        ("--h2d 1G --h2d-gb-per-s 0", "--h2d-gb-per-s 0: must be above 0"),
        ("--h2d 1G --link pcie4 --duplex 0", "--duplex 0: must be above 0 and at most 1"),
        ("--h2d 1G --link c2c --pageable", "pageable memory are over nvlink-c2c"),
        ("--kernel-ms 1 --order random", "'random'"),
    ],
)
def test_what_is_refused_and_how(refused, arguments, says):
    assert says in refused(f"overlap {arguments}")


def test_the_share_of_both_directions_in_percent(perfkit):
    line = "overlap --h2d 1G --d2h 1G --kernel-ms 5 --link pcie4x16 --chunks 4 -f csv --duplex"
    assert perfkit(f"{line} 85%").out == perfkit(f"{line} 0.85").out != perfkit(f"{line} 90%").out

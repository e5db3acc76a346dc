"""``perfkit latency``: warps that hide a latency."""

from __future__ import annotations

import csv
import json
from io import StringIO

import pytest

from perfkit.arch import catalog
from tests.report.schemas import undescribed, validate


def results(done):
    assert done.code == 0, done.err
    content = json.loads(done.out)
    validate("latency", content)
    assert undescribed("latency", content) == []
    return content["results"]


def test_the_example_of_the_help(perfkit):
    (found,) = results(perfkit("latency -g h100 --latency-ns 600 --width 16 --ilp 4 -f json"))
    assert found["warps_needed"] == 8
    assert found["needed_per_sm"] == pytest.approx(3350e9 / 132 * 600e-9)
    assert found["share_of_peak"] is None


def test_the_programming_guide(perfkit):
    found = results(perfkit("latency -g 7.0,6.0 --level issue --latency-cycles 4 -f json"))
    assert [r["warps_needed"] for r in found] == [16, 8]
    assert {r["unit"] for r in found} == {"warp instructions"}


def test_a_launch_beside_it(perfkit):
    (found,) = results(perfkit("latency -g h100 --latency-ns 600 -t 256 -r 64 -f json"))
    assert found["warps_per_sm"] == 32
    assert found["share_of_peak"] == pytest.approx(32 * 128 / found["needed_per_sm"])
    assert found["ilp_needed"] == 4  # 15,227 / (32 * 128) = 3.7
    assert any("119 warps are more than an SM holds" in note for note in found["notes"])


def test_a_launch_that_does_not_fit(perfkit):
    done = perfkit("latency -g h100 --latency-ns 600 -t 1024 -r 255")
    assert (done.code, done.out) == (2, "")
    assert "no block of 1024 threads is resident on h100-sxm5: 262144 registers per" in done.err
    # 1,024 threads of 40 registers are more than a block of 6.2 may have, and not of 9.0
    done = perfkit("latency -g 6.2,9.0 --level issue --latency-cycles 4 -t 1024 -r 40")
    assert done.code == 2
    assert [line.split()[0] for line in done.out.splitlines()[3:4]] == ["9.0"]
    assert "resident on 6.2: 40960 registers per block, 32768 allowed" in done.err


def test_all_are_all_products_where_bandwidths_are_asked_for(perfkit):
    """A capability has no bandwidth, and most products no measured latency: the others answer."""
    done = perfkit("latency -g all")
    assert done.code == 0, done.err
    known = {g.key for g in catalog.all_gpus() if g.latency and g.latency.dram_cycles is not None}
    shown = {line.split()[0] for line in done.out.split("\n\n")[0].splitlines()[3:]}
    assert shown == known
    assert len(known) > 5
    assert "note: left out: a10: how long is the latency of dram?" in done.err
    unknown = len(catalog.all_gpus()) - len(known)
    assert f"(and {unknown - 3} more like it)" in done.err
    # a family is its products, a product that is named has to answer
    assert {r["target"] for r in results(perfkit("latency -g volta -f json"))} < known
    assert perfkit("latency -g volta,t4").code == 2
    assert perfkit("latency -g 9.0").code == 2
    # of an SM alone the capabilities know all there is
    per_sm = results(perfkit("latency -g all --level issue --latency-cycles 4 -f json"))
    assert [r["target"] for r in per_sm] == list(catalog.capability_keys())


@pytest.mark.parametrize("level", ["dram", "shared", "issue", "f32", "f64", "int32", "sfu"])
def test_every_level_in_every_format(perfkit, level):
    for form in ("table", "json", "csv", "markdown"):
        done = perfkit(f"latency -g h100,rtx-4090 --level {level} --latency-ns 20 -f {form}")
        assert done.code == 0, done.err
        assert "h100" in done.out
    for level_of_cache in ("l1", "l2"):
        done = perfkit(f"latency -g h100 --level {level_of_cache} --latency-ns 99 --gb-per-s 5500")
        assert done.code == 0


def test_csv_has_the_keys_of_json(perfkit):
    line = "latency -g h100,a100 --latency-ns 600 -t 128 -r 40 -f"
    rows = list(csv.DictReader(StringIO(perfkit(f"{line} csv").out)))
    expected = results(perfkit(f"{line} json"))
    assert [row["warps_needed"] for row in rows] == [str(r["warps_needed"]) for r in expected]
    assert set(rows[0]) <= set(expected[0])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("--level f32", "how long is the latency of f32? The database does not say"),
        ("--latency-ns 600 --latency-cycles 4", "one latency is enough"),
        ("--latency-ns 0", "--latency-ns 0: must be above 0"),
        ("--latency-ns -5", "--latency-ns -5"),
        ("--latency-ns nan", "--latency-ns nan"),
        ("--latency-ns inf", "--latency-ns inf"),
        ("--latency-ns 1e300", "must be above 0 and at most"),
        ("--latency-ns x", "'x'"),
        ("--latency-ns 600 --width 3", "--width 3: a lane moves"),
        ("--latency-ns 600 --width 0", "--width 0: a lane moves"),
        ("--latency-ns 600 --ilp 0", "--ilp"),
        ("--latency-ns 600 --ilp -1", "--ilp"),
        ("--latency-ns 600 --level l3", "'l3'"),
        ("--latency-ns 600 --level l2", "l2 bandwidth is not known"),
        ("--latency-ns 600 --gb-per-s 0", "--gb-per-s 0:"),
        ("--latency-ns 600 --clock-mhz -1", "--clock-mhz -1"),
        ("--latency-ns 600 -r 32", "how many threads per block"),
        ("--latency-ns 600 -t 2048 -r 32", "--threads 2048"),
        ("--latency-ns 600 -t 128 -s 228K", "--smem: 233472 bytes"),
    ],
)
def test_what_is_refused_and_how(refused, arguments, says):
    assert says in refused(f"latency -g h100 {arguments}")


def test_a_capability_alone(refused):
    assert "name a product" in refused("latency -g 9.0 --latency-ns 600")
    assert "no GPU given" in refused("latency --latency-ns 600")


def test_without_a_latency_that_of_the_database(perfkit):
    (found,) = results(perfkit("latency -g h200 --width 16 -f json"))
    assert found["latency_cycles"] == pytest.approx(696)
    assert found["latency_source"].startswith("latency.dram_cycles: h200-measured, ")
    assert any("h200-measured" in note for note in found["notes"])
    (given,) = results(perfkit("latency -g h200 --width 16 --latency-cycles 696 -f json"))
    assert given["latency_source"] is None
    assert given["warps_needed"] == found["warps_needed"]


def test_a_product_without_a_latency_leaves_the_others_theirs(perfkit):
    done = perfkit("latency -g h200,t4,a100 -f json")
    assert [one["target"] for one in json.loads(done.out)["results"]] == [
        "h200-sxm",
        "a100-sxm4-80gb",
    ]
    assert done.code == 2
    assert "t4: how long is the latency of dram?" in done.err

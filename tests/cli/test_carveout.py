"""``perfkit carveout``: every capacity, and one launch under each."""

from __future__ import annotations

import csv
import json
from io import StringIO

import pytest

import perfkit as package
from perfkit.arch import catalog
from tests.report.schemas import undescribed, validate


def results(done):
    assert done.code == 0, done.err
    content = json.loads(done.out)
    validate("carveout", content)
    assert undescribed("carveout", content) == []
    return content["results"]


def test_the_capacities_alone(perfkit):
    found = results(perfkit("carveout -g 7.5 -f json"))
    # cuda_occupancy.h: 0..50 % give 32 KiB, the rest 64 KiB, without a preference the largest
    assert [(r["first_percent"], r["last_percent"], r["capacity_bytes"]) for r in found] == [
        (None, None, 65536),
        (0, 50, 32768),
        (51, 100, 65536),
    ]
    assert {r["configured_bytes"] for r in found} == {None}
    assert [r["l1_bytes"] for r in found] == [32768, 65536, 32768]  # 96 KiB unified


def test_every_percentage_is_in_one_range_on_every_capability(perfkit):
    found = results(perfkit("carveout -g all -f json"))
    for key in catalog.capability_keys():
        mine = [r for r in found if r["target"] == key and r["first_percent"] is not None]
        covered = [p for r in mine for p in range(r["first_percent"], r["last_percent"] + 1)]
        assert covered == (list(range(101)) if mine else [])
        for r in mine:
            for percent in (r["first_percent"], r["last_percent"]):
                assert package.carveout_bytes(key, percent) == r["capacity_bytes"]
    assert len({r["target"] for r in found}) == 20


def test_a_launch_under_each_capacity(perfkit):
    for r in results(perfkit("carveout -g h100 -t 64 -r 16 -s 1K -f json")):
        given = r["first_percent"]
        for rule in ("driver", "hardware"):
            expected = package.occupancy(
                "9.0", threads=64, regs=16, smem=1024, carveout=given, rule=rule
            )
            assert r[f"{rule}_blocks_per_sm"] == expected.blocks_per_sm
        assert r["configured_bytes"] == package.configured_shared_bytes(
            "9.0", 64, 16, 1024, -1 if given is None else given
        )
        assert r["configured_bytes"] + r["configured_l1_bytes"] == 256 * 1024
        assert r["evidence"] == "measured"


def test_csv_has_the_keys_of_json(perfkit):
    done = perfkit("carveout -g h100,6.1 -t 64 -r 0 -f csv")
    rows = list(csv.DictReader(StringIO(done.out)))
    expected = results(perfkit("carveout -g h100,6.1 -t 64 -r 0 -f json"))
    assert rows == [
        {key: "" if value is None else str(value) for key, value in r.items()} for r in expected
    ]


def test_dedicated_shared_memory_says_so(perfkit):
    done = perfkit("carveout -g 6.1")
    assert "shared memory is dedicated, a preference has no effect" in done.out
    assert len(results(perfkit("carveout -g 6.1 -f json"))) == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("-r 32", "--regs and --smem describe a launch"),
        ("-s 1K", "--regs and --smem describe a launch"),
        ("-t 64", "no register count given"),
        ("-t 1025 -r 32", "--threads 1025: "),
        ("-t 1,1,65 -r 32", "--threads: z is 65"),
        ("-t 64 -r 256", "--regs 256: "),
        ("-t 64 -r 32 -s 228K", "--smem: 233472 bytes"),
        ("-t 64 -r 32 -s -1", "--smem '-1'"),
    ],
)
def test_what_is_refused_and_how(refused, arguments, says):
    assert says in refused(f"carveout -g h100 {arguments}")


def test_nothing_is_configured_where_nothing_launches(perfkit):
    done = perfkit("carveout -g h100 -t 1024 -r 128")
    # 4,096 registers a warp, 32 warps
    assert "does not launch on h100-sxm5: the launch check counts 131072 registers" in done.out
    assert "evidence" not in done.out
    assert "configured" not in done.out
    content = json.loads(perfkit("carveout -g h100 -t 1024 -r 128 -f json").out)
    for r in content["results"]:
        assert r["configured_bytes"] is r["configured_l1_bytes"] is r["evidence"] is None
        assert r["hardware_blocks_per_sm"] == 0
    (choice,) = content["choices"]
    assert (choice["refusal"]["needed"], choice["percent"]) == (131072, None)


def test_the_reserve_is_only_spoken_of_where_there_is_one(perfkit):
    for gpu, spoken in (("v100", False), ("7.5", False), ("gtx-980", False), ("a100", True)):
        done = perfkit(f"carveout -g {gpu} -t 256 -r 32 -s 8K")
        assert ("the reserve of every block" in done.out) is spoken


def test_what_no_preference_means(perfkit):
    alone = perfkit("carveout -g h100").out
    assert "computes with all of 228 KiB, what the driver configures depends on the launch" in alone
    launch = perfkit("carveout -g h100 -t 256 -r 32 -s 4K").out
    # 8 blocks of 5 KiB, room for 16 of them, 80 KiB, the next capacity is 100
    assert "the driver configures 100 KiB for this launch" in launch


@pytest.mark.parametrize(
    ("gpu", "launch"),
    [("h100", "64 16 1K"), ("h100", "256 32 20K"), ("a100", "128 32 4K"), ("7.5", "256 32 1K")],
)
def test_the_last_line_says_what_to_set(perfkit, gpu, launch):
    """Held against every percentage: no block is lost, and none leaves L1 more."""
    threads, regs, smem = launch.split()
    ask = f"carveout -g {gpu} -t {threads} -r {regs} -s {smem}"
    last = perfkit(ask).out.splitlines()[-1]
    content = json.loads(perfkit(f"{ask} -f json").out)
    (choice,) = content["choices"]
    (target,) = catalog.targets(gpu)
    capability, size = target.capability, int(smem.rstrip("K")) * 1024
    # where the hardware's rule is not measured, the API's is the careful one
    rule = "hardware" if choice["evidence"] == "measured" else "driver"
    kept = {}
    for percent in range(101):
        found = package.occupancy(
            capability, threads=int(threads), regs=int(regs), smem=size, carveout=percent, rule=rule
        )
        if found.blocks_per_sm == choice["blocks_per_sm"]:
            kept[percent] = package.configured_shared_bytes(
                capability, int(threads), int(regs), size, percent
            )
    default = package.configured_shared_bytes(capability, int(threads), int(regs), size)
    least = min([*kept.values(), default])
    assert choice["configured_bytes"] == least
    if least == default:
        assert choice["percent"] is None
        assert "leave the default" in last
    else:
        assert choice["percent"] == min(p for p, size in kept.items() if size == least)
        assert f"set {choice['percent']}%" in last

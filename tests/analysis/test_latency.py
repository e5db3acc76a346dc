"""Warps that hide a latency on a target, step by step from the database."""

from __future__ import annotations

import pytest

from perfkit.analysis.latency import LatencyQuestion, Level, latency
from perfkit.analysis.launch import Launch
from perfkit.arch import catalog
from perfkit.errors import DoesNotFit, UsageError


def target(name):
    (found,) = catalog.targets(name)
    return found


def test_dram_of_a_product():
    h100 = target("h100")
    found = latency(
        h100,
        LatencyQuestion(level=Level.DRAM, latency_s=600e-9, width_bytes=16, ilp=4),
        Launch(threads=256, regs=64, smem=0),
    )
    # 3350 GB/s over 132 SMs; 256 threads of 64 registers: 4 blocks of 8 warps
    assert found.bytes_per_s == pytest.approx(3350e9 / 132)
    assert found.latency_cycles == pytest.approx(600e-9 * 1980e6)
    assert found.concurrency.needed == pytest.approx(3350e9 / 132 * 600e-9)
    assert found.concurrency.warps_needed == 8  # 15,227 / (32 * 16 * 4) = 7.4
    assert found.concurrency.resident_warps == 32
    assert found.concurrency.share == 1.0
    assert found.occupancy_needed == 8 / 64
    assert found.ilp_needed == 1  # 15,227 / (32 warps * 512) = 0.93


def test_more_warps_than_an_sm_holds():
    found = latency(target("h100"), LatencyQuestion(level=Level.DRAM, latency_s=600e-9))
    assert found.concurrency.warps_needed == 119
    assert found.occupancy_needed > 1
    assert found.ilp_needed == 2  # 15,227 / (64 warps * 128) = 1.86
    assert found.occupancy is None
    assert found.warps_needed(width_bytes=4, ilp=1) == 119
    assert found.warps_needed(width_bytes=8, ilp=2) == 30


def test_shared_memory_needs_no_product():
    # 32 banks of 4 bytes a clock, 29 cycles (perfkit ceilings on an H200): 3,712 bytes
    found = latency(target("9.0"), LatencyQuestion(level=Level.SHARED, latency_cycles=29))
    assert found.concurrency.needed == 3712
    assert found.concurrency.warps_needed == 29
    assert found.latency_s is None
    assert found.bytes_per_s is None
    assert found.per_clock == 128


@pytest.mark.parametrize(
    ("name", "level", "per_clock"),
    # results per clock and SM in the Programming Guide's table of throughputs, over 32 lanes
    [("7.0", Level.F32, 2), ("7.0", Level.F64, 1), ("9.0", Level.F32, 4), ("8.9", Level.SFU, 0.5)],
)
def test_arithmetic(name, level, per_clock):
    found = latency(target(name), LatencyQuestion(level=level, latency_cycles=4, ilp=2))
    assert found.per_clock == per_clock
    assert found.concurrency.needed == 4 * per_clock
    assert found.concurrency.per_warp == 2
    assert found.bytes_per_s is None


def test_a_time_is_read_by_the_clock_given():
    question = LatencyQuestion(level=Level.SHARED, latency_s=20e-9, clock_hz=1e9)
    assert latency(target("9.0"), question).latency_cycles == pytest.approx(20)
    question = LatencyQuestion(level=Level.DRAM, latency_cycles=700, clock_hz=1e9)
    assert latency(target("h100"), question).latency_s == pytest.approx(700e-9)


def test_a_measured_bandwidth_takes_the_place_of_the_data_sheet():
    question = LatencyQuestion(level=Level.L2, latency_s=150e-9, bytes_per_s=5.5e12)
    assert latency(target("h100"), question).concurrency.needed == pytest.approx(
        5.5e12 / 132 * 150e-9
    )


def test_a_launch_that_does_not_fit_has_no_answer():
    # 256 registers for each of 1,024 threads, for they come in units of 8
    question = LatencyQuestion(level=Level.DRAM, latency_s=600e-9)
    with pytest.raises(DoesNotFit, match="262144 registers per block, 65536 allowed"):
        latency(target("h100"), question, Launch(threads=1024, regs=255, smem=0))


@pytest.mark.parametrize(
    ("name", "question", "says"),
    [
        ("h100-pcie", LatencyQuestion(level=Level.DRAM), "how long is the latency of dram?"),
        ("9.0", LatencyQuestion(level=Level.DRAM), "how long is the latency of dram?"),
        ("t4", LatencyQuestion(level=Level.SHARED), "how long is the latency of shared?"),
        ("h200", LatencyQuestion(level=Level.ISSUE), "how long is the latency of issue?"),
        (
            "h100",
            LatencyQuestion(level=Level.DRAM, latency_s=1e-6, latency_cycles=4),
            "in seconds or in",
        ),
        ("9.0", LatencyQuestion(level=Level.DRAM, latency_s=1e-6), "how many SMs"),
        ("9.0", LatencyQuestion(level=Level.SHARED, latency_s=1e-6), "no known clock"),
        ("h100", LatencyQuestion(level=Level.L2, latency_s=1e-6), "l2 bandwidth is not known"),
        (
            "h100",
            LatencyQuestion(level=Level.F32, latency_cycles=4, bytes_per_s=1e9),
            "no bandwidth",
        ),
        ("h100", LatencyQuestion(level=Level.DRAM, latency_s=0.0), "latency = 0"),
        ("h100", LatencyQuestion(level=Level.DRAM, latency_s=1e-6, clock_hz=-1), "clock = -1"),
        (
            "h100",
            LatencyQuestion(level=Level.DRAM, latency_s=1e-6, bytes_per_s=-1),
            "bandwidth = -1",
        ),
        ("h100", LatencyQuestion(level=Level.DRAM, latency_s=1e-6, ilp=0), "ilp = 0"),
        ("h100", LatencyQuestion(level=Level.F32, latency_cycles=4, ilp=0), "ilp = 0"),
    ],
)
def test_what_cannot_be_told(name, question, says):
    with pytest.raises(UsageError, match=says):
        latency(target(name), question)


@pytest.mark.parametrize(
    ("name", "level", "cycles"),
    [
        # measured on an H200: docs/validation, overlap
        ("h200", Level.SHARED, 30),
        ("h200", Level.L1, 40),
        ("h200", Level.DRAM, 696),
        ("9.0", Level.SHARED, 30),
        # the third party's table
        ("a100", Level.L2, 210),
        ("v100-sxm2-32gb", Level.L2, 221),
        ("rtx-4090", Level.DRAM, 636),
    ],
)
def test_latencies_of_the_database(name, level, cycles):
    found = latency(target(name), LatencyQuestion(level=level))
    assert found.latency_cycles == pytest.approx(cycles)
    assert found.latency_source.startswith(f"latency.{level}_cycles: ")
    given = latency(target(name), LatencyQuestion(level=level, latency_cycles=cycles))
    assert given.latency_source is None
    assert given.concurrency == found.concurrency


def test_bandwidth_of_caches():
    # 5120 bytes a clock at 1410 MHz over 108 SMs; 32 banks of 4 bytes a clock
    a100 = target("a100")
    assert latency(a100, LatencyQuestion(level=Level.L2)).bytes_per_s == pytest.approx(
        5120 / 108 * 1410e6
    )
    assert latency(a100, LatencyQuestion(level=Level.L1)).per_clock == pytest.approx(128)
    slow = latency(a100, LatencyQuestion(level=Level.L2, clock_hz=705e6))
    assert slow.bytes_per_s == pytest.approx(5120 / 108 * 705e6)

"""Questions like those of tests/data/cases, of the same kinds, with answers worked out by hand."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def first(perfkit):
    """The first result of a command, as JSON has it."""

    def run(arguments):
        done = perfkit([*arguments, "-f", "json"])
        assert done.code == 0, done.err
        return json.loads(done.out)["results"][0]

    return run


@pytest.mark.parametrize(
    ("product", "options", "tflops", "gb_per_s"),
    [
        # SMs x FMA per clock and SM x 2 x clock, and bits / 8 x rate per pin
        ("RTX 3080", "--dtype f16", 68 * 256 * 2 * 1.710e-3, 320 / 8 * 19),  # f32 sums: half rate
        ("RTX 4090", "--dtype f8 --accumulate f16", 128 * 1024 * 2 * 2.52e-3, 384 / 8 * 21),
        ("RTX 4090", "--dtype f8", 128 * 512 * 2 * 2.52e-3, 384 / 8 * 21),
        ("L40", "--dtype bf16", 142 * 256 * 2 * 2.490e-3, 384 / 8 * 18),  # half of an L40S
        ("T4", "--dtype s8", 40 * 1024 * 2 * 1.59e-3, 256 / 8 * 10),
        ("A100 40GB", "--dtype tf32 --sparse", 2 * 108 * 512 * 2 * 1.41e-3, 5120 / 8 * 2.43),
        ("H100 SXM", "--dtype f64", 132 * 128 * 2 * 1.98e-3, 5120 / 8 * 5.23),
    ],
)
def test_peaks_and_ridge_points(product, options, tflops, gb_per_s, first):
    line = ["roofline", "-g", product, *options.split(), "--flops", "1G", "--bytes", "1M"]
    found = first(line)
    assert found["peak_flop_per_s"] / 1e12 == pytest.approx(tflops, rel=5e-3)
    assert found["dram_bytes_per_s"] / 1e9 == pytest.approx(gb_per_s, rel=5e-3)
    assert found["ridge_flop_per_byte"] == pytest.approx(tflops / gb_per_s * 1e3, rel=1e-2)


@pytest.mark.parametrize(
    ("capability", "percent", "kib"),
    [
        # percent of what the SM has, then the next capacity: 9 of 100 is 9, 10.3 has 228
        ("12.0", 8, 8), ("12.0", 9, 16), ("12.0", 33, 64), ("12.0", 65, 100),
        ("10.3", 28, 64), ("10.3", 29, 100), ("10.3", 43, 100), ("10.3", 44, 132),
        ("8.7", 61, 132), ("8.7", 80, 132), ("8.7", 81, 164),
        ("7.5", 0, 32), ("7.5", 50, 32), ("7.5", 51, 64),  # there is no less than 32
        ("7.0", 33, 32), ("7.0", 34, 64),  # 33 of 96 is 31.68, 34 is 32.64
    ],
)  # fmt: skip
def test_what_a_percentage_becomes(capability, percent, kib, perfkit):
    done = perfkit(f"carveout -g {capability} -f json")
    rows = json.loads(done.out)["results"]
    (row,) = [
        row
        for row in rows
        if row["first_percent"] is not None
        and row["first_percent"] <= percent <= row["last_percent"]
    ]
    assert row["capacity_bytes"] == kib * 1024


@pytest.mark.parametrize(
    ("options", "sectors", "percent"),
    [
        # bytes from first to last, in sectors of 32, and how many of them are used
        ("--width 8 --stride 1 --offset 1", 9, 256 / 288),
        ("--width 2 --stride 3", 6, 64 / 192),  # 188 bytes
        ("--width 4 --stride 3", 12, 128 / 384),  # one member of float3
        ("--width 16 --stride 2", 32, 0.5),
        ("--width 1 --stride 1 --offset 31", 2, 0.5),  # 32 bytes over two sectors
        ("--width 4 --stride 1 --active lane<9", 2, 36 / 64),
        ("--width 4 --index (lane%2)*1024+lane/2", 4, 1),  # two runs of 64 bytes
    ],
)
def test_sectors(options, sectors, percent, first):
    found = first(["access", "coalescing", *options.split()])
    assert found["sectors"] == sectors
    assert found["efficiency"] == pytest.approx(percent)


@pytest.mark.parametrize(
    ("options", "wavefronts", "ideal", "way"),
    [
        ("--width 4 --stride 34", 2, 1, 2),  # gcd(34, 32)
        ("--width 4 --stride 48", 16, 1, 16),
        ("--width 8 --stride 2", 4, 2, 2),  # 16 lanes over 256 bytes, twice
        ("--width 16 --stride 1", 4, 4, 1),
        ("--width 16 --stride 2", 8, 4, 2),  # 8 lanes over 256 bytes, four times
        ("--width 1 --stride 4", 1, 1, 1),  # a bank each
        ("--width 1 --stride 1", 1, 1, 1),  # four lanes share a word
        ("--width 4 --index (lane%4)*32+lane/4", 4, 1, 4),  # 8 words a row, 4 rows
        ("--tile 32,36 --width 16 --element 4 --row lane/8 --column lane%8*4", 4, 4, 1),
    ],
)
def test_wavefronts(options, wavefronts, ideal, way, first):
    found = first(["access", "banks", *options.split()])
    assert (found["wavefronts"], found["ideal_wavefronts"]) == (wavefronts, ideal)
    assert found["conflict_way"] == way


@pytest.mark.parametrize(
    ("product", "launch", "grid", "per_sm", "full", "partial"),
    [
        ("a100", "-t 256 -r 32", 1000, 8, 1, 136),  # 108 x 8 = 864
        ("h100", "-t 1024 -r 64", 133, 1, 1, 1),  # one block more than there are SMs
        ("rtx-4090", "-t 768 -r 40", 256, 2, 1, 0),  # 128 SMs, 48 warps
        ("t4", "-t 128 -r 80", 41, 6, 0, 41),  # 40 x 6 = 240
        ("b200", "-t 512 -r 128", 444, 1, 3, 0),  # 148 SMs
    ],
)
def test_waves(product, launch, grid, per_sm, full, partial, first):
    found = first(["occupancy", "-g", product, *launch.split(), "--grid", str(grid)])
    assert found["blocks_per_sm"] == per_sm
    waves = found["waves"]
    assert (waves["full_waves"], waves["partial_wave_blocks"]) == (full, partial)
    assert waves["tail_share_max"] == pytest.approx(1 / (full + 1) if partial else 0)

"""Worked examples of NVIDIA's guides, asked as a reader of them would ask.

The numbers are those that the guides print, or what their words say (half, every lane the same
bank). Sections are those of

* the CUDA C++ Best Practices Guide 12.9 and 13.0 (the same in both),
* the CUDA C++ Programming Guide 12, "Multiprocessor Level",
* the GPU Performance Background User's Guide (DU-09798, 2023), and
* the Matrix Multiplication Background User's Guide (DU-09799, 2023).

What else they print stands beside the models, in tests/models: test_coalescing.py,
test_gemm_traffic.py, test_latency.py and test_operations.py.
"""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def ask(perfkit):
    """The results of a command, as JSON has them: a list, but for the one of a pipeline."""

    def run(arguments, *more):
        done = perfkit([*arguments.split(), *more, "-f", "json"])
        assert done.code == 0, done.err
        content = json.loads(done.out)
        return content.get("results", content)

    return run


# --- Best Practices Guide, 9.2 Bandwidth ----------------------------------------------------------


def test_theoretical_bandwidth(ask):
    """9.2.1: V100, 877 MHz, 4096 bits, double data rate: 898 GB/s; the product page says 900."""
    by_hand = 0.877e9 * (4096 / 8) * 2
    assert by_hand / 1e9 == pytest.approx(898, abs=0.1)
    (found,) = ask("roofline -g v100 --dtype f32 --bytes 1M --flops 1M")
    assert found["dram_bytes_per_s"] == pytest.approx(by_hand, rel=3e-3)


def test_effective_bandwidth(ask):
    """9.2.2: a copy of 2048 x 2048 floats moves 2048^2 x 4 x 2 bytes."""
    (found,) = ask("roofline -g v100 --dtype f32 --op transpose:2048x2048 --time 50us")
    assert found["bytes"] == 2048**2 * 4 * 2
    measured = found["measured"]
    assert measured["dram_bytes_per_s"] == pytest.approx(2048**2 * 4 * 2 / 50e-6)


# --- 10.2.1 Coalesced Access to Global Memory -----------------------------------------------------

XID = "blockIdx.x * blockDim.x + threadIdx.x"


@pytest.mark.parametrize("offset", range(33))
def test_offset_copy(offset, ask):
    """10.2.1.3: four transactions at multiples of 8 words, otherwise five."""
    for block in (0, 1):
        (found,) = ask(
            f"access coalescing -t 256 --grid 2 --block-index {block} --index", f"{XID} + {offset}"
        )
        assert found["sectors"] == (4 if offset % 8 == 0 else 5)


def test_stride_copy(ask):
    """10.2.1.4: a stride of 2 loads eight segments, 50 %; in the end 32 for the 32 threads."""
    strides = " ".join(f"--stride {n}" for n in range(1, 33))
    found = ask(f"access coalescing {strides}")
    assert (found[1]["sectors"], found[1]["efficiency"]) == (8, 0.5)
    sectors = [one["sectors"] for one in found]
    assert sectors == sorted(sectors)
    assert (sectors[0], sectors[-1]) == (4, 32)


def test_what_some_threads_leave_out_is_fetched_anyway(ask):
    """10.2.1.1: a full segment for any subset of its words; permuted it is the same."""
    (some,) = ask("access coalescing --stride 1 --active", "lane % 8 == 0")
    (same,) = ask("access coalescing --index", "threadIdx.x / 8 * 8")
    (permuted,) = ask("access coalescing --index", "(threadIdx.x * 5) % 32")
    assert [one["sectors"] for one in (some, same, permuted)] == [4, 4, 4]


# --- 10.2.3 Shared Memory in Matrix Multiplication, TILE_DIM = 32 ---------------------------------


def test_a_is_read_by_one_word_of_eight(ask):
    """10.2.3.2: all threads read the same word of A, one of the 8 in its segment; B coalesces."""
    (a,) = ask("access coalescing -t 32,32 --index", "threadIdx.y * 32 + 7")
    (b,) = ask("access coalescing -t 32,32 --index", "7 * 1024 + threadIdx.x")
    assert (a["sectors"], a["efficiency"]) == (1, 1 / 8)
    assert (b["sectors"], b["efficiency"]) == (4, 1.0)


def test_a_row_of_a_tile_is_a_broadcast(ask):
    """10.2.3.2: ``aTile[threadIdx.y][i]`` is one value for all threads of a warp."""
    (found,) = ask("access banks -t 32,32 --tile 32,32 --row threadIdx.y --column 5")
    assert (found["wavefronts"], found["broadcast"]) == (1, True)


def test_c_is_a_times_its_transpose(ask):
    """10.2.3.3: ``a[col*TILE_DIM+i]`` is a stride of w, each thread its own segment."""
    (found,) = ask("access coalescing -t 32,32 --index", "threadIdx.x * 32 + 3")
    assert (found["sectors"], found["efficiency"]) == (32, 1 / 8)


@pytest.mark.parametrize(("columns", "way"), [(32, 32), (33, 1)])
def test_a_tile_written_by_columns(columns, way, ask):
    """10.2.3.3: every thread hits the same bank; an extra column eliminates the conflicts."""
    (written,) = ask(
        f"access banks -t 32,32 --tile 32,{columns} --row threadIdx.x --column threadIdx.y --store"
    )
    assert written["conflict_way"] == way
    assert len(written["conflicting_banks"]) == (1 if way > 1 else 0)
    (read,) = ask(f"access banks -t 32,32 --tile 32,{columns} --row 9 --column threadIdx.x")
    assert read["conflict_way"] == 1


# --- 10.1.2 Asynchronous and Overlapping Transfers ------------------------------------------------


@pytest.mark.parametrize("streams", [1, 2, 4, 10])
@pytest.mark.parametrize(("transfer_ms", "kernel_ms"), [(8, 8), (8, 20), (20, 8)])
def test_staged_copy_and_execute(streams, transfer_ms, kernel_ms, ask):
    """With n stages the longer of the two and an n-th of the other: tE + tT / n, or tT + tE / n."""
    found = ask(
        f"overlap --h2d {transfer_ms * 10**6} --h2d-gb-per-s 1 --kernel-ms {kernel_ms}"
        f" --chunks {streams} --copy-overhead-us 0 --launch-overhead-us 0"
    )
    longer, shorter = max(transfer_ms, kernel_ms), min(transfer_ms, kernel_ms)
    # what is handed from engine to engine is measured, and no part of the guide's estimate
    handed_over = streams * 4.7e-6
    estimate = (longer + shorter / streams) / 1e3
    assert estimate <= found["makespan_s"] + 1e-12 <= estimate + handed_over + 1e-9
    assert found["serial_s"] == pytest.approx((transfer_ms + kernel_ms) / 1e3, rel=1e-3)


# --- 11.1 Occupancy, and the Programming Guide's Multiprocessor Level -----------------------------


@pytest.mark.parametrize(
    ("capability", "threads", "regs", "blocks", "percent"),
    [
        # Best Practices, 11.1.1: 7.0, 64 warps; 100 % takes at most 32 registers
        ("7.0", 128, 32, 16, 100),
        ("7.0", 128, 37, 12, 75),
        ("7.0", 320, 37, 4, 63),
        # Programming Guide: 6.x, 2 x 512 x 64 registers match those of a multiprocessor, one
        # register more and there is one block, 16 warps
        ("6.0", 512, 64, 2, 50),
        ("6.1", 512, 64, 2, 50),
        ("6.2", 512, 64, 2, 50),
        ("6.0", 512, 65, 1, 25),
        ("6.1", 512, 65, 1, 25),
        ("6.2", 512, 65, 0, 0),  # of 6.2 the guide passes over the limit of a block
    ],
)
def test_registers_and_occupancy(capability, threads, regs, blocks, percent, ask):
    (found,) = ask(f"occupancy -g {capability} -t {threads} -r {regs}")
    assert found["blocks_per_sm"] == blocks
    assert found["occupancy"] * 100 == pytest.approx(percent, abs=0.51)


def test_one_register_above_32_is_less_than_everything(ask):
    (full,) = ask("occupancy -g 7.0 -t 128 -r 32")
    (less,) = ask("occupancy -g 7.0 -t 128 -r 33")
    assert full["occupancy"] == 1 > less["occupancy"]


# --- GPU Performance Background -------------------------------------------------------------------


def test_operations_per_byte_of_v100(ask):
    """4: 125 TFLOPS for FP16 on Tensor Cores, 900 GB/s: 138.9 FLOPS per byte."""
    (found,) = ask("roofline -g v100 --dtype f16 --flops 1G --bytes 1M")
    assert found["ridge_flop_per_byte"] == pytest.approx(138.9, rel=3e-3)


@pytest.mark.parametrize(
    ("operation", "intensity", "bound"),
    [
        # 4, Table 1, V100 with FP16 data
        ("gemm:512x4096x1024", 315, "compute"),  # linear layer, 4096 outputs, 1024 inputs
        ("gemm:1x4096x1024", 1, "memory"),  # the same, batch 1
        ("elementwise:1048576,flops=9", 2.25, "memory"),  # max pooling, 3 x 3, unit stride
        ("elementwise:1048576", 0.25, "memory"),  # ReLU
        # Matrix Multiplication Background, 2: compared with the same ratio
        ("gemm:8192x128x8192", 124.1, "memory"),
        ("gemm:8192x8192x8192", 2730, "compute"),
    ],
)
def test_what_limits_an_operation(operation, intensity, bound, ask):
    (found,) = ask(f"roofline -g v100 --dtype f16 --op {operation}")
    assert found["intensity_flop_per_byte"] == pytest.approx(intensity, rel=3e-3)
    assert found["bound_by"] == bound


@pytest.mark.parametrize("size", [16, 1024, 8192, 65536])
def test_a_matrix_times_a_vector_is_below_one(size, ask):
    """Matrix Multiplication Background, 2: with M = 1 or N = 1 memory limits."""
    for shape in (f"1x{size}x{size}", f"{size}x1x{size}"):
        (found,) = ask(f"roofline -g v100 --dtype f16 --op gemm:{shape}")
        assert found["intensity_flop_per_byte"] < 1
        assert found["bound_by"] == "memory"

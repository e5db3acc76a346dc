"""Little's law on the card: bandwidth by bytes under way, and the latencies that go into it.

    python tests/gpu/latency.py FOLDER

chases pointers through shared memory, L1, L2 and DRAM with one thread (``latency.json``), then
reads DRAM with a known number of warps, accesses and bytes under way on every SM, and writes the
measured bandwidth beside that of ``perfkit.models.latency`` (``bandwidth.csv``).
"""

from __future__ import annotations

import csv
import ctypes
import itertools
import json
import statistics
import sys
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from cuda.bindings import driver  # noqa: E402

from perfkit.models.latency import concurrency, memory_per_warp  # noqa: E402
from tests.gpu.card import call, compile_cubin  # noqa: E402

CHASE = """
extern "C" __global__ void chase(const unsigned* next, int steps, long long* out, int cached) {
    unsigned at = 0;
    // a launch begins with an empty L1: the first round fills it
    for (int i = 0; i < steps; ++i) at = cached ? __ldca(next + at) : __ldcg(next + at);
    long long ns0, ns1, start = clock64();
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns0));
    for (int i = 0; i < steps; ++i) at = cached ? __ldca(next + at) : __ldcg(next + at);
    out[2] = at;
    long long cycles = clock64() - start;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns1));
    out[0] = cycles;
    out[1] = ns1 - ns0;
}
extern "C" __global__ void chase_shared(int steps, long long* out) {
    __shared__ unsigned next[1024];
    for (int i = 0; i < 1024; ++i) next[i] = (i + 33) % 1024;
    unsigned at = 0;
    long long start = clock64();
    for (int i = 0; i < steps; ++i) at = next[at];
    out[2] = at;
    out[0] = clock64() - start;
}
"""
#: the addresses of a step depend on all that the step before has read
READ = """
extern "C" __global__ void read_{name}(const {type}* from, long long steps, int zero, int* out) {{
    const long long threads = (long long)gridDim.x * blockDim.x;
    long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    int seen = 0;
    for (long long i = 0; i < steps; ++i) {{
        {type} values[{ilp}];
        #pragma unroll
        for (int j = 0; j < {ilp}; ++j) values[j] = __ldcg(from + at + j * threads);
        #pragma unroll
        for (int j = 0; j < {ilp}; ++j) seen += {sum};
        at += {ilp} * threads + seen * zero;
    }}
    if (seen == 123456789) *out = seen;
}}
"""
TYPES = {4: ("int", "values[j]"), 16: ("int4", "values[j].x + values[j].y + values[j].w")}
ILPS = (1, 2, 4, 8)
WARPS = (1, 2, 4, 8, 16, 32, 64)
BUFFER = 8 << 30
REPEATS = 5


def check(status: Any) -> None:
    assert not int(status[0]), status


def setup() -> tuple[Any, Any, int, float]:
    call(driver.cuInit, 0)
    device = call(driver.cuDeviceGet, 0)
    call(driver.cuCtxSetCurrent, call(driver.cuDevicePrimaryCtxRetain, device))
    sms = call(
        driver.cuDeviceGetAttribute,
        driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
        device,
    )
    reads = "".join(
        READ.format(name=f"{width}_{ilp}", type=TYPES[width][0], ilp=ilp, sum=TYPES[width][1])
        for width, ilp in itertools.product(TYPES, ILPS)
    )
    module = call(driver.cuModuleLoadData, compile_cubin(CHASE + reads, "sm_90"))
    return device, module, sms, 4.8e12  # the H200's bandwidth on paper


def launch(kernel: Any, grid: int, threads: int, shared: int, values: Any, types: Any) -> None:
    size = (grid, 1, 1, threads, 1, 1, shared)
    call(driver.cuLaunchKernel, kernel, *size, 0, (values, types), 0)


def cycle(count: int, stride: int, chance: np.random.Generator) -> np.ndarray:
    """A random cycle through ``count`` places, ``stride`` elements apart."""
    order = np.concatenate([[0], 1 + chance.permutation(count - 1)])
    following = np.zeros(count * stride, np.uint32)
    following[order * stride] = np.roll(order, -1) * stride
    return following


def latencies(module: Any) -> dict[str, float]:
    found: dict[str, float] = {}
    out = call(driver.cuMemAlloc, 24)
    chance = np.random.default_rng(1)
    kernel = call(driver.cuModuleGetFunction, module, b"chase")
    result = np.zeros(3, np.int64)

    def collect(name: str, steps: int) -> None:
        call(driver.cuCtxSynchronize)
        call(driver.cuMemcpyDtoH, result.ctypes.data, out, 24)
        found[f"{name}_cycles"] = float(result[0]) / steps
        if result[1]:
            found[f"{name}_ns"] = float(result[1]) / steps

    for name, size, cached in (
        ("l1", 64 << 10, 1),
        ("l2", 8 << 20, 0),
        ("l2_20mib", 20 << 20, 0),
        ("dram", 1 << 30, 0),
    ):
        data = cycle(size // 128, 32, chance)
        memory = call(driver.cuMemAlloc, data.nbytes)
        call(driver.cuMemcpyHtoD, memory, data.ctypes.data, data.nbytes)
        steps = size // 128 if name != "dram" else 200_000
        values = (int(memory), steps, int(out), cached)
        types = (ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
        launch(kernel, 1, 1, 0, values, types)
        collect(name, steps)
        call(driver.cuMemFree, memory)
    call(driver.cuMemsetD8, out, 0, 24)
    shared = call(driver.cuModuleGetFunction, module, b"chase_shared")
    launch(shared, 1, 1, 0, (10_000, int(out)), (ctypes.c_int, ctypes.c_void_p))
    collect("shared", 10_000)
    return found


def bandwidths(module: Any, sms: int, peak: float, latency_s: float) -> list[dict[str, Any]]:
    memory = call(driver.cuMemAlloc, BUFFER)
    call(driver.cuMemsetD8, memory, 0, BUFFER)
    out = call(driver.cuMemAlloc, 4)
    events = [call(driver.cuEventCreate, 0) for _ in range(2)]
    rows = []
    for width, ilp, warps in itertools.product(TYPES, ILPS, WARPS):
        kernel = call(driver.cuModuleGetFunction, module, f"read_{width}_{ilp}".encode())
        blocks, threads = (1, 32 * warps) if warps <= 32 else (2, 1024)
        shared = 200 << 10 if blocks == 1 else 100 << 10
        most = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        call(driver.cuFuncSetAttribute, kernel, most, shared)
        expected = concurrency(
            rate=peak / sms,
            latency=latency_s,
            per_warp=memory_per_warp(width_bytes=width, ilp=ilp),
            resident_warps=warps,
        )
        step = sms * blocks * threads * ilp * width
        steps = int(min(0.005 * peak * expected.share, BUFFER - (1 << 20)) // step)
        times = []
        for _ in range(REPEATS):
            call(driver.cuEventRecord, events[0], 0)
            values = (int(memory), steps, 0, int(out))
            types = (ctypes.c_void_p, ctypes.c_longlong, ctypes.c_int, ctypes.c_void_p)
            launch(kernel, sms * blocks, threads, shared, values, types)
            call(driver.cuEventRecord, events[1], 0)
            call(driver.cuCtxSynchronize)
            times.append(call(driver.cuEventElapsedTime, *events) / 1e3)
        rows.append(
            {
                "width_bytes": width,
                "ilp": ilp,
                "warps": warps,
                "measured_bytes_per_s": steps * step / statistics.median(times),
                "predicted_bytes_per_s": expected.share * peak,
            }
        )
    return rows


def main(folder: Path) -> None:
    _, module, sms, peak = setup()
    found = latencies(module)
    rows = bandwidths(module, sms, peak, found["dram_ns"] * 1e-9)
    with (folder / "bandwidth.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    (folder / "latency.json").write_text(json.dumps(found, indent=2) + "\n")
    print(json.dumps(found, indent=2))
    for row in rows:
        print(*(f"{value:.4g}" for value in row.values()))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

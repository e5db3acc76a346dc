"""Pipelines of copies and kernels on the card, against ``perfkit.models.overlap``.

    python tests/gpu/overlap.py FOLDER

measures what the model takes as given (the rate of each direction, the time of a copy and of a
kernel beside its work), then runs pipelines of many shapes, and writes

* ``copies.csv``: copies of many sizes, pinned and pageable,
* ``pipelines.csv``: every pipeline with its measured and its predicted time,
* ``overlap.json``: the constants, which discipline the queues follow, and how far off the model is.

All work of a measurement is issued behind a kernel that spins, so that the time of the calls does
not count where memory is pinned. Timings are medians of repetitions by CUDA events; with pageable
memory they are the host's.
"""

from __future__ import annotations

import csv
import ctypes
import itertools
import json
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from cuda.bindings import driver  # noqa: E402

from perfkit.models.engines import Plan, Stage, Times  # noqa: E402
from perfkit.models.overlap import Work, schedule  # noqa: E402
from tests.gpu.card import call, compile_cubin  # noqa: E402

SPIN = """
extern "C" __global__ void spin(long long ns) {
    long long start, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
    do { asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now)); } while (now - start < ns);
}
"""
MIB = 1 << 20
WHOLE = 256 * MIB
REPEATS = 7


@dataclass(kw_only=True)
class Buffers:
    device: int
    pinned_in: int
    pinned_out: int
    pageable_in: np.ndarray
    pageable_out: np.ndarray


class Bench:
    """One context with a few streams."""

    def __init__(self) -> None:
        call(driver.cuInit, 0)
        device = call(driver.cuDeviceGet, 0)
        context = call(driver.cuDevicePrimaryCtxRetain, device)
        call(driver.cuCtxSetCurrent, context)
        get = driver.cuDeviceGetAttribute
        which = driver.CUdevice_attribute
        major = call(get, which.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device)
        minor = call(get, which.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device)
        self.sms = call(get, which.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device)
        self.engines = call(get, which.CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, device)
        self.name = call(driver.cuDeviceGetName, 100, device).split(b"\0")[0].decode()
        module = call(driver.cuModuleLoadData, compile_cubin(SPIN, f"sm_{major}{minor}"))
        self.kernel = call(driver.cuModuleGetFunction, module, b"spin")
        self.streams = [call(driver.cuStreamCreate, 1) for _ in range(64)]
        self.gate = call(driver.cuStreamCreate, 1)
        self.events = [call(driver.cuEventCreate, 0) for _ in range(2)]
        self.memory = Buffers(
            device=int(call(driver.cuMemAlloc, WHOLE)),
            pinned_in=int(call(driver.cuMemHostAlloc, WHOLE, 0)),
            pinned_out=int(call(driver.cuMemHostAlloc, WHOLE, 0)),
            pageable_in=np.ones(WHOLE, np.uint8),
            pageable_out=np.ones(WHOLE, np.uint8),
        )
        ctypes.memset(self.memory.pinned_in, 1, WHOLE)
        ctypes.memset(self.memory.pinned_out, 1, WHOLE)

    def spin(self, ns: float, stream: Any) -> None:
        """A kernel that fills the GPU, so that no other runs beside it."""
        arguments = ((int(ns),), (ctypes.c_longlong,))
        size = (2 * self.sms, 1, 1, 1024, 1, 1)
        call(driver.cuLaunchKernel, self.kernel, *size, 0, stream, arguments, 0)

    def copy(self, stage: Stage, start: int, size: int, stream: Any, *, pinned: bool) -> None:
        memory = self.memory
        device = memory.device + start
        if stage is Stage.H2D:
            host = memory.pinned_in if pinned else memory.pageable_in.ctypes.data
            call(driver.cuMemcpyHtoDAsync, device, host + start, size, stream)
        else:
            host = memory.pinned_out if pinned else memory.pageable_out.ctypes.data
            call(driver.cuMemcpyDtoHAsync, host + start, device, size, stream)

    def timed(self, issue: Any, used: int, *, gate_ns: float = 5e6) -> float:
        """Seconds from the end of a spinning kernel to the end of all that ``issue`` issues."""
        found = []
        for _ in range(REPEATS):
            call(driver.cuCtxSynchronize)
            self.spin(gate_ns, self.gate)
            call(driver.cuEventRecord, self.events[0], self.gate)
            for stream in self.streams[:used]:
                call(driver.cuStreamWaitEvent, stream, self.events[0], 0)
            issue()
            ends = []
            for stream in self.streams[:used]:
                end = call(driver.cuEventCreate, 0)
                call(driver.cuEventRecord, end, stream)
                ends.append(end)
            call(driver.cuCtxSynchronize)
            found.append(
                max(call(driver.cuEventElapsedTime, self.events[0], end) for end in ends) / 1e3
            )
            for end in ends:
                call(driver.cuEventDestroy, end)
        return statistics.median(found)

    def by_host(self, issue: Any) -> float:
        found = []
        for _ in range(REPEATS):
            call(driver.cuCtxSynchronize)
            start = time.perf_counter()
            issue()
            call(driver.cuCtxSynchronize)
            found.append(time.perf_counter() - start)
        return statistics.median(found)


def line(xs: list[float], ys: list[float]) -> tuple[float, float]:
    """Intercept and slope by least squares of relative errors."""
    x, y = np.array(xs), np.array(ys)
    design = np.stack([1 / y, x / y], axis=1)
    (fixed, slope), *_ = np.linalg.lstsq(design, np.ones_like(y), rcond=None)
    return float(fixed), float(slope)


def copies(bench: Bench, rows: list[dict[str, Any]]) -> dict[str, float]:
    """Seconds of copies of many sizes; what a copy takes beside its bytes, and the rates."""
    found: dict[str, float] = {}
    stream = bench.streams[0]
    for stage, pinned in itertools.product((Stage.H2D, Stage.D2H), (True, False)):
        sizes, times = [], []
        for size in (4096, *(MIB << shift for shift in range(9))):
            count = max(1, min(16, 64 * MIB // size)) if pinned else 1

            def issue(stage=stage, pinned=pinned, size=size, count=count) -> None:
                for _ in range(count):
                    bench.copy(stage, 0, size, stream, pinned=pinned)

            seconds = (bench.timed(issue, 1) if pinned else bench.by_host(issue)) / count
            sizes.append(size)
            times.append(seconds)
            rows.append({"stage": stage, "pinned": pinned, "bytes": size, "seconds": seconds})
        fixed, slope = line([float(size) for size in sizes], times)
        key = f"{stage}_{'pinned' if pinned else 'pageable'}"
        found[f"{key}_overhead_s"], found[f"{key}_bytes_per_s"] = fixed, 1 / slope
        if not pinned:  # it depends on the size: what is copied here counts
            found[f"{key}_bytes_per_s"] = sizes[-1] / times[-1]

    def both() -> None:
        for _ in range(4):
            bench.copy(Stage.H2D, 0, WHOLE // 2, bench.streams[0], pinned=True)
            bench.copy(Stage.D2H, WHOLE // 2, WHOLE // 2, bench.streams[1], pinned=True)

    found["both_directions_bytes_per_s"] = rate = 2 * WHOLE / bench.timed(both, 2)
    found["duplex_share"] = rate / found["h2d_pinned_bytes_per_s"]
    return found


def kernels(bench: Bench) -> dict[str, float]:
    """What a kernel takes beside its work: after another one, and after a copy."""
    stream, ns, count = bench.streams[0], 50_000, 20

    def row() -> None:
        for _ in range(count):
            bench.spin(ns, stream)

    def chain() -> None:
        for _ in range(count):
            bench.copy(Stage.H2D, 0, 4096, stream, pinned=True)
            bench.spin(ns, stream)

    def small() -> None:
        for _ in range(count):
            bench.copy(Stage.H2D, 0, 4096, stream, pinned=True)

    kernel = bench.timed(row, 1) / count
    copy = bench.timed(small, 1) / count
    return {
        "kernel_overhead_s": kernel - ns * 1e-9,
        "small_copy_s": copy,
        "handoff_s": (bench.timed(chain, 1) / count - copy - kernel) / 2,
    }


def discipline(bench: Bench) -> dict[str, Any]:
    """Does a copy that is issued later but ready earlier overtake one of another stream?"""
    first, second = bench.streams[:2]
    ready, done = (call(driver.cuEventCreate, 0) for _ in range(2))

    def issue() -> None:
        bench.spin(10e6, first)
        bench.copy(Stage.H2D, 0, MIB, first, pinned=True)
        call(driver.cuEventRecord, ready, bench.gate)
        bench.copy(Stage.H2D, MIB, MIB, second, pinned=True)
        call(driver.cuEventRecord, done, second)

    whole = bench.timed(issue, 2)
    overtaking = call(driver.cuEventElapsedTime, bench.events[0], done) / 1e3
    return {"first_stream_s": whole, "second_stream_s": overtaking, "overtakes": overtaking < 5e-3}


def pipeline(bench: Bench, plan: Plan, kernel_s: float) -> float:
    """The measured time of one plan over ``WHOLE`` bytes in each direction."""
    streams = min(plan.streams or plan.chunks, plan.chunks)
    size = WHOLE // plan.chunks
    chunks = range(plan.chunks)
    if plan.order == "depth-first":
        pairs = [(c, s) for c in chunks for s in Stage]
    else:
        rounds = [chunks[first : first + streams] for first in chunks[::streams]]
        pairs = [(c, s) for some in rounds for s in Stage for c in some]

    def issue() -> None:
        for chunk, stage in pairs:
            stream = bench.streams[chunk % streams]
            if stage is Stage.KERNEL:
                bench.spin(kernel_s / plan.chunks * 1e9, stream)
            else:
                bench.copy(stage, chunk * size, size, stream, pinned=plan.pinned)

    return bench.timed(issue, streams) if plan.pinned else bench.by_host(issue)


def pipelines(bench: Bench, given: dict[str, float], rows: list[dict[str, Any]]) -> None:
    counts = (1, 2, 4, 8, 16, 32, 64)
    for kernel_s, pinned in itertools.product((1e-3, 5e-3, 20e-3), (True, False)):
        kind = "pinned" if pinned else "pageable"
        work = Work(
            whole_s=Times(
                WHOLE / given[f"h2d_{kind}_bytes_per_s"],
                kernel_s,
                WHOLE / given[f"d2h_{kind}_bytes_per_s"],
            ),
            copy_overhead_s=given[f"h2d_{kind}_overhead_s"],
            launch_overhead_s=given["kernel_overhead_s"],
            handoff_s=given["handoff_s"],
            duplex_share=min(1.0, given["duplex_share"]) if pinned else 1.0,
        )
        for chunks, streams, order in itertools.product(
            counts, (1, 2, 3, None), ("depth-first", "breadth-first")
        ):
            plan = Plan(chunks=chunks, streams=streams, pinned=pinned, order=order)
            if (streams or 0) > chunks:
                continue
            rows.append(
                {
                    "kernel_s": kernel_s,
                    "pinned": pinned,
                    "chunks": chunks,
                    "streams": streams or chunks,
                    "order": order,
                    "measured_s": pipeline(bench, plan, kernel_s),
                    "predicted_s": schedule(work, plan).makespan_s,
                }
            )


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main(folder: Path) -> None:
    bench = Bench()
    sizes: list[dict[str, Any]] = []
    runs: list[dict[str, Any]] = []
    found: dict[str, Any] = {"gpu": bench.name, "async_engines": bench.engines}
    found |= copies(bench, sizes)
    found |= kernels(bench)
    found |= discipline(bench)
    pipelines(bench, found, runs)
    for pinned in (True, False):
        off = [abs(r["predicted_s"] / r["measured_s"] - 1) for r in runs if r["pinned"] == pinned]
        found["pinned" if pinned else "pageable"] = {
            "pipelines": len(off),
            "median_error": statistics.median(off),
            "largest_error": max(off),
        }
    write(folder / "copies.csv", sizes)
    write(folder / "pipelines.csv", runs)
    (folder / "overlap.json").write_text(json.dumps(found, indent=2) + "\n")
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

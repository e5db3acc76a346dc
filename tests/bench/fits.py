"""Autotune configurations filtered per second, in every form; and a library of 2,000 kernels.

The goal of a million a second is for a list of dictionaries, the form that costs most: in it the
values have to be taken out of a million Python objects. One core, medians of five.

    python -m tests.bench.fits
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

import perfkit
from perfkit.analysis.diff import diff
from perfkit.analysis.fits import fits
from perfkit.analysis.obstacles import ResourceDemand
from perfkit.arch import catalog
from perfkit.kernel import KernelResources

COUNT = 1_000_000
GOAL = 1_000_000
REPEATS = 5
KERNELS = 2_000


class Config(NamedTuple):
    num_warps: int
    shared: int
    n_regs: int


def configurations() -> dict[str, object]:
    random = np.random.default_rng(1)
    columns = {
        "num_warps": random.choice([1, 2, 4, 8, 16, 32], COUNT),
        "shared": random.integers(0, 300_000, COUNT),
        "n_regs": random.integers(16, 256, COUNT),
    }
    rows = list(zip(*(column.tolist() for column in columns.values()), strict=True))
    tiles = {"BLOCK_M": 128, "BLOCK_N": 64, "num_stages": 3}
    return {
        "dictionaries": [dict(zip(columns, row, strict=True), **tiles) for row in rows],
        "named tuples": [Config(*row) for row in rows],
        "data frame": pd.DataFrame(columns),
        "arrays": columns,
    }


def median_s(action: Callable[[], object]) -> float:
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def filtering() -> bool:
    reached = True
    for form, configs in configurations().items():
        for reasons in (False, True):
            taken = median_s(lambda c=configs, r=reasons: perfkit.fits("h100", c, reasons=r))
            rate = COUNT / taken
            reached = reached and rate >= GOAL
            what = "mask and reasons" if reasons else "mask"
            print(f"{form:<13} {what:<17} {rate / 1e6:7.1f} M configurations/s (goal 1)")
    return reached


def library() -> tuple[list[KernelResources], list[KernelResources]]:
    """Kernels of which a third changed."""
    random = np.random.default_rng(2)
    regs = random.integers(16, 256, KERNELS).tolist()
    change = random.choice([0, 0, 4], KERNELS).tolist()
    old = [kernel(number, regs[number]) for number in range(KERNELS)]
    new = [
        replace(one, registers_per_thread=min(255, count + more))
        for one, count, more in zip(old, regs, change, strict=True)
    ]
    random.shuffle(new)
    return old, new


def kernel(number: int, regs: int) -> KernelResources:
    values = {
        name: 0 for name, one in KernelResources.__dataclass_fields__.items() if "int" in one.type
    }
    absent = dict.fromkeys(("required_block", "required_cluster", "threads", "min_blocks"))
    return KernelResources(
        **values
        | absent
        | {
            "name": f"_Z4axpyILi{number}EEvPf",
            "demangled": f"axpy<{number}>",
            "arch": "sm_90",
            "registers_per_thread": regs,
            "max_threads": 256,
            "origin": "bench",
        }
    )


def whole_libraries() -> None:
    old, new = library()
    print(f"diff of {KERNELS} kernels: {median_s(lambda: diff(old, new)):.2f} s")
    targets = catalog.targets("all")
    demands = [
        ResourceDemand(threads=256, regs=one.registers_per_thread, static_bytes=0, arch="sm_90")
        for one in old
    ]
    taken = median_s(lambda: [fits(target, demand) for demand in demands for target in targets])
    print(f"fits of {KERNELS} kernels on {len(targets)} capabilities: {taken:.2f} s")


def main() -> int:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    reached = filtering()
    whole_libraries()
    return 0 if reached else 1


if __name__ == "__main__":
    raise SystemExit(main())

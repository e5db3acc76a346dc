"""Every configuration against ``cuda_occupancy.h``: whole axes, every capability, five carveouts.

All block sizes 1..1024 x registers 0..255 x every 128 bytes of shared memory from 0 to beyond the
opt-in limit. One line per capability and carveout, a total, exit code 1 on any difference.

    python -m tests.bench.exhaustive_header
    python -m tests.bench.exhaustive_header --capability 9.0 --carveouts -1,50
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from perfkit.analysis.sweep import blocks_per_sm
from perfkit.arch import catalog
from tests.oracle.header import MAX_THREADS, Device, Header

REGISTERS = 256
STEP = 128
CARVEOUTS = (-1, 0, 25, 50, 100)
SLAB = 8  #: block sizes at a time: about 4 million configurations


def compare(capability, carveout: int) -> tuple[int, int]:
    """Configurations and differences of one capability and carveout."""
    oracle = Header(Device.of(capability))
    kernel = oracle.kernel(carveout=carveout)
    steps = capability.shared_memory.max_per_block_optin_bytes // STEP + 8
    regs, smem = np.arange(REGISTERS)[:, None], np.arange(steps) * STEP
    configurations = differences = 0
    for first in range(1, MAX_THREADS + 1, SLAB):
        threads = np.arange(first, first + SLAB)[:, None, None]
        found = blocks_per_sm(capability, threads, regs, smem, carveout)
        expected = oracle.mesh(
            kernel, first_thread=first, threads=SLAB, regs=REGISTERS, steps=steps, step=STEP
        )
        assert (expected >= 0).all(), "the header refused an input"
        configurations += expected.size
        differences += int(np.count_nonzero(found != expected))
    return configurations, differences


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--capability", help="one capability, such as 9.0; all without it")
    parser.add_argument(
        "--carveouts",
        default=",".join(map(str, CARVEOUTS)),
        help="percentages, -1 = no preference; default %(default)s",
    )
    options = parser.parse_args()
    chosen = (
        (catalog.capability(options.capability),)
        if options.capability
        else catalog.all_capabilities()
    )
    total = wrong = 0
    began = time.perf_counter()
    print("capability  carveout  configurations  differences  seconds")
    for capability in chosen:
        for carveout in map(int, options.carveouts.split(",")):
            start = time.perf_counter()
            configurations, differences = compare(capability, carveout)
            total, wrong = total + configurations, wrong + differences
            print(
                f"{capability.compute_capability!s:>10} {carveout:9} {configurations:15,}"
                f" {differences:12,} {time.perf_counter() - start:8.1f}",
                flush=True,
            )
    print(f"     total           {total:15,} {wrong:12,} {time.perf_counter() - began:8.1f}")
    return 1 if wrong or not total else 0


if __name__ == "__main__":
    raise SystemExit(main())

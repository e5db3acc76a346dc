"""The set of own kernels for every architecture, by two compilers, against NVIDIA's tools.

Every source of ``tests/data/own_kernels`` for every target of the installed NVRTC 12 and of the 13
that ``make oracle`` unpacks. Of each kernel, what perfkit reads from the cubin and from the
compiler's log is compared with ``ptxas -v`` and with ``cuobjdump --dump-resource-usage`` and
``-elf``. Goal: 0 differences. Some minutes.

    python -m tests.bench.own_kernels [--targets sm_80,sm_90a] [--files bounds,spills]
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from collections import Counter
from pathlib import Path

from perfkit.arch import catalog
from tests.compiled.own_kernels import FILES, Nvrtc, compared, images, nvrtc12, nvrtc13
from tests.compiled.reports import cuobjdump

LEAST_KERNELS = 20


def targets_of(compiler: Nvrtc) -> list[str]:
    """Those that the compiler lists, and their names with a suffix, which it does not list."""
    listed = compiler.targets()
    release = tuple(map(int, compiler.version.split(".")))
    suffixed = [
        name
        for capability in catalog.all_capabilities()
        for name in capability.compilation.targets
        if name[-1] in "af"
        and name[:-1] in listed
        and tuple(map(int, capability.compilation.first_cuda.split("."))) <= release
    ]
    return sorted({*listed, *suffixed}, key=lambda name: (int(re.sub(r"\D", "", name)), name))


def check(compiler: Nvrtc, targets: list[str], files: list[str]) -> bool:
    start, wrong = time.perf_counter(), []
    numbers, kernels, names, count = Counter(), 0, set(), 0
    with tempfile.TemporaryDirectory() as folder:
        for image in images(compiler, targets, files):
            found = compared(image, Path(folder))
            wrong += found.wrong
            numbers.update(found.telling)
            kernels += len(found.names)
            names |= found.names
            count += 1
    print(
        f"NVRTC {compiler.version}: {len(names)} kernels, {len(targets)} targets, {count} cubins,"
        f" {kernels} kernels in them: {sum(numbers.values())} numbers that are not 0 compared,"
        f" {len(wrong)} differences, {time.perf_counter() - start:.0f} s"
    )
    for field, number in sorted(numbers.items()):
        print(f"  {field}: {number}")
    for line in wrong[:20]:
        print(f"  {line}")
    return not wrong and len(names) >= LEAST_KERNELS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--targets", help="names, separated by commas; all without")
    parser.add_argument("--files", default=",".join(FILES), help="sources, separated by commas")
    options = parser.parse_args()
    compilers = {"12": nvrtc12(), "13": nvrtc13()}
    for major, compiler in compilers.items():
        if compiler is None:
            print(f"no NVRTC {major} here: make oracle installs both")
            return 1
    if cuobjdump() is None:
        print("no cuobjdump here: make oracle installs it")
        return 1
    fine = True
    for compiler in compilers.values():
        targets = targets_of(compiler)
        if options.targets:
            targets = [name for name in options.targets.split(",") if name in targets]
        if targets:
            fine &= check(compiler, targets, options.files.split(","))
    return 0 if fine else 1


if __name__ == "__main__":
    raise SystemExit(main())

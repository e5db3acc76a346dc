"""Sectors and wavefronts of warp accesses, counted by the hardware, against the models.

Only a profiler shows them, so this is a program for Nsight Compute and not a test:

    ncu --clock-control none --cache-control none --csv --page raw --print-units base \
        --log-file ncu.csv --kernel-name regex:access_ --metrics $METRICS \
        python tests/gpu/access_patterns.py launch SEED COUNT list.csv
    python tests/gpu/access_patterns.py compare list.csv ncu.csv

``$METRICS`` is what ``access_patterns.py metrics`` prints. ``launch`` makes COUNT patterns from
SEED, runs each as a load and a store of shared and of global memory, and writes what they were.
``compare`` prints what is not as predicted, writes all counts beside the list as
``…-measured.csv`` and exits 1 if one differs.

Four patterns share a launch of one warp: they run 1, 33, 33² and 33³ times. A pattern takes
at most 32 wavefronts or sectors, so the digits of the sum to the base of 33 are the counts.
"""

from __future__ import annotations

import argparse
import csv
import ctypes
import random
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from perfkit.models.banks import shared_access  # noqa: E402
from perfkit.models.coalescing import sectors  # noqa: E402
from tests.gpu.patterns import LANES, MAX_BYTES, WIDTHS, Pattern, parse, pattern  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence

TOGETHER: Final = 4  #: patterns in a launch
BASE: Final = 33
REPEATS: Final = sum(BASE**k for k in range(TOGETHER))
#: what is counted -> the metric of Nsight Compute
COUNTS: Final = {
    "shared_ld": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_st": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "conflicts_ld": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "conflicts_st": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "global_ld": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_st": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
}
#: each must be REPEATS: the compiler neither dropped nor split an access
EXECUTED: Final = tuple(
    f"smsp__inst_executed_op_{space}_{op}.sum"
    for space in ("shared", "global")
    for op in ("ld", "st")
)
METRICS: Final = (*COUNTS.values(), *EXECUTED)
COLUMNS: Final = ("kind", "width", "offsets")

#: PTX type and registers of one access
TYPES: Final = {
    1: ("u8", "%0"),
    2: ("u16", "%0"),
    4: ("u32", "%0"),
    8: ("v2.u32", "{%0, %1}"),
    16: ("v4.u32", "{%0, %1, %2, %3}"),
}
TABLE: Final = f"__constant__ int table[{TOGETHER}][{LANES}];\n"
#: ``step`` is 0, which the compiler cannot know: each access happens as often as the loop says
KERNEL: Final = """
extern "C" __global__ void access_{width}(char* memory, int step, unsigned* out) {{
    extern __shared__ __align__(1024) char tile[];
    unsigned a = threadIdx.x, b = 1, c = 2, d = 3, sum = 0;
    int repeats = 1;
    #pragma unroll 1
    for (int k = 0; k < {together}; ++k, repeats *= {base}) {{
        const int offset = table[k][threadIdx.x], on = offset >= 0;
        unsigned shared = (unsigned)__cvta_generic_to_shared(tile) + (on ? offset : 0);
        char* global = memory + (on ? offset : 0);
{loops}
    }}
    if (sum == 0x12345678) out[threadIdx.x] = sum;
}}
"""
LOOP: Final = """
        #pragma unroll 1
        for (int i = 0; i < repeats; ++i, {pointer} += step) {{
            asm volatile("{{ .reg .pred p; setp.ne.s32 p, %5, 0; @p {access}; }}"
                : "+r"(a), "+r"(b), "+r"(c), "+r"(d) : "{letter}"({pointer}), "r"(on) : "memory");
            sum ^= a ^ b ^ c ^ d;
        }}"""


def source() -> str:
    """One kernel per width: load and store, shared and global."""
    kernels = [TABLE]
    for width, (kind, registers) in TYPES.items():
        loops = [
            LOOP.format(pointer=space, letter=letter, access=access)
            for space, letter in (("shared", "r"), ("global", "l"))
            for access in (
                f"ld.{space}.{kind} {registers}, [%4]",
                f"st.{space}.{kind} [%4], {registers}",
            )
        ]
        kernels.append(
            KERNEL.format(width=width, together=TOGETHER, base=BASE, loops="".join(loops))
        )
    return "".join(kernels)


def patterns(seed: int, count: int) -> list[Pattern]:
    """At least ``count`` patterns, four of one width after another."""
    chance = random.Random(seed)
    found: list[Pattern] = []
    while len(found) < count:
        (width,) = chance.choices(list(WIDTHS), weights=list(WIDTHS.values()))
        found += [pattern(chance, width) for _ in range(TOGETHER)]
    return found


def launch(seed: int, count: int, path: Path) -> None:
    from cuda.bindings import driver

    from tests.gpu.card import Card, call, compile_cubin

    card = Card()
    module = call(driver.cuModuleLoadData, compile_cubin(source(), card.capability_name))
    functions = {
        width: call(driver.cuModuleGetFunction, module, f"access_{width}".encode())
        for width in TYPES
    }
    table, _ = call(driver.cuModuleGetGlobal, module, b"table")
    memory = call(driver.cuMemAlloc, MAX_BYTES)
    call(driver.cuMemsetD8, memory, 1, MAX_BYTES)
    listed = patterns(seed, count)
    write(path, COLUMNS, [(one.kind, one.width, one.text) for one in listed])
    values = (int(memory), 0, int(memory))
    types = (ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
    numbers = (ctypes.c_int * (TOGETHER * LANES))()
    for first in range(0, len(listed), TOGETHER):
        four = listed[first : first + TOGETHER]
        numbers[:] = [-1 if o is None else o for one in four for o in one.offsets]
        call(driver.cuMemcpyHtoD, table, ctypes.addressof(numbers), ctypes.sizeof(numbers))
        size = (1, 1, 1, LANES, 1, 1, MAX_BYTES)
        call(driver.cuLaunchKernel, functions[four[0].width], *size, 0, (values, types), 0)
        card.wait()
    print(f"{len(listed)} patterns on {card.device.name}, listed in {path}", file=sys.stderr)


def predicted(one: Pattern) -> dict[str, int]:
    load = shared_access(one.width, one.offsets)
    store = shared_access(one.width, one.offsets, store=True)
    moved = sectors(one.width, one.offsets)
    values = (
        load.wavefronts,
        store.wavefronts,
        load.wavefronts - load.ideal_wavefronts,
        store.wavefronts - store.ideal_wavefronts,
        moved,
        moved,
    )
    return dict(zip(COUNTS, values, strict=True))


def compare(listed: Path, measured: Path) -> int:
    """Print what differs, and a summary; how many counts differ."""
    asked, rows = read_list(listed), read_ncu(measured)
    if not asked or len(asked) != TOGETHER * len(rows):
        raise SystemExit(f"{len(asked)} patterns in {listed}, {len(rows)} launches in {measured}")
    table, total, wrong = [], Counter[str](), Counter[str]()
    for number, one in enumerate(asked):
        row = rows[number // TOGETHER]
        if row["Kernel Name"].partition("(")[0] != f"access_{one.width}":
            raise SystemExit(f"the files do not belong together: {one} is beside {row}")
        found = {name: digit(row, name, number % TOGETHER) for name in COUNTS}
        for name, expected in predicted(one).items():
            label = f"{name}, {one.width} bytes"
            total[label] += 1
            if found[name] != expected:
                wrong[label] += 1
                if wrong[label] <= 20:
                    print(f"misfit: {label}: {found[name]}, not {expected}: {one.text}")
        table.append((one.kind, one.width, one.text, *found.values()))
    write(listed.with_name(f"{listed.stem}-measured.csv"), (*COLUMNS, *COUNTS), table)
    for label in sorted(total):
        print(f"{label}: {total[label]} compared, {wrong[label]} differ")
    print(f"all: {len(asked)} patterns, {total.total()} compared, {wrong.total()} differ")
    return wrong.total()


def digit(row: dict[str, str], name: str, place: int) -> int:
    """The count of one of the patterns of a launch."""
    return count(row, COUNTS[name]) // BASE**place % BASE


def count(row: dict[str, str], metric: str) -> int:
    return round(float(row[metric].replace(",", "")))


def read_list(path: Path) -> list[Pattern]:
    with path.open(newline="", encoding="utf-8") as file:
        return [parse(*(row[name] for name in COLUMNS)) for row in csv.DictReader(file)]


def read_ncu(path: Path) -> list[dict[str, str]]:
    """One row per launch, in launch order, from ``--csv --page raw``; talk before it is skipped."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        raise SystemExit(f"{path}: no table of Nsight Compute")
    table = csv.DictReader(line for line in lines[start:] if line.startswith('"'))
    missing = [name for name in METRICS if name not in (table.fieldnames or ())]
    if missing:
        raise SystemExit(f"{path}: no column {', '.join(missing)}; has {table.fieldnames}")
    rows = sorted((row for row in table if row["ID"]), key=lambda row: int(row["ID"]))
    for row in rows:
        for name in EXECUTED:
            if count(row, name) != REPEATS:
                raise SystemExit(
                    f"{path}: launch {row['ID']}: {name} is {row[name]}, not {REPEATS}"
                )
    return rows


def write(path: Path, columns: Sequence[str], rows: Sequence[tuple[object, ...]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([columns, *rows])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("metrics", help="print the metrics that ncu is to collect")
    one = commands.add_parser("launch", help="run the patterns, under ncu")
    one.add_argument("seed", type=int)
    one.add_argument("count", type=int)
    one.add_argument("list", type=Path, nargs="?", default=Path("access_patterns.csv"))
    two = commands.add_parser("compare", help="hold what ncu wrote against the models")
    two.add_argument("list", type=Path)
    two.add_argument("ncu", type=Path)
    given = parser.parse_args(arguments)
    if given.command == "metrics":
        print(",".join(METRICS))
    elif given.command == "launch":
        launch(given.seed, given.count, given.list)
    else:
        return int(compare(given.list, given.ncu) > 0)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""The shared-memory capacity that the driver configures, against ``configured_shared_bytes``.

Nothing but a profiler shows it, so this is a program for Nsight Compute and not a test:

    ncu --clock-control none --csv --page raw --print-units base --log-file ncu.csv \
        --kernel-name regex:spin \
        --metrics launch__shared_mem_config_size,launch__registers_per_thread \
        python tests/gpu/shared_config.py launch SEED COUNT list.csv
    python tests/gpu/shared_config.py compare list.csv ncu.csv

``launch`` runs COUNT kernels, in an order that SEED decides, and writes what they were. ``compare``
prints every launch whose capacity is not the predicted one, writes all of them beside the list as
``…-measured.csv`` and exits 1 if one differs.
"""

from __future__ import annotations

import argparse
import csv
import random
import sys
from collections import Counter
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

import perfkit  # noqa: E402
from tests.gpu.kernels import Variant  # noqa: E402

if TYPE_CHECKING:
    from perfkit.arch.types import Capability

REGISTERS = (24, 32, 40, 48, 56, 64, 72, 80, 96, 112, 128, 144, 168, 200, 232, 255)
GRIDS = (1, 132, 1320)
CONFIG = "launch__shared_mem_config_size"
REGISTERS_METRIC = "launch__registers_per_thread"
#: Nsight Compute's units are decimal
UNITS = {"byte": 1, "byte/block": 1, "Kbyte": 1000, "Kbyte/block": 1000, "": 1}


@dataclass(frozen=True, kw_only=True)
class Launch:
    regs: int
    threads: int
    dynamic: int
    carveout: int  #: percent, -1: no preference
    grid: int

    def predicted(self, capability: Capability) -> int:
        return int(
            perfkit.configured_shared_bytes(
                capability, self.threads, self.regs, self.dynamic, self.carveout
            )
        )


COLUMNS = [field.name for field in fields(Launch)]


def launches(capability: Capability, seed: int, count: int) -> list[Launch]:
    """``count`` launches that fit, half of them with a preference."""
    chance = random.Random(seed)
    return [anywhere(capability, chance, preferred=i % 2 == 0) for i in range(count)]


def anywhere(capability: Capability, chance: random.Random, *, preferred: bool) -> Launch:
    """A launch that fits; two of three just beside a size where the prediction changes."""
    top = capability.shared_memory.max_per_block_optin_bytes
    unit = capability.shared_memory.allocation_unit_bytes
    sizes = np.arange(0, top + 1, unit)
    while True:
        regs = chance.choice(REGISTERS)
        threads = 32 * chance.randint(1, chance.choice((4, 8, 32)))
        carveout = chance.randint(0, 100) if preferred else -1
        capacity = perfkit.configured_shared_bytes(capability, threads, regs, sizes, carveout)
        if not capacity[0]:
            continue  # not even without shared memory
        edges = np.flatnonzero(np.diff(capacity))
        if len(edges) and chance.random() < 0.67:
            # the change is after this size: a little less to a little more than one unit
            dynamic = int(sizes[chance.choice(edges)]) + chance.randint(-unit, 2 * unit)
        else:
            dynamic = int(top * chance.random() ** chance.choice((1, 2, 4)))
        launch = Launch(
            regs=regs,
            threads=threads,
            dynamic=min(max(dynamic, 0), top),
            carveout=carveout,
            grid=chance.choice(GRIDS),
        )
        if launch.predicted(capability):
            return launch


def launch(seed: int, count: int, path: Path) -> None:
    from tests.gpu.card import Card

    card = Card()
    listed = launches(card.capability, seed, count)
    functions = {f.registers: f for f in card.functions([Variant(registers=r) for r in REGISTERS])}
    for function in functions.values():
        function.allow_dynamic(card.capability.shared_memory.max_per_block_optin_bytes)
    write(path, COLUMNS, [astuple(one) for one in listed])
    for one in listed:
        function = functions[one.regs]
        function.prefer(one.carveout)
        card.launch(
            function, grid=one.grid, threads=one.threads, dynamic_bytes=one.dynamic, ns=1000
        )
        card.wait()
    print(f"{len(listed)} launches on {card.device.name}, listed in {path}", file=sys.stderr)


def compare(listed: Path, measured: Path, target: str) -> int:
    """Print misfits and a summary; how many misfits."""
    capability = perfkit.capability(target)
    asked, rows = read_list(listed), read_ncu(measured)
    if not asked:
        raise SystemExit(f"{listed}: no launches")
    if len(asked) != len(rows):
        raise SystemExit(f"{len(asked)} launches in {listed}, {len(rows)} in {measured}")
    table, total, wrong = [], Counter[str](), Counter[str]()
    for one, row in zip(asked, rows, strict=True):
        if row["registers"] not in {None, one.regs} or row["threads"] not in {None, one.threads}:
            raise SystemExit(f"the files do not belong together: {one} is beside {row}")
        found = nearest_capacity(capability, row["config"])
        expected = one.predicted(capability)
        kind = "no preference" if one.carveout < 0 else "preference"
        kind += ", no shared memory" if one.dynamic == 0 else ""
        total[kind] += 1
        wrong[kind] += found != expected
        table.append((*astuple(one), found, expected))
    write(
        listed.with_name(f"{listed.stem}-measured.csv"),
        [*COLUMNS, "config_bytes", "predicted_bytes"],
        table,
    )
    misfits = [row for row in table if row[-1] != row[-2]]
    for row in misfits:
        print("misfit:", ", ".join(f"{k}={v}" for k, v in zip(COLUMNS, row, strict=False)), end="")
        print(f": measured {row[-2] // 1024} KiB, predicted {row[-1] // 1024} KiB")
    for label in sorted(total):
        print(f"{label}: {total[label]} compared, {wrong[label]} differ")
    print(f"all: {len(table)} compared, {len(misfits)} differ")
    return len(misfits)


def nearest_capacity(capability: Capability, size: float) -> int:
    """Nsight Compute rounds when it scales units; a capacity is one of a few."""
    best = min(capability.shared_memory.capacities_bytes, key=lambda one: abs(one - size))
    if abs(best - size) > 0.01 * max(size, 1024):
        raise SystemExit(f"{size} B is no capacity of {capability.label}: which unit is it in?")
    return best


def read_list(path: Path) -> list[Launch]:
    with path.open(newline="", encoding="utf-8") as file:
        return [Launch(**{k: int(v) for k, v in row.items()}) for row in csv.DictReader(file)]


def read_ncu(path: Path) -> list[dict[str, float | None]]:
    """One row per launch, in launch order, from ``--csv --page raw``; talk before it is skipped."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        raise SystemExit(f"{path}: no table of Nsight Compute")
    table = csv.DictReader(line for line in lines[start:] if line.startswith('"'))
    rows = list(table)
    if CONFIG not in (table.fieldnames or ()):
        raise SystemExit(f"{path}: no column {CONFIG}; has {table.fieldnames}")
    units = rows.pop(0) if rows and not rows[0]["ID"] else {}
    unit = units.get(CONFIG) or ""
    if unit not in UNITS:
        raise SystemExit(f"{path}: {CONFIG} is in {unit!r}; run ncu with --print-units base")
    return [
        {
            "config": number(row[CONFIG]) * UNITS[unit],
            "registers": number(row[REGISTERS_METRIC]) if row.get(REGISTERS_METRIC) else None,
            # (128, 1, 1)
            "threads": number(row["Block Size"].strip("( )").split(",")[0])
            if row.get("Block Size")
            else None,
        }
        for row in sorted(rows, key=lambda row: int(row["ID"]))
    ]


def number(text: str) -> float:
    return float(text.replace(",", ""))


def write(path: Path, columns: list[str], rows: list[tuple[int, ...]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([columns, *rows])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("launch", help="run kernels, under ncu")
    one.add_argument("seed", type=int)
    one.add_argument("count", type=int)
    one.add_argument("list", type=Path, nargs="?", default=Path("shared_config.csv"))
    two = commands.add_parser("compare", help="hold what ncu wrote against the prediction")
    two.add_argument("list", type=Path)
    two.add_argument("ncu", type=Path)
    two.add_argument("--target", default="9.0", help="capability that was profiled")
    given = parser.parse_args(arguments)
    if given.command == "launch":
        launch(given.seed, given.count, given.list)
        return 0
    return int(compare(given.list, given.ncu, given.target) > 0)


if __name__ == "__main__":
    raise SystemExit(main())

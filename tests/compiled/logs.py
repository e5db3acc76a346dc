"""Helpers for tests of texts: numbers as the cases name them, and logs written by rule."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from pathlib import Path

from perfkit.compiled.build_text import read_lines
from perfkit.compiled.reading import Reading
from perfkit.kernel import KernelResources

DATA = Path(__file__).resolve().parents[1] / "data" / "ptxas"

#: key of a case -> field
FIELDS = {
    "registers": "registers_per_thread",
    "smem_bytes": "static_shared_bytes",
    "stack_frame": "stack_bytes",
    "spill_stores": "spill_store_bytes",
    "spill_loads": "spill_load_bytes",
    "callee_spill_stores": "callee_spill_store_bytes",
    "callee_spill_loads": "callee_spill_load_bytes",
    "frame": "frame_bytes",
    "cumulative_stack": "cumulative_stack_bytes",
    "barriers": "barriers",
    "cmem": "constant_bytes",
    "local": "local_bytes",
}
NUMBERS = tuple(FIELDS.values())


def lines(text: str | bytes) -> list[bytes]:
    data = text.encode() if isinstance(text, str) else text
    return [line + b"\n" for line in data.split(b"\n")[:-1]] + [
        rest for rest in data.split(b"\n")[-1:] if rest
    ]


def reading(text: str | bytes, arch: str | None = None) -> Reading:
    return read_lines(lines(text), origin="x", arch=arch)


def kernels(text: str | bytes, arch: str | None = None) -> dict[str, KernelResources]:
    """By name; a text that names one twice is for ``reading``."""
    found = reading(text, arch).kernels
    assert len({kernel.name for kernel in found}) == len(found)
    return {kernel.name: kernel for kernel in found}


def values(kernel: KernelResources, keys: Iterable[str]) -> dict[str, object]:
    return {key: getattr(kernel, FIELDS.get(key, key)) for key in keys}


def known(kernel: KernelResources) -> dict[str, int]:
    found = {name: getattr(kernel, name) for name in NUMBERS}
    return {name: value for name, value in found.items() if value is not None}


def compilation(chance: random.Random, process: int, arch: str = "sm_90") -> list[str]:
    """What one run of ptxas writes about a few kernels of its own."""
    modern = chance.random() < 0.7
    written = ["ptxas info    : 0 bytes gmem"]
    for number in range(chance.randint(1, 6)):
        name = f"_Z{process}kernel{number}v"
        own, spill = chance.choice([0, 0, 8, 16]), chance.choice([0, 4, 12])
        callee = chance.choice([None, None, (0, 0), (24, 40), (24, 44)])
        total = own + (callee[0] if callee else 0)
        written += [
            f"ptxas info    : Compiling entry function '{name}' for '{arch}'",
            f"ptxas info    : Function properties for {name}",
            frame(own, spill),
            f"ptxas info    : Used {chance.randrange(8, 255)} registers, used "
            f"{chance.randrange(3)} barriers"
            + (f", {total} bytes cumulative stack size" if total else "")
            + chance.choice(["", f", {chance.randrange(4, 40)} bytes smem"])
            + chance.choice(["", ", 364 bytes cmem[0]"]),
        ]
        if modern:
            written.append("ptxas info    : Compile time = 1.125 ms")
        if callee:
            written.append(f"ptxas info    : Function properties for _Z{process}callee{number}v")
            written.append(frame(*callee))
    return written


def frame(stack: int, spills: int) -> str:
    return f"    {stack} bytes stack frame, {spills} bytes spill stores, {spills} bytes spill loads"


def mixed(
    chance: random.Random,
    logs: list[list[str]],
    mark: Callable[[int], str] = lambda process: "",
    burst: int = 1,
) -> list[str]:
    """The logs as one, each in its own order, up to ``burst`` lines of one at a time."""
    rest = [list(log) for log in logs]
    written = []
    while waiting := [process for process, log in enumerate(rest) if log]:
        process = chance.choice(waiting)
        number = chance.randint(1, burst)
        written += [mark(process) + line for line in rest[process][:number]]
        del rest[process][:number]
    return written

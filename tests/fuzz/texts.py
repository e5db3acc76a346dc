"""Mutated logs and resource reports: an answer, or an error that is documented, soon.

Two promises beside that: of a text in which lines are left out, doubled and moved, every number is
one that a line states; and an answer says why it lacks what it lacks. CI runs some thousands of
inputs (``tests/compiled/test_text_fuzz.py``); the long run is

    python -m tests.fuzz.texts --number 2000000 [--seed 1]

It prints the rate and the slowest input, and ends with exit code 1 at the first broken promise,
with the seed of the input, which ``--seed N --number 1`` repeats.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from perfkit.compiled.build_text import read_text
from perfkit.errors import InputError, PerfkitError, UsageError
from perfkit.kernel import KernelResources

DATA = Path(__file__).resolve().parents[1] / "data"
MOST_SECONDS = 1.0

#: words of the grammar, put where they do not belong
_PIECES = (
    b"ptxas info    : ", b"ptxas         .     ", b"nvlink info    : ", b"info    : ", b"\n", b"\r",
    b"\r\n", b"'", b"' for 'sm_90'", b"Compiling entry function '", b"Function properties for ",
    b"Used 8 registers", b", used 1 barriers", b", 99999999999999999999 bytes smem", b" bytes smem",
    b"8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads", b"0 bytes gmem",
    b"Compile time = ", b"REG:", b"STACK:UNKNOWN ", b" Function k:", b"arch = sm_12", b"arch = sm_",
    b"Fatbin elf code:", b"Fatbin ptx code:", b"\x1b[31m", b"\x1b]8;;", b"[0m", b"\0", b"\xff\xfe",
    b"\x1f\x8b", b"\xc2\xa0", b"\xe2\x80\x98", b"1> ", b"2024-03-05T10:11:00.1Z ", b"\\n", b",",
    b"(target: sm_80)", b"used 1 registers, 0 stack", b"\xed\xa0\x80", b"9" * 5000, b" " * 200,
)  # fmt: skip


class Broken(NamedTuple):
    """A promise that is not kept."""

    why: str
    data: bytes


@cache
def originals() -> tuple[bytes, ...]:
    paths = [*DATA.glob("ptxas/*.log"), *DATA.glob("ptxas/*.txt")]
    paths += [*DATA.glob("cubin/j0*.ptxas.txt"), *DATA.glob("cubin/j0*.usage.txt")]
    found = tuple(path.read_bytes() for path in sorted(paths))
    assert len(found) >= 25
    return found


def mutate(chance: random.Random) -> tuple[bytes, bytes | None]:
    """A mutated text; the original too, where every line of the text is one of its lines."""
    original = chance.choice(originals())
    if chance.random() < 0.25:
        return _shuffled(chance, original), original
    data = bytearray(original)
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        at = chance.randrange(len(data) + 1)
        kind = chance.randrange(7)
        end = min(len(data), at + chance.choice((1, 2, 8, 64, 400)))
        if kind == 0 and at < len(data):
            data[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            data[at:at] = chance.choice(_PIECES)
        elif kind == 2:
            data[at:end] = chance.choice(_PIECES)
        elif kind == 3:
            del data[at:end]
        elif kind == 4:
            data[at:end] = chance.randbytes(end - at)
        elif kind == 5:
            other = chance.choice(originals())
            start = chance.randrange(len(other))
            data[at:at] = other[start : start + chance.choice((1, 20, 200, 1000))]
        else:
            del data[at:]
        if len(data) > 60_000 or not data:
            break
    if chance.random() < 0.02:
        data = bytearray(data.decode("utf-8", "replace").encode("utf-16"))
    return bytes(data), None


def _shuffled(chance: random.Random, original: bytes) -> bytes:
    lines = original.splitlines(keepends=True)
    for _ in range(chance.randint(1, 6)):
        at, to = chance.randrange(len(lines)), chance.randrange(len(lines))
        kind = chance.randrange(4)
        if kind == 0 and len(lines) > 1:
            del lines[at]
        elif kind == 1:
            lines.insert(at, lines[to % len(lines)])
        elif kind == 2:
            lines.insert(min(to, len(lines) - 1), lines.pop(at % len(lines)))
        else:
            del lines[at : at + chance.randint(1, 5)]
        if not lines:
            return b""
    return b"".join(lines)


def kernels(data: bytes, arch: str | None = "sm_80") -> tuple[KernelResources, ...]:
    class Stream:
        """A text that is all in its first bytes."""

        def read(self, _size: int) -> bytes:
            return b""

    return read_text(data, Stream(), origin="x", arch=arch).kernels  # type: ignore[arg-type]


#: field -> where a text states it
_STATED = {
    "registers_per_thread": rb"[Uu]sed (\d+) registers|REG:(\d+)",
    "static_shared_bytes": rb"(\d+)(?:\+\d+)? bytes smem|SHARED:(\d+)",
    "stack_bytes": rb"(\d+) bytes stack frame|STACK:(\d+)|(\d+) stack\b",
    "frame_bytes": rb"(\d+) bytes stack frame",
    "cumulative_stack_bytes": rb"(\d+) bytes cumulative stack|STACK:(\d+)|(\d+) stack\b",
    "spill_store_bytes": rb"(\d+) bytes spill stores",
    "spill_load_bytes": rb"(\d+) bytes spill loads",
    "constant_bytes": rb"(\d+) bytes cmem\[0\]|CONSTANT\[0\]:(\d+)",
    "barriers": rb"used (\d+) barriers",
}
_LEFT_OUT = {"static_shared_bytes": 0}  #: ptxas says nothing of what is not there
_RESERVED = 1024


@cache
def _stated(original: bytes) -> dict[str, frozenset[int]]:
    words = b" ".join(original.split())
    found = {}
    for name, pattern in _STATED.items():
        values = {
            int(value) for match in re.findall(pattern, words) for value in _groups(match) if value
        }
        if name in _LEFT_OUT:
            values |= {_LEFT_OUT[name]} | {value - _RESERVED for value in values}
        found[name] = frozenset(values)
    return found


def _groups(match: bytes | tuple[bytes, ...]) -> tuple[bytes, ...]:
    return match if isinstance(match, tuple) else (match,)


def check(data: bytes, original: bytes | None) -> Broken | None:
    """None: every promise is kept."""
    try:
        found = kernels(data)
    except (InputError, UsageError) as error:
        return None if str(error).startswith("x") else Broken(f"where? {error}", data)
    except (PerfkitError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError,
            AssertionError, RecursionError) as error:  # fmt: skip
        return Broken(f"{type(error).__name__}: {error}", data)
    for kernel in found:
        for name in _STATED:
            value = getattr(kernel, name)
            if value is None:
                if not kernel.unknown.get(name):
                    return Broken(f"{kernel.name}: no reason for {name}", data)
            elif value < 0:
                return Broken(f"{kernel.name}: {name} is {value}", data)
            elif original is not None and value not in _stated(original)[name]:
                return Broken(f"{kernel.name}: {name} is {value}, which no line says", data)
    return None


def run(number: int, seed: int) -> Iterator[tuple[int, float, Broken | None]]:
    """Seed, seconds and outcome of each input."""
    for one in range(seed, seed + number):
        data, original = mutate(random.Random(one))
        start = time.process_time()  # the machine may be busy
        broken = check(data, original)
        yield one, time.process_time() - start, broken


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    slowest, total, start = (0.0, 0), 0, time.perf_counter()
    for seed, seconds, broken in run(options.number, options.seed):
        total += 1
        slowest = max(slowest, (seconds, seed))
        if broken is not None:
            print(f"seed {seed}: {broken.why}\n{broken.data[:4000]!r}")
            return 1
        if total % 50_000 == 0:
            rate = total / (time.perf_counter() - start)
            print(f"{total:,}: {rate:,.0f}/s, slowest {slowest[0]:.3f} s (seed {slowest[1]})")
    print(f"{total:,} inputs kept every promise; slowest {slowest[0]:.3f} s (seed {slowest[1]})")
    return int(slowest[0] > MOST_SECONDS)


if __name__ == "__main__":
    sys.exit(main())

"""Mutated files: every reader answers or says what is wrong, and soon.

Each reader gets files of ours with bits flipped, numbers replaced by extreme ones, pieces cut out,
repeated or moved. Whatever is not a ``PerfkitError``, or takes a second of the processor's time, is
kept in the working directory and ends the run with exit code 1. No tool of NVIDIA's takes part, but
for the reader ``container``, which is therefore slow: give it fewer rounds.

    python -m tests.bench.fuzz [--rounds 2000000] [--seed 1] [READER…]
"""

from __future__ import annotations

import argparse
import os
import random
import struct
import tempfile
import time
import zipfile
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from perfkit.compiled import host_file, plain_images, triton_cache
from perfkit.compiled.archive import read_zip
from perfkit.compiled.container import read_container
from perfkit.compiled.cubin import read_cubin
from perfkit.compiled.ptx_file import compile_ptx
from perfkit.errors import PerfkitError
from tests.compiled.containers import CONTAINERS, DATA, windows_library
from tests.compiled.reports import cuobjdump

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_SECONDS = 1.0
EXTREMES = (0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 2**63 - 1, 2**64 - 1)


class Reader(NamedTuple):
    seeds: list[bytes]
    read: Callable[[bytes, Path], object]  #: gets the content, and a path of its own


def _file(*names: str) -> list[bytes]:
    return [(DATA / name).read_bytes() for name in names]


def _host(data: bytes, path: Path) -> None:
    path.write_bytes(data)
    host_file.device_code(path)
    for image in plain_images.plain_images(path)[:3]:
        read_cubin(image, origin="image")


def _windows(data: bytes, path: Path) -> None:
    path.write_bytes(data)
    plain_images.plain_images(path, host_file.windows_fatbins(path))


def _zip(data: bytes, path: Path) -> None:
    path.write_bytes(data)
    read_zip(path)


def _triton(data: bytes, path: Path) -> None:
    """Metadata and cubin in one file, with a line between them."""
    metadata, _, cubin = data.partition(b"\n--\n")
    path = path.with_suffix(".json")
    path.write_bytes(metadata)
    path.with_suffix(".cubin").write_bytes(cubin)
    triton_cache.read_entry(path)


def _container(data: bytes, path: Path) -> None:
    path.write_bytes(data)
    read_container(path)


def _archive() -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/__init__.py", b"pass\n" * 20)
        archive.writestr("a/one.cubin", (DATA / "cubin/j05.sm_80.cubin").read_bytes())
    return file.getvalue()


def readers() -> dict[str, Reader]:
    plain = (CONTAINERS / "plain.fatbin").read_bytes()
    metadata = _file("triton/metadata/d11a.json", "triton/metadata/d11b.json")
    cubin = (DATA / "triton/sm90/row_sum.cubin").read_bytes()
    return {
        "cubin": Reader(
            _file(
                "cubin/j05.sm_80.cubin",
                "cubin/j04.sm_90.cubin",
                "cubin/shared.sm_90.ptxas118.cubin",
            ),
            lambda data, path: read_cubin(data, origin="fuzz"),
        ),
        "host": Reader(
            _file("containers/object.o", "containers/shared.so", "containers/libstatic.a"), _host
        ),
        "windows": Reader([windows_library(plain, plain)], _windows),
        "zip": Reader([_archive()], _zip),
        "triton": Reader([one + b"\n--\n" + cubin for one in metadata], _triton),
        "ptx": Reader(
            _file("cubin/shared.ptx"), lambda data, path: compile_ptx(data, path, arch="sm_90")
        ),
        "container": Reader(
            _file(
                "containers/plain.fatbin", "containers/compressed.fatbin", "containers/libstatic.a"
            ),
            _container,
        ),
    }


def mutated(data: bytes, draw: random.Random) -> bytes:
    """One to eight changes."""
    found = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 4, 8))):
        at = draw.randrange(len(found) + 1) if draw.random() < 0.7 else draw.randrange(256)
        kind = draw.randrange(6)
        if kind <= 1 and at < len(found):
            found[at] ^= 1 << draw.randrange(8)
        elif kind == 2:
            number = struct.pack("<Q", draw.choice(EXTREMES))[: draw.choice((1, 2, 4, 8))]
            found[at : at + len(number)] = number
        elif kind == 3:
            del found[at : at + draw.choice((1, 4, 64, 4096))]
        elif kind == 4:
            start = draw.randrange(len(found) + 1)
            found[at:at] = found[start : start + draw.choice((1, 8, 64, 512))]
        elif draw.random() < 0.2:
            del found[at:]
    return bytes(found)


def run(name: str, reader: Reader, rounds: int, seed: int) -> list[str]:
    """Complaints about ``rounds`` mutated inputs, at most ten of them."""
    draw = random.Random(f"{name} {seed}")
    complaints: list[str] = []
    slowest, answers = 0.0, 0
    with tempfile.TemporaryDirectory() as place:
        for number in range(rounds):
            data = mutated(draw.choice(reader.seeds), draw)
            start = time.process_time()
            problem = None
            try:
                reader.read(data, Path(place, "input"))
                answers += 1
            except PerfkitError as error:
                problem = None if error.message else "an error without words"
            except Exception as error:
                problem = repr(error)
            took = time.process_time() - start
            slowest = max(slowest, took)
            if problem is None and took > MOST_SECONDS and name != "container":
                problem = f"{took:.1f} s"
            if problem:
                kept = Path(f"fuzz-{name}-{seed}-{number}")
                kept.write_bytes(data)
                complaints.append(f"{kept}: {problem}")
            if len(complaints) >= 10:
                break
    print(
        f"{name:<10} {number + 1:>9} inputs: {answers} answers, {number + 1 - answers} refusals,"
        f" slowest {slowest:.3f} s, {len(complaints)} complaints",
        flush=True,
    )
    return complaints


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    known = readers()
    parser.add_argument("readers", nargs="*", metavar="READER", help=", ".join(known))
    parser.add_argument("--rounds", type=int, default=2_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    os.environ["PERFKIT_CACHE"] = "off"
    os.environ["PTXAS"] = "/nowhere"
    tool = cuobjdump()
    complaints = []
    for name in options.readers or [name for name in known if name != "container"]:
        os.environ["CUOBJDUMP"] = str(tool) if tool and name == "container" else "/nowhere"
        complaints += run(name, known[name], options.rounds, options.seed)
    for line in complaints:
        print(line)
    return 1 if complaints else 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Mutated files: every reader answers or says what is wrong, and soon.

An answer has a reason for everything that it lacks, no negative number and names that a terminal
takes; a refusal has words. Every input is made from its number alone: a run can be cut into pieces,
goes on where it ended, and repeats what it complained about.

No tool of NVIDIA's takes part, but for the reader ``cuobjdump``. What perfkit does around that tool
is tried without it: ``host`` and ``windows`` find and cut out what it gets, ``container`` reads
mutated reports and images as if it had written them. In the same way ``ptx`` has a stand-in for
ptxas, which answers with a cubin of the right names.
"""

from __future__ import annotations

import gzip
import json
import os
import tempfile
import zipfile
from contextlib import contextmanager
from dataclasses import fields
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest import mock

from perfkit.compiled import host_file, plain_images, source_names, tools, triton_cache
from perfkit.compiled.archive import read_zip
from perfkit.compiled.container import read_container
from perfkit.compiled.cubin import read_cubin
from perfkit.compiled.demangle import demangle
from perfkit.compiled.inspect import read
from perfkit.compiled.inspect_json import read_inspect_json
from perfkit.compiled.ptx import compiler_version, dynamic_shared_users, entries
from perfkit.compiled.ptx_file import compile_ptx
from perfkit.kernel import KernelResources
from tests.compiled.containers import CONTAINERS, DATA, windows_library
from tests.fuzz import pieces
from tests.fuzz.mutations import Seed, archive, elf, mutated, words

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterable, Iterator


class Reader(NamedTuple):
    """``make`` draws an input, ``read`` gets it and a path of its own."""

    make: Callable[[random.Random], Any]
    read: Callable[[Any, Path], object]


def _one_of(seeds: list[Seed]) -> Callable[[random.Random], bytes]:
    return lambda draw: mutated(draw.choice(seeds), draw)


def _data(*names: str) -> list[bytes]:
    return [(DATA / name).read_bytes() for name in names]


_CUBINS = (
    "cubin/j05.sm_80.cubin", "cubin/j04.sm_90.cubin", "cubin/shared.sm_90.ptxas118.cubin",
    "cubin/j04.sm_120.cubin", "cubin/j06.sm_80.cubin", "cubin/j01.sm_80.cubin",
    "clusters/clusters.sm_90.cubin", "triton/sm90/row_sum.cubin",
)  # fmt: skip
_HOSTS = (
    "object.o", "relocatable.o", "shared.so", "lineinfo.so", "libstatic.a", "host.o",
    "plain.fatbin",
)  # fmt: skip


def check(kernels: Iterable[KernelResources]) -> None:
    """Promises about every answer."""
    for kernel in kernels:
        words = kernel.name + kernel.demangled + kernel.arch + kernel.origin
        assert words.isprintable(), "a name that a terminal does not take"
        for name in _OPTIONAL:
            value = getattr(kernel, name)
            assert value is not None or kernel.unknown.get(name), f"no reason for {name}"
            assert not isinstance(value, int) or value >= 0, f"{name} is {value}"


_OPTIONAL = [one.name for one in fields(KernelResources) if "None" in str(one.type)]


def _cubin(data: bytes, path: Path) -> None:
    check(read_cubin(data, origin="fuzz"))


def _host(data: bytes, path: Path) -> None:
    path.write_bytes(data)
    found = host_file.device_code(path)
    images = plain_images.plain_images(path)
    places = source_names.named_images(path)
    assert places == sorted(set(places))
    assert not places or places[-1] + 8 <= len(data)
    assert found in {None, "nvidia", "amd"}
    assert sum(map(len, images)) <= len(data), "images overlap"


def _windows(data: bytes, path: Path) -> None:
    path.write_bytes(data)
    fatbins = host_file.windows_fatbins(path)
    assert len(fatbins) <= len(data)
    plain_images.plain_images(path, fatbins)


def _zip(data: bytes, path: Path) -> None:
    path.write_bytes(data)
    check(read_zip(path).kernels)


def _any(data: bytes, path: Path) -> None:
    """As ``perfkit inspect`` would, by the content, under a name that says nothing."""
    path.write_bytes(data)
    check(read(path, arch="sm_90").kernels)


def _json(data: bytes, path: Path) -> None:
    path.write_bytes(data)
    for kernel in read_inspect_json(path).kernels:
        assert kernel.name


def _triton(made: tuple[bytes, bytes], path: Path) -> None:
    path = path.with_suffix(".json")
    path.write_bytes(made[0])
    path.with_suffix(".cubin").write_bytes(made[1])
    found = triton_cache.read_entry(path)
    check(getattr(found, "kernels", ()))


def _name(data: bytes, path: Path) -> None:
    found = demangle(data.decode("utf-8", "replace"))
    assert found.name or not data
    assert len(found.signature) < 2**20, "a name that explodes"


def _container(made: _Extracted, path: Path) -> None:
    with mock.patch.object(tools, "run", made.run):
        check(read_container(path, name="fuzz", fatbins=_PLAIN).kernels)


def _cuobjdump(data: bytes, path: Path) -> None:
    path.write_bytes(data)
    check(read_container(path).kernels)


_PLAIN = (CONTAINERS / "plain.fatbin").read_bytes()


class _Extracted(NamedTuple):
    """What a stand-in for cuobjdump prints and writes."""

    code: int | None
    out: bytes
    err: bytes
    files: tuple[tuple[str, bytes], ...] = ()

    def run(self, command: list, *, folder: Path, seconds: float | None = None) -> tools.Finished:
        for name, content in self.files:
            (folder / name).write_bytes(content)
        out, err = (text.decode("utf-8", "replace") for text in (self.out, self.err))
        return tools.Finished(code=self.code, stdout=out, stderr=err)


def _extracted(reports: list[Seed], cubins: list[Seed]) -> Callable[[random.Random], _Extracted]:
    def image(draw: random.Random) -> bytes:
        one = draw.choice(cubins)
        return one.data if draw.random() < 0.5 else mutated(one, draw)

    def make(draw: random.Random) -> _Extracted:
        written = draw.sample(pieces.NAMES, draw.choice((0, 1, 1, 2, 3)))
        return _Extracted(
            code=draw.choice((0, 0, 0, 1, 255, -11, None)),
            out=mutated(draw.choice(reports), draw),
            err=b"" if draw.random() < 0.6 else mutated(draw.choice(reports), draw),
            files=tuple((name, image(draw)) for name in written),
        )

    return make


def _ptx(cubin: bytes, log: bytes) -> Callable[[bytes, Path], None]:
    """A ptxas that takes everything; one input of four gets that far."""
    compiled = _Extracted(code=0, out=b"V12.9.86", err=log, files=(("output.cubin", cubin),))

    def run(command: list, *, folder: Path) -> tools.Finished:
        asked = compiled if len(command) > 2 else compiled._replace(files=())
        return asked.run(command, folder=folder)

    def read_ptx(data: bytes, path: Path) -> None:
        text = data.decode("utf-8", "replace")
        compiler_version(text)
        dynamic_shared_users(text)
        if len(data) % 4:  # as where there is no ptxas: most of the time goes into what it writes
            entries(text)
            return
        with mock.patch.object(tools, "run", run):
            check(compile_ptx(data, path, arch="sm_90").kernels)

    return read_ptx


def _archives() -> list[Seed]:
    made = []
    for packing in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        file = BytesIO()
        with zipfile.ZipFile(file, "w", packing) as members:
            members.writestr("a/__init__.py", b"pass\n" * 20)
            members.writestr("a/one.cubin", _data("cubin/j04.sm_90.cubin")[0])
        made.append(archive(file.getvalue()))
    return made


def _json_seeds() -> list[Seed]:
    """What ``perfkit inspect -f json`` writes of two kernels."""
    kernels = [
        {one.name: getattr(kernel, one.name) for one in fields(kernel)}
        for name in ("cubin/j01.sm_80.cubin", "clusters/clusters.sm_90.cubin")
        for kernel in read_cubin(*_data(name), origin="fuzz")[:2]
    ]
    text = json.dumps({"schema": "perfkit.inspect/1", "kernels": kernels})
    return [words(text.encode(), pieces.JSON_WORD, *pieces.JSON)]


def readers() -> dict[str, Reader]:
    """Every reader of compiled code by its name, but for logs and reports (``texts``)."""
    # those of the library have -lineinfo: DWARF, and relocations of it
    lines = plain_images.plain_images(CONTAINERS / "lineinfo.so")
    cubins = [elf(data) for data in (*_data(*_CUBINS), *lines[:2])]
    hosts = [elf(data) for data in _data(*(f"containers/{name}" for name in _HOSTS))]
    windows = elf(windows_library(_PLAIN, _PLAIN))
    metadata = [
        words(data, pieces.JSON_WORD, *pieces.JSON)
        for data in _data("triton/metadata/d11a.json", "triton/metadata/d11b.json",
                          "triton/sm90/row_sum.json")
    ]  # fmt: skip
    small = elf(_data("cubin/j04.sm_90.cubin")[0])
    ptx = [
        words(text, rb"[.%$\w]+|[^\s\w]|\n", *pieces.PTX)
        for text in (pieces.PTX_TEXT, *_data("cubin/shared.ptx"))
    ]
    reports = [
        words(text, rb"[^\s:.]+|[:.\n]", *pieces.REPORT)
        for text in (pieces.PRINTED, pieces.REFUSED, pieces.REFUSED + pieces.PRINTED)
    ]
    logs = _data("ptxas/b02.log", "ptxas/b09.log", "ptxas/c02.txt", "ptxas/linked.usage.txt")
    texts = [words(data, rb"\S+", *pieces.REPORT) for data in logs]
    zips, written = _archives(), _json_seeds()
    packed = Seed(data=gzip.compress(logs[0]))
    names = [
        words(line.partition(b"\t")[0], rb"\d+|[A-Z][a-z]?\d*_?|[a-z]", *pieces.NAME)
        for line in _data("cubin/names.tsv")[0].splitlines()
        if len(line) < 1500
    ]
    return {
        "cubin": Reader(_one_of(cubins), _cubin),
        "host": Reader(_one_of(hosts), _host),
        "windows": Reader(_one_of([windows]), _windows),
        "zip": Reader(_one_of(zips), _zip),
        "triton": Reader(
            lambda draw: (
                mutated(draw.choice(metadata), draw),
                small.data if draw.random() < 0.7 else mutated(small, draw),
            ),
            _triton,
        ),
        "json": Reader(_one_of(written), _json),
        "ptx": Reader(
            _one_of(ptx),
            _ptx(*_data("cubin/shared.sm_90.ptxas124.cubin", "cubin/j01.sm_80.ptxas.txt")),
        ),
        "name": Reader(_one_of(names), _name),
        "container": Reader(_extracted(reports, [small, *cubins[:2], cubins[-1]]), _container),
        "any": Reader(
            _one_of([*cubins, *hosts, windows, *zips, *metadata, *written, *ptx, *texts, packed]),
            _any,
        ),
        "cuobjdump": Reader(_one_of(hosts), _cuobjdump),
    }


@contextmanager
def place() -> Iterator[Path]:
    """A path for inputs, in memory where there is such a place; temporary files go there too."""
    memory = Path("/dev/shm")
    where = memory if os.access(memory, os.W_OK) else None
    with (
        tempfile.TemporaryDirectory(dir=where) as folder,
        mock.patch.object(tempfile, "tempdir", folder),
    ):
        yield Path(folder, "input")

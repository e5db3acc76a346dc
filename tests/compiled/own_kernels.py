"""The set of own kernels, compiled by any NVRTC, and held against what NVIDIA's tools say of each.

The oracles are read by a few regular expressions here, not by perfkit: ``ptxas -v`` in the
compiler's log, ``cuobjdump --dump-resource-usage`` and ``cuobjdump -elf`` on the cubin.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from perfkit.compiled.cubin import read_cubin
from perfkit.compiled.ptxas_log import read_log
from perfkit.kernel import KernelResources
from tests.compiled.logs import lines
from tests.compiled.reports import REPOSITORY, cuobjdump

SOURCES = REPOSITORY / "tests" / "data" / "own_kernels"
RESERVED = 1024  #: bytes that the system keeps of every block from 9.0 on

#: source -> sets of further options
FILES: dict[str, tuple[tuple[str, ...], ...]] = {
    "bounds": ((),),
    "memory": ((),),
    "calls": ((), ("--device-debug",)),
    "spills": ((), ("--maxrregcount=32",), ("--maxrregcount=64",)),
    "types": ((), ("--use_fast_math",)),
    "tensor": ((),),
    "groups": ((),),
}
#: kernels of which the stack has no bound. Tools print a number for them, or UNKNOWN.
UNBOUNDED = frozenset({"recursive", "recursive_in_turns", "unknown_pointer"})


class Image(NamedTuple):
    """What one compilation gave."""

    name: str
    arch: str
    cubin: bytes
    log: str


class Nvrtc:
    """A compiler by the path of its library; ``cuda.bindings`` would only ever load one."""

    def __init__(self, library: Path, headers: tuple[Path, ...]) -> None:
        self._library = ctypes.CDLL(str(library))
        self._headers = headers
        major, minor = ctypes.c_int(), ctypes.c_int()
        self._call("Version", ctypes.byref(major), ctypes.byref(minor))
        self.version = f"{major.value}.{minor.value}"

    def _call(self, name: str, *arguments: object) -> int:
        return int(getattr(self._library, f"nvrtc{name}")(*arguments))

    def _text(self, program: ctypes.c_void_p, what: str) -> bytes:
        size = ctypes.c_size_t()
        assert self._call(f"Get{what}Size", program, ctypes.byref(size)) == 0
        buffer = ctypes.create_string_buffer(size.value)
        assert self._call(f"Get{what}", program, buffer) == 0
        return buffer.raw

    def targets(self) -> list[str]:
        """Every architecture that it lists, without suffixes."""
        number = ctypes.c_int()
        assert self._call("GetNumSupportedArchs", ctypes.byref(number)) == 0
        found = (ctypes.c_int * number.value)()
        assert self._call("GetSupportedArchs", found) == 0
        return [f"sm_{sm}" for sm in found]

    def compile(self, file: str, arch: str, options: tuple[str, ...] = ()) -> Image:
        path = SOURCES / f"{file}.cu"
        flags = [f"-arch={arch}", "--ptxas-options=-v", "--std=c++17", *options]
        flags += [f"--include-path={directory}" for directory in self._headers]
        program = ctypes.c_void_p()
        text = path.read_bytes()
        made = self._call("CreateProgram", ctypes.byref(program), text, b"k.cu", 0, None, None)
        assert made == 0
        encoded = (ctypes.c_char_p * len(flags))(*(flag.encode() for flag in flags))
        status = self._call("CompileProgram", program, len(flags), encoded)
        log = self._text(program, "ProgramLog").rstrip(b"\0").decode()
        if status:
            raise AssertionError(f"{file} for {arch}: {log}")
        cubin = self._text(program, "CUBIN")
        self._call("DestroyProgram", ctypes.byref(program))
        return Image(" ".join((file, *options)), arch, cubin, log)


@cache
def nvrtc12() -> Nvrtc | None:
    """The installed NVRTC of the extra cu12."""
    from perfkit.access import header_directories, require_nvrtc
    from perfkit.errors import Unavailable

    try:
        require_nvrtc()
    except Unavailable:
        return None
    from cuda.pathfinder import load_nvidia_dynamic_lib

    library = load_nvidia_dynamic_lib("nvrtc").abs_path
    return Nvrtc(Path(library), tuple(map(Path, header_directories().values())))


@cache
def nvrtc13() -> Nvrtc | None:
    """The one that ``make oracle`` unpacks, off the environment's path."""
    root = Path(os.environ.get("PERFKIT_ORACLE_DIR", REPOSITORY / ".venv" / "oracle"))
    folder = root / "nvidia" / "cu13"
    found = sorted(folder.glob("lib/libnvrtc.so.13*"))
    headers = (folder / "include", folder / "include" / "cccl")
    return Nvrtc(found[0], headers) if found else None


# --- oracles --------------------------------------------------------------------------------------

_RECORD = re.compile(
    r"Compiling entry function '(\S+)' for '(\w+)'\n"
    r"ptxas info +: Function properties for \1\n"
    r"[ .a-z]+(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads\n"
    r"ptxas info +: Used (\d+) registers([^\n]*)\n"
)
_NOTES = re.compile(r"^\.nv\.info(?:\.(\S+))?$(.*?)(?=^\.|\Z)", re.MULTILINE | re.DOTALL)
_CODE = re.compile(
    r"^ +[0-9a-f]+ +[0-9a-f]+ +[0-9a-f]+ +[0-9a-f]+ +[0-9a-f]+ +PROGBITS +([0-9a-f]+)"
    r" +[0-9a-f]+ +[0-9a-f]+ \.text\.(\S+)$",
    re.MULTILINE,
)
_USAGE = re.compile(r" Function (\S+):\s+REG:(\d+) STACK:(\w+) SHARED:(\d+) LOCAL:(\d+)(.*)")
_HEX = r"\s+Format:\s+\w+\s+Value:\s+((?:0x[0-9a-f]+ *)+)"


def said_by_ptxas(log: str) -> dict[str, dict[str, int | str | None]]:
    """Field of perfkit -> number, for each kernel of a compiler's log."""

    def clause(rest: str, what: str) -> int | None:
        found = re.search(what, rest)
        return int(found[1]) if found else None

    found: dict[str, dict[str, int | str | None]] = {}
    for name, arch, frame, stores, loads, registers, rest in _RECORD.findall(log):
        found[name] = {
            "arch": arch,
            "frame_bytes": int(frame),
            "spill_store_bytes": int(stores),
            "spill_load_bytes": int(loads),
            "registers_per_thread": int(registers),
            "barriers": clause(rest, r"used (\d+) barriers"),
            "static_shared_bytes": clause(rest, r"(\d+) bytes smem") or 0,
            "constant_bytes": clause(rest, r"(\d+) bytes cmem\[0\]"),
            "cumulative_stack_bytes": clause(rest, r"(\d+) bytes cumulative stack size"),
        }
    return found


def said_by_cuobjdump(tool: Path, cubin: Path) -> dict[str, dict[str, object]]:
    """Field -> number, from the resource report and the notes that ``-elf`` decodes."""
    elf = run(tool, "-elf", cubin)
    sm = int(re.search(r"sm=(\d+)", elf)[1])
    flags = {name: int(value, 16) for value, name in _CODE.findall(elf)}
    notes = {name: text for name, text in _NOTES.findall(elf) if name}
    found: dict[str, dict[str, object]] = {}
    for name, registers, stack, shared, _, rest in _USAGE.findall(
        run(tool, "--dump-resource-usage", cubin)
    ):
        if (constant := re.search(r"CONSTANT\[0\]:(\d+)", rest)) is None:
            continue  # a function that is compiled on its own: only kernels have parameters
        reserved = RESERVED if sm >= 90 and int(shared) >= RESERVED else 0
        found[name] = {
            "registers_per_thread": int(registers),
            "cumulative_stack_bytes": None if stack == "UNKNOWN" else int(stack),
            "static_shared_bytes": int(shared) - reserved,
            "constant_bytes": int(constant[1]),
        } | _declared(notes.get(name, ""), flags[name])
    return found


def _declared(notes: str, flags: int) -> dict[str, object]:
    def numbers(attribute: str) -> tuple[int, ...] | None:
        match = re.search(attribute + _HEX, notes)
        return tuple(int(word, 16) for word in match[1].split()) if match else None

    barriers, parameters = numbers("EIATTR_NUM_BARRIERS"), numbers("EIATTR_CBANK_PARAM_SIZE")
    threads, block = numbers("EIATTR_MAX_THREADS"), numbers("EIATTR_REQNTID")
    bound = block or threads
    most = numbers("EIATTR_MAX_CLUSTER_RANK")
    return {
        # before there was an attribute, bits 20 to 26 of the code's flags
        "barriers": barriers[0] if barriers else flags >> 20 & 0x7F,
        "parameter_bytes": parameters[0] if parameters else 0,
        "max_threads": bound[0] * bound[1] * bound[2] if bound else None,
        "required_block": block,
        "required_cluster": numbers("EIATTR_CTA_PER_CLUSTER"),
        "max_cluster_blocks": most[0] if most else None,
    }


def run(tool: Path, *arguments: object) -> str:
    command = [str(tool), *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


# --- the comparison -------------------------------------------------------------------------------


class Compared(NamedTuple):
    """What came out of one image."""

    wrong: list[str]  #: what disagrees
    telling: Counter[str]  #: field -> numbers compared that are neither 0 nor absent
    names: set[str]


def compared(image: Image, folder: Path) -> Compared:
    """Cubin and log as perfkit reads them against the tools; ``folder`` is for a file."""
    cubin = {kernel.name: kernel for kernel in read_cubin(image.cubin, origin="k.cubin")}
    log = {kernel.name: kernel for kernel in read_log(lines(image.log), origin="log")}
    ptxas, title = said_by_ptxas(image.log), f"{image.name} {image.arch}"
    sides = [("log", log, ptxas), ("cubin", cubin, ptxas)]
    if (tool := cuobjdump()) is not None:
        path = folder / "k.cubin"
        path.write_bytes(image.cubin)
        sides.append(("cubin", cubin, said_by_cuobjdump(tool, path)))
    wrong, telling = [], Counter[str]()
    for what, ours, theirs in sides:
        if set(ours) != set(theirs) or not ours:
            wrong.append(f"{title}: {what}: {sorted(set(ours) ^ set(theirs))} not on both sides")
        for name in set(ours) & set(theirs):
            for field, truth in theirs[name].items():
                if truth:
                    telling[field] += 1
                if (problem := _problem(what, ours[name], field, truth)) is not None:
                    wrong.append(f"{title} {name}: {what}: {problem}")
    return Compared(wrong, telling, set(cubin))


def _problem(what: str, kernel: KernelResources, field: str, truth: object) -> str | None:
    """The difference in words, if it is one."""
    ours = getattr(kernel, field)
    if ours == truth:
        return None
    said = f"{field} is {ours} instead of {truth}"
    if kernel.name in UNBOUNDED and field == "cumulative_stack_bytes":
        return None if ours is None and field in kernel.unknown else said
    if what == "cubin" and truth is None and field in {"constant_bytes", "cumulative_stack_bytes"}:
        # ptxas leaves it out: the stack where there is none, the bank for some targets
        return None if field == "constant_bytes" or ours == 0 else said
    if what == "cubin" and field.startswith("spill_"):
        return None if ours is None and field in kernel.unknown else said
    if what == "cubin" and field == "frame_bytes" and int(kernel.arch.strip("sm_af")) < 70:
        return None if ours is None and field in kernel.unknown else said
    return said


def images(compiler: Nvrtc, targets: list[str], files: list[str]) -> Iterator[Image]:
    for arch in targets:
        for file in files:
            for options in FILES[file]:
                yield compiler.compile(file, arch, options)

"""What a file is, by its first bytes, so that a refusal can name what it refuses."""

from __future__ import annotations

import re
from typing import Final

from perfkit.compiled.text_lines import is_wide

#: How many bytes of a file ``describe`` wants to see.
HEAD_BYTES: Final = 4096

EM_CUDA: Final = 190  #: ELF machine number of NVIDIA's device code

_ELF_MACHINES: Final = {3: "x86", 40: "Arm", 62: "x86-64", 183: "AArch64", 243: "RISC-V"}

_MAGICS: Final = (
    (b"\x50\xed\x55\xba", "a fatbin container"),
    (b"\xed\x43\x4e\x7f", "an LTO-IR object of nvcc -dlto or NVRTC"),
    (b"!<arch>", "a static library"),
    (b"!<thin>", "a thin static library"),
    (b"BC\xc0\xde", "LLVM bitcode"),
    (b"PK\x03\x04", "a zip archive or a wheel"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\x1f\x8b", "a gzip file"),
    (b"\xfd7zXZ\x00", "an xz file"),
    (b"\x28\xb5\x2f\xfd", "a zstd file"),
    (b"MZ", "a Windows program or library"),
    (b"\xcf\xfa\xed\xfe", "a macOS program or library"),
    (b"\xca\xfe\xba\xbe", "a macOS universal program or a Java class"),
    (b"SQLite format 3", "an SQLite database, perhaps an Nsight report"),
)

_TEXTS: Final = (
    (rb"^[ \t]*+\.version\s++\d", "PTX text"),
    (rb"^ptxas info", "a ptxas -v log"),
    (rb"^Resource usage:", "a cuobjdump resource report"),
    (rb"\b__global__\b|^[ \t]*+#[ \t]*+include\b", "CUDA source"),
    (rb"\A\s*(?:\{|\[\s*[\[{\"])", "JSON text"),  # "[ 50%] Building" is none
)
_DIGEST: Final = re.compile(rb"[0-9a-f]{32,64}(?=\x7fELF)")
#: control characters without those of lines, tabs, pages, backspaces and colours
_NOT_IN_TEXT: Final = bytes(set(range(32)) - set(b"\b\t\n\v\f\r\x1b"))
_OF_BUILDS: Final = re.compile(rb"\b(?:nvcc|ptxas|error|warning|make|ninja|Resource usage)\b")


def without_digest(data: bytes) -> bytes:
    """What CuPy keeps of a cubin: its cache puts a digest in hexadecimal in front of each."""
    match = _DIGEST.match(data)
    return data[match.end() :] if match else data


def is_cubin(head: bytes) -> bool:
    """An ELF file for NVIDIA devices; nothing more is checked."""
    return head[:4] == b"\x7fELF" and int.from_bytes(head[18:20], "little") == EM_CUDA


def may_be_text(head: bytes) -> bool:
    """Neither one of the known kinds of binary files nor full of bytes that no text has.

    A packed text may be one, and a text in UTF-16.
    """
    if not head or head.startswith(b"\x1f\x8b"):
        return bool(head)
    if head[:4] == b"\x7fELF" or any(head.startswith(magic) for magic, _ in _MAGICS):
        return False
    return is_wide(head) or len(head.translate(None, _NOT_IN_TEXT)) > 0.95 * len(head)


def is_other_text(head: bytes) -> bool:
    """Text of a known kind that is not what a build prints, though it may quote some of it."""
    return describe(head) in {"CUDA source", "JSON text"} and not _OF_BUILDS.search(head)


def describe(head: bytes) -> str:
    """A noun phrase for what these first bytes begin.

    >>> describe(b"!<arch>"), describe(b".version 8.8")
    ('a static library', 'PTX text')
    """
    if not head:
        return "an empty file"
    if is_cubin(head):
        return "a cubin"
    if head[:4] == b"\x7fELF":
        machine = int.from_bytes(head[18:20], "big" if head[5:6] == b"\x02" else "little")
        return f"a host ELF file ({_ELF_MACHINES.get(machine, f'machine {machine}')})"
    for magic, name in _MAGICS:
        if head.startswith(magic):
            return name
    for pattern, name in _TEXTS:
        if re.search(pattern, head[:HEAD_BYTES], re.MULTILINE):
            return name
    return "not a file that perfkit knows" if not may_be_text(head) else "text"

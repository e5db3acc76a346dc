"""What NVIDIA's tools print about kernels, as numbers to compare with."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).resolve().parents[2]
DATA = REPOSITORY / "tests" / "data" / "cubin"
EXAMPLES = REPOSITORY / "examples" / "kernels"

_USAGE = re.compile(
    r" Function (?P<name>\S+):\s+REG:(?P<registers>\d+) STACK:(?P<stack>\w+)"
    r" SHARED:(?P<shared>\d+) LOCAL:\d+(?P<rest>.*)"
)
_PTXAS = re.compile(
    r"Compiling entry function '(?P<name>[^']+)'.*?"
    r"(?P<frame>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores,"
    r" (?P<loads>\d+) bytes spill loads\n"
    r".*?Used (?P<registers>\d+) registers, used (?P<barriers>\d+) barriers(?P<rest>[^\n]*)",
    re.DOTALL,
)


class Usage(NamedTuple):
    """One function of ``cuobjdump --dump-resource-usage``. ``stack`` None: it says UNKNOWN."""

    registers: int
    stack: int | None
    shared: int
    constant: int


class Ptxas(NamedTuple):
    """One kernel of ``ptxas -v``."""

    registers: int
    barriers: int
    shared: int
    stack: int  #: cumulative; the kernel's own frame where ptxas states no other
    constant: int | None  #: None: ptxas does not print it for this target
    spill_stores: int
    spill_loads: int
    frame: int  #: the kernel's own stack


def usage(text: str) -> dict[str, Usage]:
    found = {}
    for match in _USAGE.finditer(text):
        constant = re.search(r"CONSTANT\[0\]:(\d+)", match["rest"])
        found[match["name"]] = Usage(
            int(match["registers"]),
            None if match["stack"] == "UNKNOWN" else int(match["stack"]),
            int(match["shared"]),
            int(constant[1]) if constant else 0,
        )
    return found


def ptxas(text: str) -> dict[str, Ptxas]:
    def number(match: re.Match[str], what: str) -> int | None:
        found = re.search(rf"(\d+) bytes {what}", match["rest"])
        return int(found[1]) if found else None

    return {
        match["name"]: Ptxas(
            int(match["registers"]),
            int(match["barriers"]),
            number(match, "smem") or 0,
            number(match, "cumulative stack size") or int(match["frame"]),
            number(match, r"cmem\[0\]"),
            int(match["stores"]),
            int(match["loads"]),
            int(match["frame"]),
        )
        for match in _PTXAS.finditer(text)
    }


def cuobjdump() -> Path | None:
    """NVIDIA's tool where ``make oracle`` put it, or None."""
    root = Path(os.environ.get("PERFKIT_ORACLE_DIR", REPOSITORY / ".venv" / "oracle"))
    path = root / "nvidia" / "cu13" / "bin" / "cuobjdump"
    return path if path.is_file() else None


def images(text: str) -> list[str]:
    """A report on a container: the part on each image of machine code, in order."""
    parts = re.split(r"^Fatbin (elf|ptx) code:$", text, flags=re.MULTILINE)
    return [body for kind, body in zip(parts[1::2], parts[2::2], strict=True) if kind == "elf"]


def live_usage(tool: Path, cubin: Path) -> dict[str, Usage]:
    command = [tool, "--dump-resource-usage", cubin]
    return usage(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

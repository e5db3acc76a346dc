"""Whole libraries: every number against ``cuobjdump``, and the time that it takes.

For each library named: ``perfkit inspect FILE -f json`` as a whole process (goal: 5 s for 2,000
kernels), and every kernel of every image against ``cuobjdump --dump-resource-usage``: registers,
stack, constant bank 0, and shared memory, to which cuobjdump adds what the system keeps from 9.0
on. With ``--barriers`` also the named barriers, against ``cuobjdump -elf``, which prints a lot.

    python -m tests.bench.library libbitsandbytes_cuda128.so [--barriers]

Wheels have to be unpacked first: cuobjdump does not read them.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from perfkit.compiled import tools
from tests.compiled.reports import Usage, images, usage

ROOT = Path(__file__).resolve().parents[2]
GOAL_SECONDS = 5.0
GOAL_KERNELS = 2000
RESERVED = 1024
IMAGE = re.compile(r"image (\d+) for ")


def inspected(library: Path) -> tuple[list[dict[str, Any]], float]:
    """What perfkit says, and the seconds of the whole process."""
    command = [sys.executable, "-m", "perfkit", "inspect", str(library), "-f", "json"]
    start = time.perf_counter()
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    took = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)["kernels"], took


def dumped(library: Path, option: str) -> list[str]:
    """cuobjdump's report on each image of machine code, in order."""
    command = [str(tools.find(tools.CUOBJDUMP)), option, str(library)]
    return images(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


#: sections of ``-elf`` with what the compiler notes of a kernel, and the flags of its code
NOTES = re.compile(r"^\.nv\.info\.(\S+)$(.*?)(?=^\.)", re.MULTILINE | re.DOTALL)
COUNT = re.compile(r"EIATTR_NUM_BARRIERS\s+Format:\s+\w+\s+Value:\s+(0x[0-9a-f]+)")
CODE = re.compile(
    r"^ +[0-9a-f]+ +[0-9a-f]+ +[0-9a-f]+ +[0-9a-f]+ +[0-9a-f]+ +PROGBITS +([0-9a-f]+)"
    r" +[0-9a-f]+ +[0-9a-f]+ \.text\.(\S+)$",
    re.MULTILINE,
)


def barriers(image: str) -> dict[str, int]:
    """Named barriers by kernel: an attribute; before there was one, bits 20 to 26 of the flags."""
    found = {name: int(flags, 16) >> 20 & 0x7F for flags, name in CODE.findall(image)}
    for name, text in NOTES.findall(image):
        if match := COUNT.search(text):
            found[name] = int(match[1], 16)
    return found


def differences(kernel: dict[str, Any], truth: Usage) -> list[str]:
    sm = int(re.sub(r"\D", "", kernel["arch"]))
    reserved = RESERVED if sm >= 90 and truth.shared >= RESERVED else 0
    pairs = {
        "registers": (kernel["registers_per_thread"], truth.registers),
        "stack": (kernel["stack_bytes"], truth.stack),
        "shared": (kernel["static_shared_bytes"], truth.shared - reserved),
        "constant": (kernel["constant_bytes"], truth.constant),
    }
    return [
        f"{kernel['origin']}: {kernel['name']}: {what}: {ours} instead of {theirs}"
        for what, (ours, theirs) in pairs.items()
        if ours != theirs
    ]


def check(library: Path, *, with_barriers: bool) -> bool:
    kernels, took = inspected(library)
    reports = [usage(text) for text in dumped(library, "--dump-resource-usage")]
    elfs = [barriers(text) for text in dumped(library, "-elf")] if with_barriers else []
    wrong: list[str] = []
    counted = 0
    for kernel in kernels:
        number = int(IMAGE.search(kernel["origin"])[1])
        wrong += differences(kernel, reports[number - 1][kernel["name"]])
        if elfs:
            counted += 1
            if kernel["barriers"] != (truth := elfs[number - 1][kernel["name"]]):
                wrong.append(
                    f"{kernel['origin']}: {kernel['name']}: barriers: {kernel['barriers']} "
                    f"instead of {truth}"
                )
    rate = took / max(len(kernels), GOAL_KERNELS) * GOAL_KERNELS
    print(
        f"{library.name}: {len(kernels)} kernels in {len(reports)} images, {took:.2f} s"
        f" ({rate:.2f} s per {GOAL_KERNELS}, goal {GOAL_SECONDS:g} s);"
        f" {len(wrong)} differences from cuobjdump"
        + (f", barriers compared for {counted}" if elfs else "")
    )
    for line in wrong[:10]:
        print(f"  {line}")
    return not wrong and bool(kernels) and rate <= GOAL_SECONDS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("libraries", nargs="+", type=Path)
    parser.add_argument("--barriers", action="store_true")
    options = parser.parse_args()
    fine = [check(library, with_barriers=options.barriers) for library in options.libraries]
    return 0 if all(fine) else 1


if __name__ == "__main__":
    raise SystemExit(main())

"""A task of a child under Nsight Compute: what the hardware counted, launch by launch.

``ncu`` is asked to leave clocks and caches alone. Whether the driver lets this user read counters
shows only when it is tried; every way in which that fails becomes ``Unavailable`` with a reason.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from perfkit.errors import DeviceError, InputError, Unavailable
from perfkit.readers import ncu
from perfkit.readers.ncu import Profile

#: where it lies if it is not on the PATH; the newest is the last
_PLACES: Final = ("/usr/local/cuda/bin", "/opt/nvidia/nsight-compute/*")
_NO_PERMISSION: Final = "ERR_NVGPUCTRPERM"
_ERROR: Final = re.compile(r"^==ERROR== (.+)$", re.MULTILINE)


def find_ncu() -> str:
    """The profiler's path.

    Raises:
        Unavailable: there is none.
    """
    found = shutil.which("ncu")
    for place in () if found else _PLACES:
        folder, _, pattern = place.rpartition("/")
        candidates = [path / "ncu" for path in sorted(Path(folder).glob(pattern))]
        found = next((str(path) for path in reversed(candidates) if path.is_file()), found)
    if found is None:
        raise Unavailable(
            "Nsight Compute (ncu) is not installed",
            hint="it comes with the CUDA toolkit; or put it on the PATH",
        )
    return found


def profiled(
    task: str, arguments: Mapping[str, Any], *, kernels: str, metrics: Sequence[str]
) -> tuple[Profile, ...]:
    """Run a task of ``perfkit.device.tasks`` under the profiler.

    Args:
        task: its name.
        arguments: what it is called with; JSON.
        kernels: regular expression of the kernels to watch.
        metrics: what to collect, by Nsight Compute's names.

    Raises:
        Unavailable: no profiler, or one that may not or cannot read these counters here.
        DeviceError: the task failed.
    """
    program = find_ncu()
    with tempfile.TemporaryDirectory(prefix="perfkit-ncu-") as folder:
        channel, log = Path(folder, "results.jsonl"), Path(folder, "ncu.csv")
        request = {"task": task, "arguments": dict(arguments), "channel": str(channel)}
        question = Path(folder, "request.json")
        question.write_text(json.dumps(request), encoding="utf-8")
        command = [
            *(program, "--clock-control", "none", "--cache-control", "none"),
            *("--csv", "--page", "raw", "--print-units", "base", "--log-file", str(log)),
            *("--kernel-name", f"regex:{kernels}", "--metrics", ",".join(metrics)),
            *(sys.executable, "-m", "perfkit.device.child_main", str(question)),
        ]
        try:
            done = subprocess.run(  # noqa: S603 - the user's profiler, this very Python
                command, capture_output=True, text=True, errors="replace", check=False
            )
        except OSError as error:
            raise Unavailable(f"{program} does not start: {error.strerror or error}") from None
        said = log.read_text("utf-8", "replace") if log.is_file() else ""
        _refuse(said + done.stdout + done.stderr)
        _failed(channel)
        try:
            return ncu.parse(said, "the profiler's output").profiles
        except InputError as error:
            raise Unavailable(f"ncu: {error.message}", hint=_last_line(done.stderr)) from None


def _refuse(said: str) -> None:
    """Raise ``Unavailable`` if the profiler says that it cannot do it here."""
    if _NO_PERMISSION in said:
        raise Unavailable(
            f"this user may not read the GPU's counters ({_NO_PERMISSION})",
            hint="an administrator can allow it: the driver's NVreg_RestrictProfilingToAdminUsers=0"
            + (", or run as root" if hasattr(os, "geteuid") and os.geteuid() else ""),
        )
    if found := _ERROR.search(said):
        raise Unavailable(f"ncu: {found[1].strip()}", hint="under MIG or gVisor it has no counters")


def _failed(channel: Path) -> None:
    """Raise ``DeviceError`` if the task itself says that it failed."""
    lines = channel.read_text("utf-8").splitlines() if channel.is_file() else []
    for line in lines:
        kind, content = json.loads(line)
        if kind == "error":
            raise DeviceError(content["message"], where=content["where"], hint=content["hint"])
    if not lines or json.loads(lines[-1])[0] != "done":
        raise DeviceError("what the profiler ran did not come to its end")


def _last_line(text: str) -> str | None:
    return next(iter(text.strip().splitlines()[-1:]), None)


def same_number(launches: int, profiles: Sequence[Profile]) -> None:
    """Raise ``Unavailable`` if the profiler missed launches."""
    if len(profiles) != launches:
        raise Unavailable(f"ncu saw {len(profiles)} of {launches} launches")


def value(profile: Profile, metric: str) -> float:
    """A metric of one launch, in SI units.

    Raises:
        Unavailable: this profiler does not collect it on this GPU.
    """
    for one in profile.values:
        if one.name == metric and one.amount is not None:
            return one.amount
    raise Unavailable(f"ncu does not collect {metric} on this GPU")

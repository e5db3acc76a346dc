"""NVIDIA's command-line tools: where they are, and how to run one without trusting it.

A tool is looked for in this order: the environment variable with its name in capitals, its PyPI
wheel in this environment, the toolkit that ``CUDA_HOME`` or ``CUDA_PATH`` names, ``PATH``.
nvcc's come last: that of CUDA 12 lacks parts, and a toolkit fits the host compiler beside it.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import TYPE_CHECKING, Final

from perfkit.errors import Unavailable
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Seconds that a tool may take for one file: the largest libraries of CUDA need a few.
TIME_LIMIT: Final = 300.0

_VERSION_SECONDS: Final = 30.0
_VERSION: Final = re.compile(r"\bV(\d+\.\d+\.\d+)")

_OUTPUT_BYTES: Final = 32 * 2**20  #: of what a tool prints, this much is read
_FILE_BYTES: Final = 4 * 2**30  #: no file that a tool writes may be larger


@record
class Tool:
    name: str
    wheels: tuple[str, ...]  #: on PyPI
    purpose: str
    hint: str
    wheels_last: bool = False
    companion: str | None = None  #: in a wheel, what it cannot do without, from the folder above


CUOBJDUMP: Final = Tool(
    name="cuobjdump",
    wheels=("nvidia-cuda-cuobjdump",),
    purpose="takes device code out of programs and libraries",
    hint="pip install nvidia-cuda-cuobjdump ('perfkit[tools]' has it), or set CUOBJDUMP to the one "
    "of a CUDA toolkit",
)
PTXAS: Final = Tool(
    name="ptxas",
    wheels=("nvidia-cuda-nvcc-cu12", "nvidia-cuda-nvcc"),
    purpose="compiles PTX",
    hint="pip install 'perfkit[cu12]' or 'perfkit[cu13]' has it, or set PTXAS to the one of a CUDA "
    "toolkit",
)
NVCC: Final = Tool(
    name="nvcc",
    wheels=("nvidia-cuda-nvcc", "nvidia-cuda-nvcc-cu12"),
    purpose="compiles CUDA sources with host code",
    hint="pip install 'perfkit[cu13]' has it; or put the one of a CUDA toolkit on PATH, or let "
    "NVCC name it",
    wheels_last=True,
    companion="nvvm/bin/cicc",
)


@record
class Finished:
    """``code`` is negative where a signal ended the tool, None where it ran out of time."""

    code: int | None
    stdout: str
    stderr: str


def find(tool: Tool) -> Path:
    """Where the tool is.

    Raises:
        Unavailable: it is not here, or its variable names something else.
    """
    variable = tool.name.upper()
    if asked := os.environ.get(variable):
        found = shutil.which(asked)
        if found is None:
            raise Unavailable(
                f"{variable} is {asked!r}, which is not a program that can be run",
                hint=f"unset {variable} to have {tool.name} looked for elsewhere",
            )
        return Path(found).absolute()
    wheels = list(_in_wheels(tool))
    first, last = ([], wheels) if tool.wheels_last else (wheels, [])
    places: list[str | Path] = [*first, *_in_toolkits(tool), tool.name, *last]
    for place in places:
        if (found := shutil.which(place)) is not None:
            return Path(found).absolute()
    raise Unavailable(f"NVIDIA's {tool.name}, which {tool.purpose}, is not here", hint=tool.hint)


def _in_wheels(tool: Tool) -> Iterator[Path]:
    for wheel in tool.wheels:
        try:
            listed = files(wheel) or ()
        except PackageNotFoundError:
            continue
        for file in listed:
            if file.stem == tool.name and file.suffix in {"", ".exe"}:
                place = Path(str(file.locate()))
                if tool.companion is None or (place.parents[1] / tool.companion).is_file():
                    yield place


def _in_toolkits(tool: Tool) -> Iterator[Path]:
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if root := os.environ.get(variable):
            yield Path(root, "bin", tool.name)


def version(tool: Path) -> str:
    """The full version that a tool tells: ``13.0.88``.

    Raises:
        Unavailable: it cannot be run, or fails.
    """
    with tempfile.TemporaryDirectory(prefix="perfkit-", ignore_cleanup_errors=True) as place:
        done = run([tool, "--version"], folder=Path(place), seconds=_VERSION_SECONDS)
    if done.code != 0:
        why = reason(done, tool.stem, seconds=_VERSION_SECONDS)
        raise Unavailable(why, where=str(tool), hint=f"{tool.stem.upper()} names another one")
    match = _VERSION.search(done.stdout)
    return match[1] if match else "of unknown version"


def run(command: Sequence[str | Path], *, folder: Path, seconds: float | None = None) -> Finished:
    """Run a tool in ``folder`` and wait for it; when it takes too long it is ended.

    Raises:
        Unavailable: it cannot be started.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            process = subprocess.Popen(  # noqa: S603  # no shell, and a program that was looked up
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        except OSError as error:
            reason = error.strerror or str(error)
            raise Unavailable(f"{command[0]} cannot be run: {reason}") from error
        try:
            _limit_files(process.pid)
            code: int | None = process.wait(TIME_LIMIT if seconds is None else seconds)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            if process.returncode is None:  # out of time, or the user interrupts
                _end(process)
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read(_OUTPUT_BYTES).decode("utf-8", "replace"))
    return Finished(code=code, stdout=texts[0], stderr=texts[1])


def _limit_files(pid: int) -> None:
    """A small container may claim to hold a huge image."""
    if sys.platform != "linux":
        return
    import resource

    with suppress(OSError):  # it has ended already
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (_FILE_BYTES, _FILE_BYTES))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a tool and whatever it started."""
    if sys.platform == "win32":
        process.kill()
    else:
        with suppress(ProcessLookupError, PermissionError):  # nobody is left
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def reason(finished: Finished, name: str, *, seconds: float | None = None) -> str:
    """Why a tool failed, in its own words where it has some."""
    if finished.code is None:
        return f"{name} did not finish within {TIME_LIMIT if seconds is None else seconds:g} s"
    words = [line.strip() for line in finished.stderr.splitlines() if line.strip()]
    said = next((line for line in words if "fatal" in line or "error" in line), (words or [""])[0])
    said = said.partition(" : ")[2].strip() or said
    if finished.code < 0:
        said = said or signal.strsignal(-finished.code) or f"signal {-finished.code}"
        return f"{name} crashed: {said}"
    return f"{name} says: {said}" if said else f"{name} failed with exit code {finished.code}"

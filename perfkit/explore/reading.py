"""Files read in a thread of their own, where an error is a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from perfkit.errors import CompileError, PerfkitError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perfkit.arch.types import Target
    from perfkit.explore.state import CommandLine
    from perfkit.kernel import KernelResources


class Failed(NamedTuple):
    """Why a file could not be read, for people."""

    text: str


def read(
    commands: CommandLine, path: str, gpu: str | None
) -> Failed | Sequence[tuple[Target, KernelResources]]:
    """The kernels of a file, or why there are none."""
    try:
        return commands.kernels(path, gpu)
    except PerfkitError as error:
        lines = [str(error), *([error.hint] if error.hint else [])]
        if isinstance(error, CompileError):
            # the first complaint; the rest often follows from it
            lines += [line for line in error.log.splitlines() if "error" in line][:1]
        return Failed(". ".join(lines))
    except OSError as error:
        return Failed(f"{path}: {error.strerror or error}")
    except MemoryError:
        return Failed(f"{path}: not enough memory to read it")

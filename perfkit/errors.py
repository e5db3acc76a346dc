"""Every error perfkit raises on purpose, with the exit code of each.

    PerfkitError                      70  a bug in perfkit, unless a subclass says otherwise
    ├── UsageError                     2  the question cannot be asked
    │   ├── UnknownTarget                 a GPU or capability that the database does not hold
    │   ├── InvalidLaunch                 a value beyond a hardware limit
    │   └── DoesNotFit                    no amount of the resource satisfies the request
    ├── InputError                     2  a file cannot be read as what it should be
    │   ├── ArchDataError                 archdb YAML; ``where`` is ``file:line``
    │   ├── CubinError                    compiled kernel; ``where`` is ``file`` or ``file@offset``
    │   └── CompileError                  the compiler refused the source; carries its log
    ├── Unavailable                    4  something is missing here
    │   ├── NoExtra                       a Python package (the hint has the pip line)
    │   ├── NoCudaPackage                 the same, for the packages that talk to CUDA
    │   ├── NoCudaLibrary                 NVRTC or the driver library
    │   └── NoDevice                      no GPU, or the driver refuses
    └── DeviceError                    5  the device or a kernel failed while running

The other exit codes are verdicts, no errors: ``EXIT_CODES`` has all.
"""

from __future__ import annotations

from typing import ClassVar, Final

EXIT_NO: Final = 1
EXIT_INCONCLUSIVE: Final = 3
EXIT_INTERRUPTED: Final = 130

#: every exit code of the command line
EXIT_CODES: Final = {
    0: "fine",
    EXIT_NO: "the answer is no: a finding, a regression, something that does not fit",
    2: "usage or bad input",
    EXIT_INCONCLUSIVE: "inconclusive",
    4: "something is missing here: a GPU, the compiler, an extra",
    5: "the device or a kernel failed while running",
    70: "a bug in perfkit",
    EXIT_INTERRUPTED: "interrupted",
}


class PerfkitError(Exception):
    """``message`` says what is wrong, ``where`` in which place, ``hint`` what to do."""

    exit_code: ClassVar[int] = 70

    def __init__(self, message: str, *, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    @property
    def __notes__(self) -> list[str]:  # type: ignore[override]
        """What Python prints below a traceback: the hint."""
        return [f"hint: {self.hint}"] if self.hint else []

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message


class UsageError(PerfkitError):
    exit_code = 2


class UnknownTarget(UsageError):
    """A name that is neither a product, an alias nor a compute capability of the database."""


class InvalidLaunch(UsageError):
    """A launch that no configuration of the named capability can run."""


class DoesNotFit(UsageError):
    """An inverse question without an answer, such as shared memory for 8 blocks where 5 fit."""


class InputError(PerfkitError):
    exit_code = 2


class ArchDataError(InputError):
    """A file of the database breaks the schema; ``others`` are its further breaches."""

    others: tuple[ArchDataError, ...] = ()


class CubinError(InputError):
    """Bytes that are not a readable cubin."""


class CompileError(InputError):
    """The compiler refused the source. ``log`` is its output, unchanged."""

    def __init__(
        self, message: str, *, log: str, where: str | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message, where=where, hint=hint)
        self.log = log


class Unavailable(PerfkitError):
    exit_code = 4


class NoExtra(Unavailable):
    """A Python package of an extra is not installed."""


class NoCudaPackage(Unavailable):
    """The extra that is missing is one for CUDA."""


class NoCudaLibrary(Unavailable):
    """The package is there, the NVIDIA library behind it is not."""


class NoDevice(Unavailable):
    """No CUDA device, or a driver that refuses to talk."""


class DeviceError(PerfkitError):
    exit_code = 5

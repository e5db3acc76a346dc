"""What reading a file gives: kernels, and what has to be said about the rest of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.kernel import KernelResources


@record
class Reading:
    """``notes`` are whole sentences about what could not be read, or is not what it seems."""

    kernels: tuple[KernelResources, ...]  #: in file order
    notes: tuple[str, ...] = ()

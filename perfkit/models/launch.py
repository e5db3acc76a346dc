"""Launch inputs against the hardware's limits: what is not even a question.

A configuration that is legal but too large (more registers than a block may have, more shared
memory than the opt-in limit) is an answer, zero blocks with a reason; that is decided in
``models.occupancy``. Here are values that no configuration of the capability can have.
"""

from __future__ import annotations

from typing import Final

from perfkit.arch.types import Capability
from perfkit.errors import InvalidLaunch

#: Named barriers of a block: operand of PTX ``bar.sync``, 0..15.
MAX_BARRIERS_PER_BLOCK: Final = 16


def check(
    capability: Capability,
    threads: int,
    regs: int,
    smem: int,
    carveout: int | None,
    barriers: int,
    virtual_resources: int,
) -> None:
    """Raise ``InvalidLaunch`` naming the input, the limit, the capability and the source."""
    limits, registers = capability.limits, capability.registers
    within(capability, "threads", threads, 1, limits.max_threads_per_block, _THREADS)
    within(capability, "regs", regs, 0, registers.max_per_thread, _REGISTERS)
    within(capability, "smem", smem, 0, None, "")
    within(capability, "barriers", barriers, 0, MAX_BARRIERS_PER_BLOCK, "")
    within(capability, "virtual_resources", virtual_resources, 0, None, "")
    if carveout is not None:
        within(capability, "carveout", carveout, 0, 100, "")


_THREADS: Final = "limits.max_threads_per_block"
_REGISTERS: Final = "registers.max_per_thread"

_WORDS: Final = {
    "threads": "threads per block",
    "max_threads": "threads in a launch bound",
    "regs": "registers per thread",
    "smem": "bytes of shared memory per block",
    "barriers": "named barriers per block",
    "virtual_resources": "virtual resources per block",
    "carveout": "percent of shared memory",
    "grid": "blocks in the grid",
    "blocks": "resident blocks",
}


def within(
    capability: Capability, name: str, value: int, low: int, high: int | None, fact: str
) -> None:
    """Raise ``InvalidLaunch`` unless ``value`` is an integer from ``low`` to ``high``.

    ``name`` is a key of the words for messages; ``fact`` names the limit in the database, if it has
    one there.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidLaunch(f"{name} must be an integer, not {value!r}")
    if low <= value and (high is None or value <= high):
        return
    span = f"{low} to {high}" if high is not None else f"at least {low}"
    message = f"{name} = {value}: {capability.label} takes {span} {_WORDS[name]}"
    raise InvalidLaunch(message, hint=capability.cite(fact) if fact else None)

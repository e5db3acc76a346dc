"""Kernels with a chosen number of registers and amount of shared memory; their blocks count."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from perfkit.device.backend import LaunchConfig, launch_1d
from perfkit.device.program import KERNELS, build_text

if TYPE_CHECKING:
    import random

    import numpy as np
    from numpy.typing import NDArray

    from perfkit.device.backend import Card, Function

#: the compiler does not go below this on 9.0 when it is told how many to use
LEAST_REGISTERS: Final = 24
#: above every number that %smid takes
SLOTS: Final = 1024
NOTE_BYTES: Final = 16 + 4 * SLOTS  #: of one launch
VALUES_BYTES: Final = 4 * (32 * 256 + 1024)  #: what the largest of the kernels reads
_NOTES: Final = 512  #: launches before their counts are read
_BOUND_VALUES: Final = 8


class Variant(NamedTuple):
    """A kernel: ``registers``, or as few as it needs under a launch bound."""

    registers: int = 0
    static_bytes: int = 0
    launch_bound: int = 0

    @property
    def name(self) -> str:
        return f"resident_r{self.registers}_s{self.static_bytes}_t{self.launch_bound}"

    def source(self) -> str:
        bound = (
            f"__launch_bounds__({self.launch_bound})"
            if self.launch_bound
            else f"__maxnreg__({self.registers})"
        )
        values = self.registers or _BOUND_VALUES
        return f"RESIDENT({self.name}, {bound}, {values}, {self.static_bytes})\n"


def source(variants: Iterable[Variant]) -> str:
    """One translation unit with all of them."""
    common = (KERNELS / "resident.cu").read_text("utf-8")
    return common + "".join(variant.source() for variant in variants)


def load(card: Card, variants: Sequence[Variant]) -> tuple[Function, ...]:
    """Compiled and loaded, in the same order."""
    return build_text(card, source(variants), [variant.name for variant in variants])


def random_variants(
    chance: random.Random, most_registers: int, *, plain: int, with_static: int
) -> list[Variant]:
    """Different kernels; ``with_static`` of them with shared memory of their own."""
    counts = range(LEAST_REGISTERS, most_registers + 1)
    # the fewest and the most are always there
    middle = chance.sample(counts[1:-1], plain - 2)
    found = [Variant(registers=count) for count in (counts[0], *middle, counts[-1])]
    for _ in range(with_static):
        # with few registers shared memory limits
        some, size = (
            chance.choice((counts[:9], counts)),
            chance.choice((1000, 4096, 20_001, 49_152)),
        )
        found.append(Variant(registers=chance.choice(some), static_bytes=chance.randint(1, size)))
    return list(dict.fromkeys(found))


class Shape(NamedTuple):
    """A launch of one of the kernels. ``carveout`` in percent; -1: no preference."""

    function: Function
    threads: int
    dynamic_bytes: int
    carveout: int

    @property
    def smem_bytes(self) -> int:
        return self.function.static_shared_bytes + self.dynamic_bytes

    def __str__(self) -> str:
        """For a report."""
        carveout = "no preference" if self.carveout < 0 else f"carveout {self.carveout}%"
        return (
            f"{self.threads} threads, {self.function.registers} registers, "
            f"{self.function.static_shared_bytes} + {self.dynamic_bytes} B shared, {carveout}"
        )


class Counter:
    """Counts the blocks on every SM, for many launches between two looks."""

    def __init__(self, card: Card) -> None:
        self._card = card
        self._notes = card.allocate(_NOTES * NOTE_BYTES)
        self._values = card.allocate(VALUES_BYTES)
        card.fill(self._values, 0)

    def counts(
        self, shapes: Sequence[tuple[Shape, int]], *, ns: int, cluster: int | None = None
    ) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        """Blocks that each launch holds at once.

        Args:
            shapes: launches, and of how many blocks each.
            ns: how long blocks stay after the first one came.
            cluster: blocks per cluster.

        Returns:
            Blocks by launch and SM, shape (launches, ``SLOTS``), 0 for an SM that has none; and
            for each launch the time of the last arrival as a share of ``ns``. Only if that is well
            below 1, no more blocks would have come.
        """
        import numpy as np

        starts = range(0, len(shapes), _NOTES)
        rows = [self._some(shapes[i : i + _NOTES], ns, cluster) for i in starts]
        found = np.concatenate(rows)
        last = found[:, 8:16].copy().view(np.uint64)[:, 0]
        return found[:, 16:].copy().view(np.uint32), last / ns

    def _some(
        self, shapes: Sequence[tuple[Shape, int]], ns: int, cluster: int | None
    ) -> NDArray[np.uint8]:
        import numpy as np

        self._card.fill(self._notes, 0)
        for number, (shape, blocks) in enumerate(shapes):
            note = np.uint64(self._notes.address + number * NOTE_BYTES)
            values = (note, np.uint32(SLOTS), np.uint64(ns), self._values, np.uint64(0))
            shape.function.prefer_carveout(shape.carveout)
            self._card.launch(shape.function, _launch(shape, blocks, cluster), values)
        rows = np.empty((len(shapes), NOTE_BYTES), np.uint8)
        self._card.read(self._notes, rows)
        return rows


def _launch(shape: Shape, blocks: int, cluster: int | None) -> LaunchConfig:
    if cluster is None:
        return launch_1d(blocks, shape.threads, shape.dynamic_bytes)
    return LaunchConfig(
        grid=(blocks, 1, 1),
        block=(shape.threads, 1, 1),
        dynamic_bytes=shape.dynamic_bytes,
        cluster=(cluster, 1, 1),
    )

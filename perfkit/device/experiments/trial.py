"""What a check of ``perfkit validate`` works with: a card, chance, and a ledger to write into."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from perfkit.analysis.validation import SHOWN, Figure, Mismatch, Pair, Tally
from perfkit.device.cuda_card import open_card
from perfkit.device.properties import present_target

if TYPE_CHECKING:
    from perfkit.arch.types import Capability, Target
    from perfkit.device.backend import Card


class Trial:
    """One run of one check.

    The card is opened when it is first asked for: a check that runs a profiler must not hold a
    context of its own.
    """

    def __init__(
        self,
        *,
        name: str,
        seed: int,
        quick: bool,
        opening: Callable[[], Card] = open_card,
        reading: Callable[[], Target] = present_target,
    ) -> None:
        self.name = name
        self.seed = seed
        self.quick = quick
        # a string: each check draws numbers of its own, also if it runs alone
        self.chance = random.Random(f"{name} {seed}")  # noqa: S311 - no secret
        self._opening, self._reading = opening, reading

    @cached_property
    def card(self) -> Card:
        return self._opening()

    @cached_property
    def target(self) -> Target:
        """What the card is, read once and without opening it."""
        return self._reading()

    def arguments(self) -> dict[str, Any]:
        """What makes the same trial in another process."""
        return {"name": self.name, "seed": self.seed, "quick": self.quick}

    @property
    def capability(self) -> Capability:
        return self.target.capability

    def count(self, full: int, quick: int) -> int:
        """How many configurations."""
        return quick if self.quick else full


class Ledger:
    """Counts comparisons and keeps the first differences."""

    def __init__(self) -> None:
        self._compared = self._differing = 0
        self._differences: list[Mismatch] = []
        self._kept = 0
        self._pairs: Counter[Pair] = Counter()
        self.figures: dict[str, Figure] = {}

    def compare(
        self,
        predicted: object,
        measured: object,
        configuration: str,
        *,
        agrees: bool | None = None,
        pair: Pair | None = None,
    ) -> None:
        """Note one comparison.

        Args:
            predicted: what perfkit says, as a report shows it.
            measured: what the card says.
            configuration: of what.
            agrees: None: they must be equal.
            pair: both as numbers, for a chart.
        """
        self._compared += 1
        agreed = predicted == measured if agrees is None else agrees
        if pair is not None:
            self._pairs[replace(pair, agrees=agreed)] += 1
        if agreed:
            return
        self._differing += 1
        if self._kept < SHOWN:
            self._kept += 1
            self._differences.append(
                Mismatch(
                    configuration=configuration, predicted=str(predicted), measured=str(measured)
                )
            )

    def add(self, name: str, amount: int = 1) -> None:
        """Count something beside the comparison."""
        self.figures[name] = int(self.figures.get(name, 0)) + amount

    def tally(self) -> Tally:
        """What is new since the last one."""
        found = Tally(
            compared=self._compared,
            differing=self._differing,
            differences=tuple(self._differences),
            figures=dict(self.figures),
            pairs=tuple(replace(pair, count=count) for pair, count in self._pairs.items()),
        )
        self._compared = self._differing = 0
        self._differences = []
        self._pairs.clear()
        return found

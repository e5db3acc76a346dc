"""How much worse, and how surely: one estimate for each benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfkit.gate.evidence import by_pairs
from perfkit.gate.known_noise import known_noise
from perfkit.gate.scatter import from_runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perfkit.gate.change import ChangeEstimate, Comparison
    from perfkit.gate.evidence import Series


def estimate(comparisons: Sequence[Comparison]) -> list[ChangeEstimate]:
    """One estimate for each comparison, in their order."""
    import numpy as np

    groups: dict[tuple[int, int, bool], list[tuple[int, Series, Series]]] = {}
    found: dict[int, ChangeEstimate] = {}
    for index, item in enumerate(comparisons):
        pairs = by_pairs(item.baseline, item.candidate)
        a, b = pairs or (item.baseline, item.candidate)
        known = known_noise(item, len(a.values), len(b.values))
        if known is not None:
            found[index] = known
        else:
            key = (len(a.values), len(b.values), pairs is not None and len(a.values) > 1)
            groups.setdefault(key, []).append((index, a, b))
    for (_, _, paired), members in groups.items():
        sign = np.array([-1.0 if a.higher_is_better else 1.0 for _, a, _ in members])[:, None]
        before = np.log(np.array([a.values for _, a, _ in members])) * sign
        after = np.log(np.array([b.values for _, _, b in members])) * sign
        results = from_runs(before, after, paired=paired)
        found.update(zip([index for index, _, _ in members], results, strict=True))
    return [found[index] for index in range(len(comparisons))]

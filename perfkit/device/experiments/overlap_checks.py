"""Pipelines of copies and kernels on the card, against ``perfkit.models.overlap``.

What the model takes as given is measured first: what a copy and a kernel take beside their work,
and what it takes from one engine to the next. The rates of the link are measured before and after
every pipeline, as a server's other cards share the way to its memory; a pipeline during which they
changed is tried again.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from statistics import mean, median, quantiles
from typing import TYPE_CHECKING, Final

from perfkit.analysis.validation import Pair
from perfkit.device.experiments import pipelines
from perfkit.device.experiments.pipelines import GATE_NS, MIB, WHOLE, Costs, Link
from perfkit.device.experiments.trial import Ledger
from perfkit.models.engines import Order, Plan, Stage, Times
from perfkit.models.overlap import Work, schedule

if TYPE_CHECKING:
    from perfkit.analysis.validation import Tally
    from perfkit.device.experiments.trial import Trial

_CHUNKS: Final = (1, 2, 4, 8, 16, 32, 64)
_STREAMS: Final = (1, 2, 3, None)
_KERNELS_S: Final = (1e-3, 5e-3, 20e-3)
_ORDERS: Final[tuple[Order, ...]] = ("depth-first", "breadth-first")
#: how often a pipeline is tried until the link is steady
_TRIES: Final = 4
#: one pipeline
_MOST_OFF: Final = 0.15
#: half, and nine of ten, of all pipelines; the second only of the full mode, the quick one has few
_MEDIAN_OFF: Final = 0.02
_TENTH_OFF: Final = 0.05


def overlap(trial: Trial) -> Iterator[Tally]:
    """Measure what is given, then pipelines."""
    bench = pipelines.Bench(trial.card, streams=max(_CHUNKS), repeats=trial.count(5, 3))
    ledger = Ledger()
    _ready_first(ledger, bench)
    costs = pipelines.costs(bench)
    links = [pipelines.link(bench, costs)]
    off: list[float] = []
    engines = trial.card.device.attributes.get("ASYNC_ENGINE_COUNT", 2)
    for kernel_s in _KERNELS_S:
        for plan in _plans(engines)[:: trial.count(1, 5)]:
            found, link = _beside_link(bench, plan, kernel_s, costs, links)
            if link is None:
                ledger.add("pipelines left out, as the rates of the link changed")
                continue
            expected = schedule(_work(costs, link, kernel_s), plan).makespan_s
            off.append(_compare(ledger, plan, kernel_s, expected, found))
        yield ledger.tally()
    _say_given(ledger, costs, links)
    if len(off) > 1:
        _together(ledger, off, judge_tenth=not trial.quick)
        ledger.figures["largest deviation"] = f"{max(off):.2%}"
    yield ledger.tally()


def _beside_link(
    bench: pipelines.Bench, plan: Plan, kernel_s: float, costs: Costs, links: list[Link]
) -> tuple[float, Link | None]:
    """The time of a pipeline, and the link meanwhile; None: never steady. Adds to ``links``."""
    found = 0.0
    for _ in range(_TRIES):
        before = links[-1]
        found = pipelines.pipeline(bench, plan, kernel_s)
        links.append(pipelines.link(bench, costs))
        if before.is_like(links[-1]):
            return found, Link(*map(mean, zip(before, links[-1], strict=True)))
    return found, None


def _compare(ledger: Ledger, plan: Plan, kernel_s: float, expected: float, found: float) -> float:
    """How far off the expected time is."""
    text = (
        f"{plan.chunks} chunks, {plan.streams or plan.chunks} streams, {plan.order}, "
        f"kernel {kernel_s * 1e3:g} ms"
    )
    predicted, measured = (f"{seconds * 1e3:.3f} ms" for seconds in (expected, found))
    pair = Pair(what="time", predicted=expected, measured=found, unit="s")
    off = abs(expected / found - 1)
    ledger.compare(predicted, measured, text, agrees=off <= _MOST_OFF, pair=pair)
    return off


def _say_given(ledger: Ledger, costs: Costs, links: Sequence[Link]) -> None:
    """What the model took as given; of the link medians, and the slowest that it was."""
    middle = Link(*map(median, zip(*links, strict=True)))
    slowest = min(one.h2d_bytes_per_s * one.duplex_share for one in links)
    ledger.figures |= {
        "to the card, GB/s": round(middle.h2d_bytes_per_s / 1e9, 1),
        "back, GB/s": round(middle.d2h_bytes_per_s / 1e9, 1),
        "share of that both ways at once": round(middle.duplex_share, 3),
        "slowest both ways at once, GB/s each": round(slowest / 1e9, 1),
        "a copy beside its bytes, µs": round(costs.copy_s * 1e6, 2),
        "a kernel beside its work, µs": round(costs.kernel_s * 1e6, 2),
        "from one engine to the next, µs": round(costs.handoff_s * 1e6, 2),
    }


def _together(ledger: Ledger, off: Sequence[float], *, judge_tenth: bool) -> None:
    """How far off half, and nine of ten, of the pipelines are."""
    tenth = quantiles(off, n=10)[-1]
    for what, value, most, judged in (
        ("half", median(off), _MEDIAN_OFF, True),
        ("nine of ten", tenth, _TENTH_OFF, judge_tenth),
    ):
        ledger.figures[f"{what} of the pipelines are off by at most"] = f"{value:.2%}"
        if judged:
            ledger.compare(f"at most {most:.0%} off", f"{value:.2%}", what, agrees=value <= most)


def _ready_first(ledger: Ledger, bench: pipelines.Bench) -> None:
    """A copy that is issued later but ready earlier goes before one of another stream."""
    first, second = bench.streams[:2]

    def issue() -> None:
        bench.spin(2 * GATE_NS, first)
        bench.copy(Stage.H2D, 0, MIB, first)
        bench.copy(Stage.H2D, MIB, MIB, second)

    seconds = bench.timed(issue, 2, until=second)
    found = "before" if seconds < GATE_NS * 1e-9 else "after"
    ledger.compare("before", found, "a copy behind one that waits for another stream's kernel")


def _plans(engines: int) -> list[Plan]:
    return [
        Plan(chunks=chunks, streams=streams, copy_engines=min(engines, 2), order=order)
        for chunks, streams, order in itertools.product(_CHUNKS, _STREAMS, _ORDERS)
        if (streams or 0) <= chunks
    ]


def _work(costs: Costs, link: Link, kernel_s: float) -> Work:
    return Work(
        whole_s=Times(WHOLE / link.h2d_bytes_per_s, kernel_s, WHOLE / link.d2h_bytes_per_s),
        copy_overhead_s=costs.copy_s,
        launch_overhead_s=costs.kernel_s,
        handoff_s=costs.handoff_s,
        duplex_share=min(1.0, link.duplex_share),
    )

"""The library's kernels against their bounds, their predicted times and the recommended block size.

``bounds``: no kernel is faster than what its bytes and operations take at the data sheet's rates;
one that DRAM limits takes what its mix of reads and writes takes at the rate that this very card
was just measured to have. ``recommendation``: the block size that ``perfkit recommend`` chooses,
from registers and shared memory alone, and the best of those that ``--measure`` tries, against the
best of all block sizes.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import TYPE_CHECKING, Final

from perfkit.analysis.block_sizes import choose
from perfkit.analysis.measurement import FASTER
from perfkit.analysis.prediction import predict
from perfkit.analysis.validation import Pair, Tally
from perfkit.device import bench as benches
from perfkit.device.block_size_question import MOST_THREADS, order, request, wish
from perfkit.device.experiments import ceiling
from perfkit.device.experiments.bandwidth import dram
from perfkit.device.experiments.trial import Ledger
from perfkit.device.machine import machine_of
from perfkit.device.timing import Sampling, Stopwatch
from perfkit.device.workloads.library import cannot_run, library
from perfkit.errors import DoesNotFit, UsageError
from perfkit.models.roofs import Ceilings

if TYPE_CHECKING:
    from perfkit.analysis.prediction import Machine
    from perfkit.device.backend import Card
    from perfkit.device.experiments.trial import Trial
    from perfkit.device.workload import Case, Workload

#: of the time predicted for a kernel that DRAM limits
_MEMORY_BOUND_OFF: Final = 0.10
#: of the time at the best block size: the worst kernel, and half of them
_WORST_REGRET: Final = 0.10
_MEDIAN_REGRET: Final = 0.02
#: the same of the best of as many as ``perfkit recommend --measure`` tries by itself
_TRIED_REGRET: Final = 0.02
_TRIES: Final = 12
#: what partial sums of blocks may add to the bytes of one problem
_SAME: Final = 1.01
_WARP: Final = 32


def _workloads(trial: Trial) -> list[Workload]:
    """Those that this card runs and that have a bound of their own."""
    here = trial.card.device.compute_capability
    return [one for one in library().values() if cannot_run(one, here) is None]


def bounds(trial: Trial) -> Iterator[Tally]:
    """Every kernel once, at its usual size."""
    card = trial.card
    stopwatch = Stopwatch(card)
    sheet = machine_of(card.device)
    measured = machine_of(card.device, _ceilings(card, stopwatch, sheet))
    bench, ledger = benches.Bench(card, stopwatch), Ledger()
    samples = trial.count(20, 7)
    for workload in _workloads(trial)[:: trial.count(1, 3)]:
        case = workload.case({})
        if case.staged is not None or case.chain is not None:
            continue  # stages are what overlap checks; chains are latencies
        found = _time(bench, workload, case, samples)
        _held_to_bound(ledger, sheet, workload, case, found)
        _held_to_memory(ledger, measured, workload, case, found)
        yield ledger.tally()


def _ceilings(card: Card, stopwatch: Stopwatch, sheet: Machine) -> Ceilings:
    """What DRAM gives in this run, by its mix of reads and writes."""
    place = ceiling.Bench(card=card, stopwatch=stopwatch, quick=True)
    mixes = {one.name: one.value for one in dram(place)}
    return Ceilings(
        gpu=sheet.gpu.key,
        compute={},
        memory={"dram": max(mixes.values())},
        clock_hz=None,
        origin="this run",
        mixes=mixes,
    )


def _time(bench: benches.Bench, workload: Workload, case: Case, samples: int) -> float:
    """Median seconds."""
    sampling = Sampling(samples=samples, cold=workload.cold, warmup_s=0.02, most_seconds=0.5)
    return float(median(bench.time(case, sampling)["samples_s"]))


def _held_to_bound(
    ledger: Ledger, machine: Machine, workload: Workload, case: Case, found: float
) -> None:
    least = predict(
        machine, case.demand, cold=workload.cold, footprint_bytes=case.footprint_bytes
    ).bound_s
    if least is None:
        ledger.add("without a bound")
        return
    shown = f"at least {least * 1e6:.1f} µs"
    ledger.add("held against their bound")
    pair = Pair(
        what="time, beside the least",
        predicted=least,
        measured=found,
        unit="s",
        relation="at least",
        label=workload.name,
    )
    agrees = found >= FASTER * least
    ledger.compare(shown, f"{found * 1e6:.1f} µs", workload.name, agrees=agrees, pair=pair)


def _held_to_memory(
    ledger: Ledger, machine: Machine, workload: Workload, case: Case, found: float
) -> None:
    """Only what DRAM alone limits."""
    expected = predict(
        machine, case.demand, cold=workload.cold, footprint_bytes=case.footprint_bytes
    )
    if expected.bound_by != ("dram",) or expected.expected_s is None:
        return
    off = found / expected.expected_s - 1
    ledger.add("limited by DRAM alone")
    worst = float(ledger.figures.get("largest deviation of these", 0.0))
    ledger.figures["largest deviation of these"] = max(worst, round(abs(off), 4))
    text = f"{workload.name}, with the DRAM rate measured in this run"
    times = f"{expected.expected_s * 1e6:.1f} µs", f"{found * 1e6:.1f} µs ({off:+.1%})"
    pair = Pair(
        what="time where DRAM limits",
        predicted=expected.expected_s,
        measured=found,
        unit="s",
        label=workload.name,
    )
    ledger.compare(times[0], times[1], text, agrees=abs(off) <= _MEMORY_BOUND_OFF, pair=pair)


def recommendation(trial: Trial) -> Iterator[Tally]:
    """Every kernel with a free block size, over all of its block sizes."""
    card = trial.card
    bench, ledger = benches.Bench(card, Stopwatch(card)), Ledger()
    regrets: list[float] = []
    tried_regrets: list[float] = []
    for workload in _free(trial)[:: trial.count(1, 4)]:
        cases = dict(_sweep(workload, step=trial.count(_WARP, 4 * _WARP)))
        favourites = _favourites(trial, bench, workload, cases)
        if not favourites:
            ledger.add("kernels that take none of the recommended block sizes")
            continue
        samples = trial.count(9, 5)
        times = {t: _time(bench, workload, case, samples) for t, case in cases.items()}
        best = min(times, key=lambda threads: times[threads])
        regrets.append(times[favourites[0]] / times[best] - 1)
        tried_regrets.append(min(times[t] for t in favourites[:_TRIES]) / times[best] - 1)
        _held_to_best(ledger, workload, favourites[0], best, (regrets[-1], tried_regrets[-1]))
        yield ledger.tally()
    if regrets:
        middle = median(regrets)
        ledger.figures |= {
            "median regret": f"{middle:.2%}",
            "worst regret": f"{max(regrets):.2%}",
            "worst regret with --measure": f"{max(tried_regrets):.2%}",
        }
        ledger.compare(
            f"at most {_MEDIAN_REGRET:.0%}",
            f"{middle:.2%}",
            "median over the kernels",
            agrees=middle <= _MEDIAN_REGRET,
        )
    yield ledger.tally()


def _held_to_best(
    ledger: Ledger, workload: Workload, chosen: int, best: int, regrets: tuple[float, float]
) -> None:
    """The recommended block size, and the best of those that would be tried."""
    regret, tried = regrets
    ledger.figures[workload.name] = (
        f"{chosen} threads recommended, {best} the best, regret {regret:.1%}, tried {tried:.1%}"
    )
    predicted = f"at most {_WORST_REGRET:.0%} slower than the best"
    shown = f"{regret:.1%} slower: {chosen} threads, where {best} are best"
    ledger.compare(predicted, shown, workload.name, agrees=regret <= _WORST_REGRET)
    ledger.compare(
        f"one of {_TRIES} tried at most {_TRIED_REGRET:.0%} slower than the best",
        f"{tried:.1%} slower",
        f"{workload.name}, with --measure",
        agrees=tried <= _TRIED_REGRET,
    )


def _free(trial: Trial) -> list[Workload]:
    return [one for one in _workloads(trial) if "threads" in one.sizes and _is_one_problem(one)]


def _is_one_problem(workload: Workload) -> bool:
    """Whether there is as much to do whatever the block size."""
    case = workload.case({})
    if case.staged is not None or case.persistent is not None:
        return False
    demands = [one.demand for _, one in _sweep(workload, step=MOST_THREADS // 4)]
    work = {(d.read_bytes, d.write_bytes, d.flow.flops if d.flow else 0) for d in demands}
    least, most = min(work), max(work)
    return all(high <= _SAME * low for low, high in zip(least, most, strict=True))


def _sweep(workload: Workload, *, step: int) -> Iterator[tuple[int, Case]]:
    """Every block size that the kernel takes, with its case; the usual one is always there."""
    usual = workload.sizes["threads"]
    for threads in sorted({usual, *range(step, MOST_THREADS + 1, step)}):
        try:
            yield threads, workload.case({"threads": threads})
        except UsageError:
            continue


def _favourites(
    trial: Trial, bench: benches.Bench, workload: Workload, cases: dict[int, Case]
) -> list[int]:
    """The kernel's block sizes as the model likes them; none if it takes none of the best."""
    usual = workload.sizes["threads"]
    asked = request(trial.target, bench.facts(cases[usual]), usual=usual, most=max(cases))
    problem = wish(cases.values())
    try:
        found = choose([asked], problem)
    except DoesNotFit:
        return []
    favourites = order(asked, problem, cases)
    return favourites if favourites[0] in {found.threads, *found.tied} else []

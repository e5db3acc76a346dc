"""How often the timing gate cries wolf, and how often it sees a change that is there.

Unchanged code and code made slower, on real timings of an H200 and on simulated series; then other
tools on the same samples, as shipped and set to the same power. Exit code 1 where a goal is missed.

    python -m tests.bench.gate_calibration [--trials N] [--write]

``--write`` puts the tables into docs/gate-calibration.md. Ten thousand trials take ten minutes.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from perfkit.gate.change import Comparison
from perfkit.gate.evidence import Series
from perfkit.gate.policy import Policy
from perfkit.gate.scatter import from_runs
from perfkit.gate.timing import decide
from perfkit.gate.verdict import Reason, Status
from perfkit.gate.words import STATUS
from perfkit.readers.results import Unit
from tests.bench.gate_peers import PEERS, Peer
from tests.bench.gate_series import KINDS, SEQUENTIAL, Kind, drawn, real, simulated

DOCS = Path(__file__).resolve().parents[2] / "docs" / "gate-calibration.md"
MARK = "<!-- tables: python -m tests.bench.gate_calibration --write -->"
RUNS = (5, 7, 10, 15)
FALSE_ALARM, POWER = 0.01, 0.99
DEFAULT = Policy()


def reasons(times: np.ndarray, policy: Policy, *, paired: bool) -> Counter[Reason]:
    """Reasons of many trials, each decided as if it were the only benchmark."""
    logs = np.log(np.median(times, axis=-1))
    side = Series(
        benchmark="x", metric="time", unit=Unit.SECONDS, higher_is_better=False,
        values=(float(times.mean()),), pairs=(), clocks_hz=(), spreads=(),
    )  # fmt: skip
    item = Comparison(baseline=side, candidate=side, policy=policy)
    alpha = policy.false_alarm
    found = from_runs(logs[:, 0], logs[:, 1], paired=paired)
    return Counter(decide(item, one, alpha, alpha).reason for one in found)


def shares(chunks: Iterable[np.ndarray], policy: Policy, *, paired: bool) -> dict[Status, float]:
    total: Counter[Reason] = Counter()
    for times in chunks:
        total += reasons(times, policy, paired=paired)
    count = sum(total.values())
    found = Counter({status: 0 for status in Status})
    for reason, number in total.items():
        found[STATUS.get(reason, Status.INCONCLUSIVE)] += number
    return {status: found[status] / count for status in Status}


def ways(kind: Kind) -> tuple[bool, ...]:
    return (False, True) if kind.paired is None else (kind.paired,)


class Report:
    """Markdown lines, and the goals that were missed."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.missed: list[str] = []

    def add(self, *lines: str) -> None:
        self.lines += lines
        print(*lines, sep="\n", flush=True)

    def table(self, *cells: object) -> None:
        self.add("| " + " | ".join(str(cell) for cell in cells) + " |")

    def head(self, *titles: str) -> None:
        self.add("")
        self.table(*titles)
        self.table(*("---" for _ in titles))

    def goal(self, what: str, value: float, *, most: float = math.inf, least: float = 0.0) -> None:
        if not least <= value <= most:
            self.missed.append(f"{what}: {percent(value)}")


def percent(share: float) -> str:
    return f"{share * 100:.2f} %"


def unchanged(report: Report, kinds: Iterable[Kind], trials: int, *, goal: bool) -> None:
    report.head("noise from run to run", "", *(f"{n} runs: FAIL (PASS)" for n in RUNS))
    for kind in kinds:
        for paired in ways(kind):
            cells = []
            for runs in RUNS:
                found = shares(simulated(kind, runs, trials), DEFAULT, paired=paired)
                cells.append(f"{percent(found[Status.FAIL])} ({found[Status.PASS] * 100:.0f} %)")
                if goal:
                    name = f"unchanged, {kind.name}, {runs} runs"
                    report.goal(name, found[Status.FAIL], most=FALSE_ALARM)
            report.table(kind.name, "pairs" if paired else "two samples", *cells)


def slower(report: Report, trials: int) -> None:
    report.head("noise from run to run", "slower by", "", *(f"{n} runs: FAIL (PASS)" for n in RUNS))
    for kind, effect in ((k, e) for k in KINDS[:4] + KINDS[9:13] for e in (0.03, 0.05, 0.10)):
        for paired in ways(kind):
            cells = []
            for runs in RUNS:
                found = shares(simulated(kind, runs, trials, effect), DEFAULT, paired=paired)
                cells.append(f"{percent(found[Status.FAIL])} ({percent(found[Status.PASS])})")
                if effect == 0.05 and kind in KINDS[:3]:
                    name = f"+5 %, {kind.name}, {runs} runs, {'pairs' if paired else 'two samples'}"
                    report.goal(name, found[Status.FAIL], least=POWER)
            way = "pairs" if paired else "two samples"
            report.table(kind.name, f"{effect * 100:.0f} %", way, *cells)


def h200(report: Report, trials: int) -> None:
    data, runs = real(), (5, 7)
    one = Policy(threshold=0.01)
    titles = [f"{n} runs: FAIL / INCONCLUSIVE / PASS" for n in runs]
    report.head("kernel", "threshold", "more work", *titles)
    for name, policy in (("default", DEFAULT), ("1 %", one)):
        for kernel in ("fma", "matmul", "triad", "tiny"):
            for level in (None, 1, 2, 3, 5, 10):
                cells = []
                for n in runs:
                    if level is None:  # six levels of work, each against itself
                        sets = [drawn(data[kernel, x], None, n, trials // 6 + 1) for x in LEVELS]
                    else:
                        sets = [drawn(data[kernel, 0], data[kernel, level], n, trials)]
                    found = shares(sets, policy, paired=False)
                    cells.append(" / ".join(percent(found[s]) for s in ORDER))
                    label = f"{kernel}, {name}, {level}, {n} runs"
                    if level is None:
                        report.goal(label, found[Status.FAIL], most=FALSE_ALARM)
                    elif level == 2 and policy is one and kernel != "tiny":
                        report.goal(label, found[Status.FAIL], least=POWER)
                report.table(kernel, name, "none" if level is None else f"{level} %", *cells)


LEVELS = (0, 1, 2, 3, 5, 10)
ORDER = (Status.FAIL, Status.INCONCLUSIVE, Status.PASS)

#: where tools are compared: what a machine may do to unchanged code
SHARED = (
    "normal, 0.3 %",
    "normal, 1 %",
    "normal, 3 %",
    "normal, 10 %",
    "two modes 50:50, 13 % apart",
    "5 % outlying runs, 1 %",
    "drift 5 %, in turn, 0.3 %",
)
PEER_RUNS = 7


def alarms(peer: Peer, kind: Kind, trials: int, effect: float, change: float) -> float:
    hits = [peer.rule(times, change) for times in simulated(kind, PEER_RUNS, trials, effect)]
    return float(np.concatenate(hits).mean())


def set_to_power(peer: Peer, kind: Kind, trials: int, power: float) -> float | None:
    """The largest change that the tool can be told to ignore and still reach the power."""
    times = list(simulated(kind, PEER_RUNS, trials, 0.05))
    steps = np.arange(0, 0.05, peer.steps)
    hits = [np.concatenate([peer.rule(t, change) for t in times]).mean() for change in steps]
    enough = [change for change, hit in zip(steps, hits, strict=True) if hit >= power]
    return float(max(enough)) if enough else None


def side_by_side(report: Report, trials: int) -> None:
    kinds = {kind.name: kind for kind in KINDS}
    one = kinds["normal, 1 %"]
    data = real()
    tiny = [drawn(data["tiny", x], None, PEER_RUNS, trials // 6 + 1) for x in LEVELS]
    report.head("tool", "alarms from", "+5 % at 1 % seen", *SHARED, "H200 `tiny`", "worst")
    found = [shares(simulated(kinds[n], PEER_RUNS, trials), DEFAULT, paired=False) for n in SHARED]
    found.append(shares(tiny, DEFAULT, paired=False))
    ours = [one_[Status.FAIL] for one_ in found]
    power = shares(simulated(one, PEER_RUNS, trials, 0.05), DEFAULT, paired=False)[Status.FAIL]
    report.table("**perfkit**", "default", percent(power), *map(percent, [*ours, max(ours)]))
    for peer in PEERS:
        equal = set_to_power(peer, one, trials, min(power, POWER))
        for title, change in (("shipped", peer.shipped), ("equal power", equal)):
            if change is None:
                report.table(peer.name, f"{title}: no setting reaches it", *[""] * (len(ours) + 2))
                continue
            theirs = [alarms(peer, kinds[name], trials, 0.0, change) for name in SHARED]
            theirs.append(float(np.concatenate([peer.rule(t, change) for t in tiny]).mean()))
            seen = alarms(peer, one, trials, 0.05, change)
            cells = [percent(seen), *map(percent, [*theirs, max(theirs)])]
            report.table(peer.name, f"{title}: {change * 100:.2g} %", *cells)
            if title == "equal power":
                report.goal(f"worst against {peer.name}", max(ours), most=max(theirs))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=10_000)
    parser.add_argument("--write", action="store_true", help="put the tables into the docs")
    options = parser.parse_args()
    trials, start = options.trials, time.perf_counter()
    report = Report()
    report.add(f"{trials:,} trials a cell; with 1 % the standard error is "
               f"{100 * math.sqrt(0.01 * 0.99 / trials):.2f} %.")  # fmt: skip
    report.add("", "### Unchanged code, simulated")
    unchanged(report, KINDS, trials, goal=True)
    report.add("", "### Unchanged code, one side after the other on a machine that drifts")
    unchanged(report, SEQUENTIAL, trials, goal=False)
    report.add("", "### Slower code, simulated")
    slower(report, max(trials // 2, 1))
    report.add("", "### Four kernels on an H200")
    h200(report, trials)
    report.add("", f"### Other tools on the same samples, {PEER_RUNS} runs a side")
    side_by_side(report, max(trials // 5, 1))
    print(f"{time.perf_counter() - start:.0f} s")
    for miss in report.missed:
        print(f"MISSED: {miss}")
    if options.write:
        head = DOCS.read_text("utf-8").partition(MARK)[0]
        DOCS.write_text(f"{head}{MARK}\n\n" + "\n".join(report.lines) + "\n", "utf-8")
    return 1 if report.missed else 0


if __name__ == "__main__":
    sys.exit(main())

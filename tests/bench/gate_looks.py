"""The timing gate asked again after every pair: how often it is wrong, and when it decides.

Unchanged code and code made slower, by simulation, through the looks of ``perfkit gate run``. Exit
code 1 where unchanged code fails in more than 1 %, or +5 % at 1 % noise is seen in under 99 %.

    python -m tests.bench.gate_looks [--trials N] [--write]

``--write`` puts the table into docs/gate-calibration.md.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from perfkit.gate.change import Comparison
from perfkit.gate.evidence import Series
from perfkit.gate.looks import Looks, least_p, looks
from perfkit.gate.order import Order
from perfkit.gate.policy import Policy
from perfkit.gate.scatter import from_runs
from perfkit.gate.timing import decide
from perfkit.gate.verdict import Status
from perfkit.gate.words import STATUS
from perfkit.readers.results import Unit
from tests.bench.gate_series import KINDS, Kind, Levels, real

DOCS = Path(__file__).resolve().parents[2] / "docs" / "gate-calibration.md"
BEGIN, END = "<!-- looks: python -m tests.bench.gate_looks --write -->", "<!-- end of looks -->"
MOST = 30
STORED = 10  #: runs of a baseline that was recorded
_TITLES = (
    "noise from run to run", "unchanged, pairs", "unchanged, recorded baseline", "+5 %, pairs",
    "+5 %, recorded baseline", "unchanged, pairs, every look at 1 %",
)  # fmt: skip
_SIDE = Series(
    benchmark="x", metric="time", unit=Unit.SECONDS, higher_is_better=False,
    values=(1e-3,), pairs=(), clocks_hz=(), spreads=(),
)  # fmt: skip


def resampled(logs: np.ndarray) -> Levels:
    """Runs drawn from real ones, put back each time: there are fewer of them than looks."""
    return lambda random, shape: random.choice(logs, shape)


def of_h200() -> list[Kind]:
    """The medians of the sessions of four kernels, unchanged."""
    data = real()
    return [
        Kind(f"H200 `{kernel}`", resampled(np.log(np.median(data[kernel, 0], axis=1) / 1e-3)))
        for kernel in ("fma", "matmul", "triad", "tiny")
    ]


class Rates(NamedTuple):
    """Shares of the trials, and the pairs that a typical one takes."""

    fail: float
    passed: float
    pairs: float


def rates(
    kind: Kind, trials: int, effect: float = 0.0, *, stored: int | None = None,
    policy: Policy | None = None, corrected: bool = True,
) -> Rates:  # fmt: skip
    """Trials that are stopped at the first look that decides.

    Args:
        kind: of noise.
        trials: how many.
        effect: what the candidate is slower by.
        stored: runs of a recorded baseline; None: pairs.
        policy: limits; None: the default ones.
        corrected: False: every look at the whole risk, as one who peeks would do it.
    """
    policy = policy or Policy()
    seed = [round(effect * 1e4), stored or 0, *kind.name.encode()]
    random = np.random.default_rng(seed)
    levels = kind.levels(random, (trials, 2, MOST))
    levels[:, 1] += np.log1p(effect)
    plan = looks(policy.false_alarm, MOST, lambda n: least_p(n, stored))
    if not corrected:
        shares = dict.fromkeys(range(5, MOST + 1), policy.false_alarm)
        plan = Looks(risk=policy.false_alarm, shares=shares)
    order = Order.UNKNOWN if stored is None else Order.AFTER
    item = Comparison(baseline=_SIDE, candidate=_SIDE, policy=policy, order=order)
    open_, counts, stops = np.arange(trials), dict.fromkeys(Status, 0), []
    for runs, risk in sorted(plan.shares.items()):
        before = levels[open_, 0, : stored or runs]
        found = from_runs(before, levels[open_, 1, :runs], paired=stored is None)
        statuses = [
            STATUS.get(decide(item, one, risk, risk).reason, Status.INCONCLUSIVE) for one in found
        ]
        for status in statuses:
            if status is not Status.INCONCLUSIVE:
                counts[status] += 1
                stops.append(runs)
        open_ = open_[[status is Status.INCONCLUSIVE for status in statuses]]
        if not len(open_):
            break
    stops += [MOST] * len(open_)
    return Rates(
        counts[Status.FAIL] / trials, counts[Status.PASS] / trials, float(np.median(stops))
    )


def _percent(share: float) -> str:
    return f"{share * 100:.2f} %"


def _cell(found: Rates) -> str:
    return f"{_percent(found.fail)} / {_percent(found.passed)} / {found.pairs:g}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=5_000)
    parser.add_argument("--write", action="store_true", help="put the table into the docs")
    options = parser.parse_args()
    missed: list[str] = []
    lines = [
        f"{options.trials:,} trials a cell, up to {MOST} pairs, or runs against {STORED} recorded.",
        "Cells are FAIL / PASS / pairs that a typical trial takes; in the last column FAIL alone.",
        "",
        "| " + " | ".join(_TITLES) + " |",
        "|" + " --- |" * len(_TITLES),
    ]
    for kind in [*KINDS, *of_h200()]:
        alone = kind.name.startswith(("drift", "pairs alike"))  # a recorded one is from elsewhere
        same = rates(kind, options.trials)
        recorded = None if alone else rates(kind, options.trials, stored=STORED)
        slower = rates(kind, options.trials, 0.05)
        follows = None if alone else rates(kind, options.trials, 0.05, stored=STORED)
        peeking = rates(kind, options.trials, corrected=False)
        cells = ["-" if f is None else _cell(f) for f in (same, recorded, slower, follows)]
        lines.append(f"| {kind.name} | " + " | ".join([*cells, _percent(peeking.fail)]) + " |")
        print(lines[-1], flush=True)
        for name, found in (("pairs", same), ("recorded", recorded)):
            if found is not None and found.fail > 0.01:
                missed.append(f"unchanged, {kind.name}, {name}: {_percent(found.fail)}")
        steady = kind in KINDS[:3] or kind.name.startswith(("H200 `f", "H200 `m", "H200 `tr"))
        if steady and slower.fail < 0.99:
            missed.append(f"+5 %, {kind.name}: {_percent(slower.fail)}")
    for miss in missed:
        print(f"MISSED: {miss}")
    if options.write:
        text = DOCS.read_text("utf-8")
        head, _, rest = text.partition(BEGIN)
        tail = rest.partition(END)[2]
        DOCS.write_text(f"{head}{BEGIN}\n\n" + "\n".join(lines) + f"\n\n{END}{tail}", "utf-8")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

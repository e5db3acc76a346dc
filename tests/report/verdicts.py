"""Verdicts of the fixed set of results: every status, of kernels and of timings."""

from __future__ import annotations

from perfkit.gate.static import judge
from perfkit.gate.static_line import parse_rule
from perfkit.gate.static_verdicts import Builds
from perfkit.gate.verdict import Reason, Status, Verdict, outcome
from tests.gate.kernels import Facts, kernel

#: names that a format could take for its own
GEMM = kernel("gemm<64, 64>|*bold*", symbol="_Z4gemm")
HOSTILE = kernel("two\nlines\x1b[31m, 100%: ]]></x>&\"'")
SAME = kernel("same")
FACTS = Facts(
    {
        ("gemm<64, 64>|*bold*", "registers"): 168,
        ("gemm<64, 64>|*bold*", "stack"): 0,
        ("two\nlines\x1b[31m, 100%: ]]></x>&\"'", "registers"): 72,
        ("same", "registers"): 40,
        ("same", "stack"): 0,
    }
)
STATIC = judge(
    [parse_rule("registers<=64"), parse_rule("stack==0"), parse_rule("registers<=baseline")],
    Builds(
        pairs=((None, GEMM), (None, HOSTILE), (SAME, SAME)),
        vanished=(kernel("gone"),),
        compared=True,
    ),
    FACTS,
)
TIMING = [
    Verdict(
        benchmark="axpy[n=4096]",
        status=Status.FAIL,
        reason=Reason.WORSE,
        message="6.1% slower (+5.7% to +6.6%): surely more than 3% slower",
        unit="s",
        ratio=1.0625,
        interval=(1.046875, 1.078125),
        fails_beyond=1.03125,
        passes_within=1.03125,
        baseline_value=5e-05,
        candidate_value=5.3125e-05,
        baseline_runs=7,
        candidate_runs=7,
        noise=0.00390625,
        evidence="runs",
    ),
    Verdict(
        benchmark="copy",
        status=Status.INCONCLUSIVE,
        reason=Reason.TOO_NOISY,
        message="2% worse (-3% to +7%): cannot tell at 5% noise",
        metric="bandwidth",
        unit="B/s",
        higher_is_better=True,
        ratio=1.015625,
        interval=(0.96875, 1.0625),
        baseline_value=3e12,
        candidate_value=2.95e12,
        baseline_runs=5,
        candidate_runs=6,
        noise=0.046875,
        evidence="runs",
        next_step="5 and 6 runs; about 12 more would decide",
        notes=("run 3 of the baseline stands apart (+40%) and is left out of the interval",),
    ),
    Verdict(
        benchmark="same",
        status=Status.PASS,
        reason=Reason.WITHIN,
        message="0.1% slower (-0.3% to +0.5%): surely not 3% slower",
        unit="s",
        ratio=1.0,
        interval=(0.9921875, 1.0078125),
        baseline_value=1e-3,
        candidate_value=1e-3,
        baseline_runs=5,
        candidate_runs=5,
        evidence="runs",
    ),
]
MIXED = outcome([*STATIC, *TIMING])
#: more than anybody reads at once
MANY = outcome(
    judge(
        [parse_rule("registers<=64")],
        Builds(pairs=tuple((None, kernel(f"k{i}")) for i in range(26))),
        Facts({(f"k{i}", "registers"): 61 + i for i in range(26)}),
    )
)

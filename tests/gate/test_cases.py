"""Comparisons from issues and pull requests, with the verdict that people came to.

Cases of kind "performance gate": single rows of result tables (a value and its noise), so the
policy is the documented one for a run a side, ``single_run: assume``; everything else is the
default unless a case says so. The sources stand beside the figures.
"""

from __future__ import annotations

import pytest

from perfkit.gate import Policy, Reason, Status, compare, outcome
from perfkit.readers.results import Run, Unit
from tests.gate.runs import runs

ASSUME = Policy(single_run="assume")

#: name, baseline, its noise in percent, candidate, its noise, acceptable verdicts
NVBENCH_190 = (  # https://github.com/NVIDIA/nvbench/pull/190
    ("U32 2^16", 10.914, 3.53, 10.089, 7.95, {"improvement", "same"}),
    ("U32 2^20", 15.033, 2.14, 15.964, 2.06, {"regression"}),
    ("U32 2^24", 88.112, 1.84, 85.886, 0.52, {"improvement", "same"}),
    ("U32 2^28", 1.244, 0.07, 1.18, 0.44, {"improvement"}),
    ("U64 2^20", 16.175, 4.56, 24.37, 1.75, {"regression"}),
    ("U64 2^24", 101.057, 0.44, 208.507, 0.4, {"regression"}),
    ("U64 2^28", 1.448, 0.16, 3.156, 0.09, {"regression"}),
)
CCCL_9763 = (  # https://github.com/NVIDIA/cccl/issues/9763
    ("2^16", 8.945, 1.5, 8.82, 1.5, {"same"}),
    ("2^20", 11.308, 1.5, 11.115, 1.5, {"same"}),
    ("2^24", 48.559, 1.42, 67.854, 0.73, {"regression"}),
    ("2^28", 628.711, 0.2, 939.202, 0.2, {"regression"}),
)
FLASHINFER_4439 = (  # https://github.com/flashinfer-ai/flashinfer/issues/4439
    ("noisy", 17.79, 2.22, 18.4, 2.22, {"same", "unknown"}),
    ("quiet", 17.79, 0.3, 18.4, 0.3, {"regression"}),
)
NVBENCH_316 = (  # https://github.com/NVIDIA/nvbench/issues/316
    ("x", 4.571, 10.87, 4.096, 0.0, {"improvement", "same"}),
)


def row(name, value, noise_pct):
    return Run(benchmark=name, values=(value * 1e-6,), unit=Unit.SECONDS, spread=noise_pct / 100)


def called(verdict):
    """In the words of the cases."""
    if verdict.status is Status.FAIL:
        return "regression"
    if verdict.status is Status.INCONCLUSIVE:
        return "unknown"
    return "improvement" if verdict.reason is Reason.IMPROVED else "same"


@pytest.mark.parametrize(
    ("rows", "overall"),
    [(NVBENCH_190, "fail"), (CCCL_9763, "fail"), (FLASHINFER_4439, "fail"), (NVBENCH_316, "pass")],
    ids=["nvbench#190", "cccl#9763", "flashinfer#4439", "nvbench#316"],
)
def test_rows_with_their_noise(rows, overall):
    before = [row(name, value, noise) for name, value, noise, _, _, _ in rows]
    after = [row(name, value, noise) for name, _, _, value, noise, _ in rows]
    verdicts = compare(before, after, ASSUME)
    for verdict, (*_, acceptable) in zip(verdicts, rows, strict=True):
        # a row that got faster is "same or improvement" alike: both pass
        assert called(verdict) in acceptable, verdict.message
    assert outcome(verdicts).status == overall
    assert {v.reason for v in compare(before, after)} == {Reason.SINGLE_RUN}


def test_single_values_pass_at_3_percent_where_the_noise_is_stated():
    """Two commits of luigifcruz/blade: the largest changes are -0.98 % and +1.00 %."""
    before = (5955.56, 8683.68, 37818.24, 71077.75, 71533.26, 70915.4, 147412.64, 294084.03)
    after = (5956.22, 8598.45, 37836.25, 71124.98, 71513.98, 71627.39, 147484.96, 292939.21)
    sides = [
        [run for i, value in enumerate(side) for run in runs([value * 1e-9], f"k{i}")]
        for side in (before, after)
    ]
    for policy in (
        Policy(threshold=0.03, noise=0.005),
        Policy(threshold=0.03, single_run="assume"),
    ):
        assert outcome(compare(*sides, policy)).exit_code == 0
    assert outcome(compare(*sides, Policy(threshold=0.03))).exit_code == 3


def test_tokens_per_second_with_a_cold_first_run():
    """https://github.com/warpfront/hipfire/pull/137: by the means 6 % worse, by the thread not."""
    before, after = (9228, 7814, 7639), (7806, 7689, 7689)
    (verdict,) = compare(*(runs(side, unit=Unit.PER_SECOND) for side in (before, after)))
    assert verdict.status is Status.INCONCLUSIVE
    assert verdict.reason is Reason.TOO_FEW_RUNS
    assert verdict.ratio > 1  # lower is worse here

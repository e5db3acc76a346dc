"""Fixed results of latency, overlap, recommend and diagnose, on the toy products of ``results``."""

from __future__ import annotations

from pathlib import Path

from perfkit.analysis.block_sizes import Request, Wish
from perfkit.analysis.diagnose import diagnose
from perfkit.analysis.latency import LatencyQuestion, Level, latency
from perfkit.analysis.launch import Launch
from perfkit.analysis.metrics import Metrics, of_profile
from perfkit.analysis.overlap import OverlapQuestion, overlap
from perfkit.analysis.recommend import recommend
from perfkit.models.engines import Plan
from perfkit.models.links import link
from perfkit.readers import ncu
from tests.report.results import TARGETS

_PROFILE = Path(__file__).resolve().parents[1] / "data" / "ncu" / "details.csv"

#: one product, and so also other accesses
HIDING = (
    latency(
        TARGETS[0],
        LatencyQuestion(level=Level.DRAM, latency_s=600e-9, width_bytes=8, ilp=2),
        Launch(threads=256, regs=40, smem=0),
    ),
)
#: instructions on a capability without a clock, beside products
ISSUE = tuple(latency(one, LatencyQuestion(level=Level.ISSUE, latency_cycles=4)) for one in TARGETS)
PIPELINE = overlap(
    OverlapQuestion(
        h2d_bytes=1 << 28,
        d2h_bytes=1 << 27,
        kernel_s=4e-3,
        link=link("pcie4x16"),
        plan=Plan(chunks=2, streams=2),
    )
)
RECOMMENDED = (
    recommend(
        [Request(target=one, kernel="reduce[bold]|*a_b*", regs=72, static_bytes=4096)
         for one in TARGETS],
        Wish(elements=10**6),
    ),
    recommend(
        [Request(target=TARGETS[0], kernel="plain", regs=32, dynamic_bytes=1 << 16)],
        Wish(cluster=2),
    ),
)  # fmt: skip
DIAGNOSED = (
    diagnose(of_profile(ncu.read(_PROFILE).profiles[0])),
    diagnose(Metrics(kernel="bound", compute_share=0.3, memory_share=0.9, active_threads=20.0)),
)

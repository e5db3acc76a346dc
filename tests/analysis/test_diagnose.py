"""Symptoms: each rule fires on its side of its threshold and is silent without its figures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from perfkit.analysis.diagnose import RULES, Symptom, diagnose, worth_a_look
from perfkit.analysis.metrics import FIELDS, Metrics, Stall, names, of_profile
from perfkit.errors import UsageError
from perfkit.readers import ncu
from perfkit.report.views.diagnose_texts import STALLS, TEXTS

DATA = Path(__file__).resolve().parents[1] / "data" / "ncu"

#: a launch of which nothing is to be said
HEALTHY = Metrics(
    kernel="f",
    compute_share=0.75,
    memory_share=0.62,
    dram_share=0.5,
    grid_blocks=13200,
    block_threads=256,
    sm_count=132,
    waves=16.7,
    theoretical_occupancy=1.0,
    achieved_occupancy=0.95,
    limit_blocks=32,
    limit_registers=8,
    limit_shared_memory=9,
    limit_warps=8,
    limit_barriers=64,
    issued_per_cycle=0.9,
    active_warps=15,
    theoretical_warps=16,
    active_threads=31.9,
    predicated_on_threads=31.0,
    load_efficiency=1.0,
    store_efficiency=1.0,
    shared_load_conflicts=10,
    shared_load_wavefronts=1000,
    shared_store_conflicts=0,
    shared_store_wavefronts=1000,
    local_instructions=0,
    instructions=10**6,
    spill_bytes=0,
    cycles_per_instruction=16.0,
    stalls=(Stall("long_scoreboard", 4.0), Stall("selected", 1.0)),
)


def symptoms(metrics):
    return [finding.symptom for finding in diagnose(metrics).findings]


@pytest.mark.parametrize("bad", [-1, -0.5, float("nan"), float("inf")])
@pytest.mark.parametrize("name", names())
def test_what_cannot_have_been_measured_is_refused(name, bad):
    with pytest.raises(UsageError, match=f"f: {name.replace('_', ' ')} = .*must be finite"):
        diagnose(replace(HEALTHY, **{name: bad}))


def test_nothing_is_said_of_a_healthy_launch():
    found = diagnose(HEALTHY)
    assert found.findings == ()
    assert found.unchecked == ()
    assert len(found.checked) == len(RULES) == len(set(Symptom))


@pytest.mark.parametrize(
    ("symptom", "fires", "silent"),
    [
        (
            Symptom.MEMORY_BOUND,
            {"memory_share": 0.80, "compute_share": 0.3},
            {"memory_share": 0.79, "compute_share": 0.3},
        ),
        (
            Symptom.COMPUTE_BOUND,
            {"compute_share": 0.80, "memory_share": 0.3},
            {"compute_share": 0.79, "memory_share": 0.3},
        ),
        (
            Symptom.BALANCED,
            {"compute_share": 0.7, "memory_share": 0.65},
            {"compute_share": 0.7, "memory_share": 0.60},
        ),
        (
            Symptom.LATENCY_BOUND,
            {"compute_share": 0.59, "memory_share": 0.3},
            {"compute_share": 0.60, "memory_share": 0.3},
        ),
        (
            Symptom.SMALL_GRID,
            {"compute_share": 0.1, "memory_share": 0.1, "waves": 0.99},
            {"compute_share": 0.1, "memory_share": 0.1, "waves": 1.0},
        ),
        (Symptom.FEW_BLOCKS, {"grid_blocks": 131}, {"grid_blocks": 132}),
        # case h02: two whole waves and a part may leave a third of the time to the tail
        (Symptom.TAIL, {"waves": 2.37}, {"waves": 5.5}),
        (Symptom.TAIL, {"waves": 4.01}, {"waves": 4.0}),
        (
            Symptom.LOW_OCCUPANCY,
            {"theoretical_occupancy": 0.79, "achieved_occupancy": 0.79},
            {"theoretical_occupancy": 0.80, "achieved_occupancy": 0.79},
        ),
        (Symptom.OCCUPANCY_GAP, {"achieved_occupancy": 0.89}, {"achieved_occupancy": 0.90}),
        (
            Symptom.TOO_FEW_WARPS,
            {"issued_per_cycle": 0.59, "active_warps": 0.9},
            {"issued_per_cycle": 0.59, "active_warps": 1.0},
        ),
        (
            Symptom.STALLED,
            {"issued_per_cycle": 0.59, "active_warps": 12},
            {"issued_per_cycle": 0.60, "active_warps": 12},
        ),
        (
            Symptom.UNEVEN,
            {"issued_per_cycle": 0.59, "active_warps": 13},
            {"issued_per_cycle": 0.59, "active_warps": 12},
        ),
        (
            Symptom.STALL_REASON,
            {"issued_per_cycle": 0.79, "stalls": (Stall("barrier", 4.9),)},
            {"issued_per_cycle": 0.79, "stalls": (Stall("barrier", 4.8),)},
        ),
        (
            Symptom.STALL_REASON,
            {"issued_per_cycle": 0.79, "stalls": (Stall("barrier", 9.0),)},
            {"issued_per_cycle": 0.80, "stalls": (Stall("barrier", 9.0),)},
        ),
        (Symptom.UNCOALESCED_LOADS, {"load_efficiency": 0.79}, {"load_efficiency": 0.8}),
        (Symptom.UNCOALESCED_STORES, {"store_efficiency": 0.125}, {"store_efficiency": 0.8}),
        (
            Symptom.BANK_CONFLICTS_LOADS,
            {"shared_load_conflicts": 100},
            {"shared_load_conflicts": 99},
        ),
        (
            Symptom.BANK_CONFLICTS_STORES,
            {"shared_store_conflicts": 100},
            {"shared_store_conflicts": 99},
        ),
        (Symptom.DIVERGENCE, {"active_threads": 23.9}, {"active_threads": 24}),
        (Symptom.DIVERGENCE, {"predicated_on_threads": 23.9}, {"predicated_on_threads": 24}),
        (Symptom.PARTIAL_WARP, {"block_threads": 100}, {"block_threads": 96}),
        (Symptom.LOCAL_MEMORY, {"local_instructions": 100_001}, {"local_instructions": 100_000}),
        (Symptom.SPILLS, {"spill_bytes": 4}, {"spill_bytes": 0}),
    ],
)
def test_on_either_side_of_the_threshold(symptom, fires, silent):
    assert symptom in symptoms(replace(HEALTHY, **fires))
    assert symptom not in symptoms(replace(HEALTHY, **silent))


def test_every_rule_is_tested_above_and_has_words():
    marks = test_on_either_side_of_the_threshold.pytestmark[0].args[1]
    assert {symptom for symptom, *_ in marks} == set(Symptom) == set(TEXTS)
    assert [rule.symptom for rule in RULES] == list(Symptom)
    for rule in RULES:
        assert rule.source
        assert set(rule.needs) <= {*names(), "stalls"}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.symptom.value)
def test_a_rule_without_its_figures_says_so(rule):
    for name in rule.needs:
        empty = () if name == "stalls" else None
        found = diagnose(replace(HEALTHY, **{name: empty}))
        assert rule.symptom not in found.checked
        assert (rule.symptom, (name,)) in found.unchecked


def test_nothing_known_is_nothing_checked():
    found = diagnose(Metrics())
    assert found.findings == found.checked == ()
    assert len(found.unchecked) == len(RULES)


def test_limits_that_tie_are_all_named_barriers_too():
    low = replace(
        HEALTHY, theoretical_occupancy=0.25, achieved_occupancy=0.25, limit_registers=2,
        limit_barriers=2,
    )  # fmt: skip
    (finding,) = [f for f in diagnose(low).findings if f.symptom is Symptom.LOW_OCCUPANCY]
    assert finding.detail == "registers, barriers"


def test_dram_is_named_where_it_is_what_is_busy():
    found = diagnose(replace(HEALTHY, memory_share=0.9, dram_share=0.88, compute_share=0.2))
    assert found.findings[0].detail == "dram"
    found = diagnose(replace(HEALTHY, memory_share=0.9, dram_share=0.3, compute_share=0.2))
    assert found.findings[0].detail is None


def test_the_worst_wait_is_named_and_issuing_is_no_wait():
    stalls = (Stall("not_selected", 9.0), Stall("selected", 8.0), Stall("long_scoreboard", 7.0))
    found = diagnose(replace(HEALTHY, issued_per_cycle=0.5, stalls=stalls))
    (finding,) = [f for f in found.findings if f.symptom is Symptom.STALL_REASON]
    assert finding.detail == "long_scoreboard"
    assert finding.detail in STALLS
    assert finding.value == pytest.approx(7 / 16)


def test_what_a_larger_finding_explains():
    bound = replace(HEALTHY, memory_share=0.95, theoretical_occupancy=0.25, achieved_occupancy=0.1)
    found = diagnose(bound)
    assert Symptom.LOW_OCCUPANCY in [f.symptom for f in found.findings]
    assert [f.symptom for f in worth_a_look(found)] == [Symptom.MEMORY_BOUND]
    small = replace(
        HEALTHY, compute_share=0.1, memory_share=0.1, waves=0.3, grid_blocks=40,
        achieved_occupancy=0.2,
    )  # fmt: skip
    assert [f.symptom for f in worth_a_look(diagnose(small))] == [
        Symptom.SMALL_GRID,
        Symptom.FEW_BLOCKS,
    ]


def test_zeros_divide_nothing():
    zeros = Metrics(**dict.fromkeys(names(), 0.0), stalls=(Stall("wait", 0.0),))
    assert diagnose(zeros).unchecked == ()


# --- figures of a profile -------------------------------------------------------------------------


def test_the_figures_of_a_details_page():
    (profile,) = ncu.read(DATA / "details.csv").profiles
    found = of_profile(profile)
    assert found.duration_s == pytest.approx(406.24e-6)
    assert found.compute_share == pytest.approx(0.2359)
    assert found.memory_share == pytest.approx(0.2168)
    assert found.theoretical_occupancy == pytest.approx(0.1875)
    assert found.achieved_occupancy == pytest.approx(0.1553)
    assert (found.grid_blocks, found.block_threads, found.sm_count) == (288, 384, 152)
    assert found.waves == 1.89
    assert [f.symptom for f in diagnose(found).findings] == [
        Symptom.LATENCY_BOUND,
        Symptom.TAIL,
        Symptom.LOW_OCCUPANCY,
    ]


def test_the_figures_of_raw_metrics():
    profile = ncu.read(DATA / "decimal_comma.csv").profiles[0]
    found = of_profile(profile)
    assert found.compute_share == pytest.approx(0.6577)
    assert found.limit_blocks == 24
    assert found.block_threads == 128  # the metric, not the column


def profile_of(*values):
    return ncu.Profile(
        number=0, kernel="f", capability="9.0", block=(32, 4, 1), grid=(3, 1, 1),
        values=tuple(ncu.Value(n, k, a, str(a)) for n, k, a in values), rules=(),
    )  # fmt: skip


def test_every_name_reaches_its_field():
    for field, wanted in FIELDS.items():
        for name in wanted.names:
            assert getattr(of_profile(profile_of((name, wanted.kind, 0.25))), field) == 0.25


def test_the_kind_tells_a_share_from_a_rate():
    found = of_profile(
        profile_of(("Memory Throughput", "byte/s", 3e12), ("Memory Throughput", "ratio", 0.9))
    )
    assert found.memory_share == 0.9


def test_sizes_come_from_the_columns_where_no_metric_has_them():
    found = of_profile(profile_of())
    assert (found.block_threads, found.grid_blocks) == (128, 3)


def test_stalls():
    reason = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
    found = of_profile(
        profile_of(
            (reason.format("barrier"), "", 2.0),
            (reason.format("long_scoreboard"), "", 7.0),
            (reason.format("wait").replace(".ratio", ".pct"), "ratio", 0.5),
        )
    )
    assert found.stalls == (Stall("long_scoreboard", 7.0), Stall("barrier", 2.0))


@pytest.mark.parametrize(
    ("compute", "memory", "dram"),
    [
        ("SM [%]", "Memory [%]", "SOL FB"),  # 2019
        ("SM [%]", "Memory [%]", "SOL DRAM"),  # 2020
        ("Compute (SM) [%]", "Memory [%]", "DRAM Throughput"),  # 2021
        ("Compute (SM) Throughput", "Memory Throughput", "DRAM Throughput"),
    ],
)
def test_labels_that_the_details_page_had(compute, memory, dram):
    shares = {compute: "12.50", memory: "61.25", dram: "39.60"}
    header = (
        '"ID","Process ID","Process Name","Host Name","Kernel Name","Kernel Time","Context",'
        '"Stream","Section Name","Metric Name","Metric Unit","Metric Value"'
    )
    rows = [
        f'"0","7","cfd","127.0.0.1","step","2020-Apr-07 17:01:05","1","7","GPU Speed Of Light",'
        f'"{name}","{unit}","{text}"'
        for name, unit, text in [
            *((name, "%", text) for name, text in shares.items()),
            ("Memory Throughput", "Gbyte/second", "24.5"),  # of the section on memory
            ("Duration", "usecond", "10.25"),
        ]
    ]
    (profile,) = ncu.parse("\n".join([header, *rows]), "f.csv").profiles
    found = of_profile(profile)
    assert (found.compute_share, found.memory_share, found.dram_share) == (0.125, 0.6125, 0.396)
    assert found.duration_s == 10.25e-6

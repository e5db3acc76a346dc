"""Every workload: sizes that can be, a reference that fits its arrays, demands that add up."""

from __future__ import annotations

import pytest

from perfkit.arch.types import ComputeCapability
from perfkit.device.timing import Sampling
from perfkit.device.workload import MOST, Role
from perfkit.device.workloads.library import cannot_run, library, named
from perfkit.errors import UsageError

NAMES = tuple(library())
STAGED = {name for name, w in library().items() if w.case(w.checks[0]).staged}


def test_the_library_is_there():
    assert len(NAMES) >= 38
    assert {"vector_add", "gemm_wgmma_bf16", "attention_bf16", "chase_dram", "overlap"} <= {*NAMES}


@pytest.mark.parametrize("name", sorted(set(NAMES) - STAGED))
def test_each_check_passes_where_the_kernel_does_what_its_reference_says(bench, card, name):
    workload = library()[name]
    assert workload.checks
    for sizes in workload.checks:
        case = workload.case(sizes)
        card.answer(case)
        checks = bench.check(case)
        assert checks
        assert all(check.is_right for check in checks), checks
        assert {check.output for check in checks} >= {
            array.name for array in case.arrays_with(Role.OUT)
        }


@pytest.mark.parametrize("name", sorted(set(NAMES) - STAGED))
def test_each_check_fails_where_an_element_is_wrong(bench, card, name):
    workload = library()[name]

    def spoil(right):
        output = next(iter(right))
        right[output] = right[output].astype("float64").copy()
        right[output][-1] += 1 + abs(right[output]).max()

    case = workload.case(workload.checks[0])
    card.answer(case, spoil)
    assert not all(check.is_right for check in bench.check(case))


@pytest.mark.parametrize("name", NAMES)
def test_demands_cover_the_data_and_levels_do_not_shrink(name):
    workload = library()[name]
    case = workload.case({})
    demand = case.demand
    if case.chain is not None:
        assert case.chain.hops > 0
        return
    written = sum(array.size_bytes for array in case.arrays_with(Role.OUT, Role.INOUT))
    if not case.staged:
        assert demand.bytes <= case.footprint_bytes + written
        assert demand.write_bytes == pytest.approx(written, rel=1e-6)
    if demand.flow is not None:
        assert demand.flow.flops > 0
        assert demand.flow.issued is None or demand.flow.issued >= demand.flow.flops


@pytest.mark.parametrize("name", NAMES)
def test_sizes_that_it_does_not_have(name):
    workload = library()[name]
    assert workload.size in workload.sizes
    with pytest.raises(UsageError, match="has no size 'nonsense'"):
        workload.case({"nonsense": 1})
    for value in (0, -1, MOST + 1):
        with pytest.raises(UsageError, match=f"{value}: must be"):
            workload.case({workload.size: value})


@pytest.mark.parametrize("name", [n for n in NAMES if "threads" in library()[n].sizes])
@pytest.mark.parametrize("threads", [1, 31, 100, 1025, 4096])
def test_odd_block_sizes_are_taken_or_refused(name, threads):
    workload = library()[name]
    refused = ""
    try:
        launch = workload.case({"threads": threads}).launch
    except UsageError as error:
        refused = error.message
    assert "threads" in refused or launch.threads == threads


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (["copy"], ["copy"]),
        (["copy", "copy", "triad"], ["copy", "triad"]),
        (["transpose_*"], ["transpose_naive", "transpose_tiled", "transpose_padded"]),
        (["*"], list(NAMES)),
    ],
)
def test_names_and_patterns(patterns, expected):
    assert [workload.name for workload in named(patterns)] == expected


@pytest.mark.parametrize(("pattern", "hint"), [("vector_ad", "vector_add"), ("zzz", "--list")])
def test_a_name_that_means_nothing(pattern, hint):
    with pytest.raises(UsageError, match="no workload") as caught:
        named([pattern])
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("name", "capability", "why"),
    [
        ("gemm_wgmma_bf16", "9.0", None),
        ("gemm_wgmma_bf16", "10.0", "9.0 only"),
        ("gemm_mma_bf16", "7.5", "8.0 and later"),
        ("copy", "5.0", None),
    ],
)
def test_what_a_card_cannot_run(name, capability, why):
    found = cannot_run(library()[name], ComputeCapability.parse(capability))
    assert (found is None) == (why is None)
    assert why is None or why in found


def test_divergence_issues_every_path():
    ways = {w: library()["divergence"].case({"ways": w}).demand.flow for w in (1, 8, 32)}
    assert [flow.issued / flow.flops for flow in ways.values()] == [1, 8, 32]


def test_strides_fetch_whole_sectors():
    bytes_read = [
        library()["strided"].case({"n": 32 * 1024, "stride": stride}).demand.read_bytes
        for stride in (1, 2, 4, 8, 16)
    ]
    assert [b / (32 * 1024) for b in bytes_read] == [4, 8, 16, 32, 32]


def test_dram_gives_pieces_of_64_bytes():
    demands = [
        library()["strided"].case({"n": 32 * 1024, "stride": stride}).demand
        for stride in (1, 8, 16, 64)
    ]
    assert [d.fetched_bytes / d.read_bytes for d in demands] == [1, 1, 2, 2]


def test_conflicts_are_counted_by_the_bank_model():
    passes = [
        library()["bank_conflicts"].case({"stride": stride}).demand.l1_bytes
        for stride in (1, 2, 3, 32)
    ]
    assert [one / passes[0] for one in passes] == [1, 2, 1, 32]


def test_the_pipeline_overlaps_and_copies_what_it_should(bench, card):
    """Three stages alike: the whole takes them once, and all chunks but one of the longest."""
    sizes = {"n": 2**20, "chunks": 4, "steps": 5}  # the turns of streams are short beside a chunk
    case = library()["overlap"].case(sizes)
    stage = 4 * 2**20 / 50e9
    card.cost = lambda name, launch: stage / 4

    def steps(launch, source, to, n, steps):
        to[:] = source

    card.kernels["chunk_steps"] = steps
    found = bench.time(case, Sampling(samples=3, cold=False, warmup_s=1e-5))
    assert found["stages_s"]["to card"] == pytest.approx(stage)
    assert found["stages_s"]["kernel"] == pytest.approx(stage)
    assert found["unwritten"] == {}
    # streams of the made-up card do not wait for each other's engine: chunks of one stream do
    assert found["samples_s"][0] == pytest.approx(3 * 2 * stage / 4)
    alone = {"to card": 4.0, "kernel": 4.0, "from card": 4.0, "both ways": 4.0}
    assert case.staged.predict(alone) == pytest.approx(6.0, rel=1e-3)
    assert case.staged.least(alone) == 4.0

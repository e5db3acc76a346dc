"""A case on a made-up card: data, checks, poison, launches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from perfkit.device.bench import packed
from perfkit.device.timing import Sampling
from perfkit.device.workload import Array, Fill, Role, Scalar
from perfkit.device.workloads.library import library
from perfkit.errors import DeviceError, InputError, InvalidLaunch, UsageError

QUICK = Sampling(samples=4, cold=False, warmup_s=0.001)


def add(n=1000):
    return library()["vector_add"].case({"n": n})


def test_a_right_kernel_passes_and_gives_its_memory_back(bench, card):
    before = set(card.memories)
    card.answer(add())
    (check,) = bench.check(add())
    assert (check.output, check.is_right, check.unwritten, check.at) == ("c", True, 0, None)
    assert set(card.memories) == before


@pytest.mark.parametrize(
    ("place", "value", "at"), [(17, 5.0, 17), (999, np.nan, 999), (0, np.inf, 0)]
)
def test_one_wrong_element_is_found(bench, card, place, value, at):
    def spoil(right):
        right["c"] = right["c"].copy()
        right["c"][place] = value

    card.answer(add(), spoil)
    (check,) = bench.check(add())
    assert not check.is_right
    assert check.at == at


def test_elements_left_unwritten_are_counted(bench, card):
    def leave(launch, a, b, c, n):
        c.view(np.float32)[:990] = a.view(np.float32)[:990] + b.view(np.float32)[:990]

    card.kernels["vector_add"] = leave
    (check,) = bench.check(add())
    assert check.unwritten == 10
    assert not check.is_right
    assert bench.time(add(), QUICK)["unwritten"] == {"c": 10}


def test_a_run_has_its_samples_and_clocks(bench, card):
    card.cost = lambda name, launch: 2.5e-4
    found = bench.time(add(), QUICK)
    assert found["samples_s"] == pytest.approx([2.5e-4] * 4)
    assert found["sm_clock_hz"] == 1.98e9
    assert found["throttles"] == ()


def test_a_failure_on_the_card_is_the_error_itself(bench, card):
    card.fails.add("vector_add")
    with pytest.raises(DeviceError, match="ILLEGAL_ADDRESS"):
        bench.check(add())


def test_a_refused_question_leaves_the_card_usable(bench, card):
    before = set(card.memories)
    case = replace(add(), arguments=("a", "b", "c", Scalar(dtype="i32", value=2**40)))
    with pytest.raises(UsageError, match=r"1\.09951e\+12 is no i32"):
        bench.check(case)
    assert set(card.memories) == before


def test_persistent_launches_fill_the_card(bench, card):
    case = add(10**9)
    function = bench.function(case)
    assert bench.launch(case, function).grid == case.launch.grid
    sms = card.device.sm_count
    assert bench.launch(replace(case, persistent=1), function).grid == (8 * sms, 1, 1)
    clustered = replace(
        case, persistent=4, launch=replace(case.launch, cluster=(4, 1, 1), grid=(10**6, 1, 1))
    )
    assert bench.launch(clustered, function).grid == (60 * 4, 1, 1)


def test_a_block_that_the_compiled_kernel_cannot_have(bench):
    case = add()
    bench.function(case).max_threads = 128
    with pytest.raises(InvalidLaunch, match="at most 128"):
        bench.function(case)


@pytest.mark.parametrize(
    ("launch", "words"),
    [
        ({"grid": (2**31, 1, 1)}, r"the grid is 2,147,483,648 in x, .* at most 2,147,483,647"),
        ({"grid": (1, 2**16, 1)}, r"the grid is 65,536 in y, .* at most 65,535"),
        ({"block": (1, 1, 65)}, r"the block is 65 in z, NVIDIA H200 takes at most 64"),
        ({"dynamic_bytes": 227 * 1024 + 1}, r"232,449 bytes .*\(0 of them static\).* 232,448"),
        ({"grid": (6, 1, 1), "cluster": (4, 1, 1)}, r"the grid is 6 in x, which clusters of 4"),
    ],
)
def test_a_launch_that_no_card_of_this_kind_can_have(bench, launch, words):
    case = add()
    with pytest.raises(InvalidLaunch, match=words):
        bench.function(replace(case, launch=replace(case.launch, **launch)))


def test_facts(bench):
    facts = bench.facts(add(2**20))
    assert (facts.blocks, facts.threads, facts.blocks_per_sm) == (1024, 256, 8)


@pytest.mark.parametrize(
    ("scalar", "raw"),
    [
        (Scalar(dtype="i32", value=-2), np.int32(-2)),
        (Scalar(dtype="u64", value=2**40), np.uint64(2**40)),
        (Scalar(dtype="f32", value=1.5), np.float32(1.5)),
        (Scalar(dtype="f16", value=0.5), np.float16(0.5)),
    ],
)
def test_scalars_have_the_bits_of_their_type(scalar, raw):
    assert packed(scalar).tobytes() == raw.tobytes()
    assert packed(scalar).dtype == raw.dtype


@pytest.mark.parametrize(
    ("scalar", "words"),
    [
        (Scalar(dtype="u32", value=-1), "0 to 4294967295"),
        (Scalar(dtype="i32", value=0.5), "0.5 is no i32"),
        (Scalar(dtype="bf16", value=1), "cannot be bf16"),
    ],
)
def test_scalars_that_cannot_be(scalar, words):
    with pytest.raises(UsageError, match=words):
        packed(scalar)


def array(**values):
    return Array(**({"name": "x", "dtype": "f32", "count": 4} | values))


@pytest.mark.parametrize(
    ("given", "data"),
    [
        (array(fill=Fill.IOTA, dtype="i32"), [0, 1, 2, 3]),
        (array(fill=Fill.VALUE, value=2.5), [2.5] * 4),
        (array(fill=Fill.ZERO, dtype="f64"), [0.0] * 4),
        (array(fill=Fill.MADE, make=lambda: np.array([4, 3, 2, 1])), [4, 3, 2, 1]),
    ],
)
def test_data_of_every_kind(bench, card, given, data):
    case = replace(add(4), arrays=(given,), reference=None)
    with bench.memory(case) as memory:
        raw = card.view(memory["x"])[: given.size_bytes]
        assert raw.view(packed(Scalar(dtype=given.dtype, value=0)).dtype).tolist() == data


def test_data_of_a_file(bench, card, tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.arange(4, dtype=np.float32))
    case = replace(add(4), arrays=(array(fill=Fill.FILE, file=str(path)),))
    with bench.memory(case) as memory:
        assert card.view(memory["x"])[:16].view(np.float32).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (np.arange(5, dtype=np.float32), "holds 5 of float32"),
        (np.arange(4), "holds 4 of int64"),
        (b"no array", "cannot be read as .npy"),
        (None, "cannot be read as .npy"),
    ],
)
def test_a_file_that_does_not_fit(bench, tmp_path, content, words):
    path = tmp_path / "x.npy"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        np.save(path, content)
    case = replace(add(4), arrays=(array(fill=Fill.FILE, file=str(path)),))
    with pytest.raises(InputError, match=words), bench.memory(case):
        pass


def test_a_reference_of_the_wrong_size(bench, card):
    case = replace(add(), reference=lambda given: {"c": given["a"][:5]})
    with pytest.raises(UsageError, match="gives 5 of c, not 1000"):
        bench.check(case)


def test_random_whole_numbers_stay_in_their_span(bench, card):
    given = array(dtype="i32", count=1000, span=10, role=Role.IN)
    with bench.memory(replace(add(), arrays=(given,))) as memory:
        found = card.view(memory["x"])[:4000].view(np.int32)
        assert (found.min(), found.max()) == (0, 9)

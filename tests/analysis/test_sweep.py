"""``blocks_per_sm`` is ``occupancy`` on arrays, and behaves like a ufunc."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from perfkit.analysis.shared_capacity import configured_shared_bytes
from perfkit.analysis.sweep import blocks_per_sm
from perfkit.arch import catalog
from perfkit.errors import UsageError
from perfkit.models.occupancy import occupancy

CAPABILITIES = catalog.all_capabilities()
EACH = pytest.mark.parametrize("capability", CAPABILITIES, ids=lambda c: c.compute_capability.sm)
HOPPER = catalog.capability("9.0")
SEED = 20_240_604


def scalar(capability, threads, regs, smem, percent, barriers, rule):
    return occupancy(
        capability,
        threads=threads,
        regs=regs,
        smem=smem,
        carveout=None if percent < 0 else percent,
        barriers=barriers,
        rule=rule,
    ).blocks_per_sm


@EACH
@pytest.mark.parametrize("rule", ["driver", "hardware"])
def test_one_by_one_and_all_at_once(capability, rule):
    random = np.random.default_rng([SEED, *capability.compute_capability])
    most = capability.shared_memory.max_per_block_optin_bytes
    size = random.choice([4096, most + 300], 600)
    inputs = [
        random.integers(1, 1025, 600),
        random.integers(0, 256, 600),
        random.integers(0, size),
        random.integers(-1, 101, 600),
        random.integers(0, 17, 600),
    ]
    found = blocks_per_sm(capability, *inputs, rule=rule)
    rows = zip(*(column.tolist() for column in inputs), strict=True)
    assert found.tolist() == [scalar(capability, *row, rule) for row in rows]


@pytest.mark.parametrize(
    "dtype", ["uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
)
def test_every_integer_type(dtype):
    threads, regs, smem = (np.array([value], dtype) for value in (128, 255, 200))
    expected = occupancy(HOPPER, threads=128, regs=255, smem=200).blocks_per_sm
    assert blocks_per_sm(HOPPER, threads, regs, smem).tolist() == [expected]


AXES = (
    np.array([32, 100, 256, 1024]).reshape(4, 1, 1, 1, 1),
    np.array([0, 32, 64, 128, 255]).reshape(5, 1, 1, 1),
    np.array([0, 1, 1000, 48 * 1024, 227 * 1024, 232_449]).reshape(6, 1, 1),
    np.array([-1, 0, 50]).reshape(3, 1),
    np.array([0, 1, 16]),
)


@pytest.mark.parametrize("rule", ["driver", "hardware"])
@pytest.mark.parametrize("kept", [(0, 1, 2, 3, 4), (0, 2), (1, 3), (2, 3), (2,), (4,), ()])
def test_any_axes_broadcast(kept, rule):
    axes = [axis if i in kept else axis.reshape(-1)[1] for i, axis in enumerate(AXES)]
    found = blocks_per_sm(HOPPER, *axes, rule=rule)
    wide = np.broadcast_arrays(*axes)
    assert found.shape == wide[0].shape
    rows = zip(*(column.reshape(-1).tolist() for column in wide), strict=True)
    assert found.reshape(-1).tolist() == [scalar(HOPPER, *row, rule) for row in rows]


def test_lists_and_non_contiguous_arrays():
    threads = np.arange(32, 1025, 32)
    every_other = blocks_per_sm(HOPPER, threads[::-2], 40, 0)
    assert every_other.tolist() == blocks_per_sm(HOPPER, threads[::-2].tolist(), 40, 0).tolist()
    table = np.arange(64, 1024, 8).reshape(8, 15)
    transposed = blocks_per_sm(HOPPER, table.T, table.T % 256, table.T * 100)
    assert (transposed == blocks_per_sm(HOPPER, table, table % 256, table * 100).T).all()


def test_long_arrays_are_looked_up_in_chunks():
    random = np.random.default_rng(SEED)
    count = 3 * 2**15 + 17
    threads, regs = random.integers(1, 1025, count), random.integers(0, 256, count)
    smem, percent = random.integers(0, 240_000, count), random.integers(-1, 101, count)
    found = blocks_per_sm(HOPPER, threads, regs, smem, percent)
    parts = [
        blocks_per_sm(HOPPER, threads[part], regs[part], smem[part], percent[part])
        for part in np.array_split(np.arange(count), 7)
    ]
    assert (found == np.concatenate(parts)).all()


def test_empty_arrays():
    assert blocks_per_sm(HOPPER, np.zeros((3, 0), int), 40, 0).shape == (3, 0)


def test_out_is_written_and_returned():
    out = np.full((2, 3), -1, np.int8)
    found = blocks_per_sm(HOPPER, [[64], [128]], [16, 32, 64], 0, out=out)
    assert found is out
    assert (out == blocks_per_sm(HOPPER, [[64], [128]], [16, 32, 64], 0)).all()


def test_what_cannot_launch_is_zero_not_an_error():
    assert blocks_per_sm(HOPPER, [0, 1024, 1025, 10**9], 16, 0).tolist() == [0, 2, 0, 0]
    assert blocks_per_sm(HOPPER, 32, [255, 256, 10**9], 0).tolist() == [8, 0, 0]
    assert blocks_per_sm(HOPPER, 32, 16, [232_448, 232_449, 2**40]).tolist() == [1, 0, 0]


@pytest.mark.parametrize(
    ("inputs", "says"),
    [
        ({"threads": [1.5]}, "threads"),
        ({"threads": ["a"]}, "threads"),
        ({"threads": [True]}, "threads"),
        ({"threads": [-1]}, "threads"),
        ({"regs": [-1]}, "regs"),
        ({"smem": [-1]}, "smem"),
        ({"carveout": [-2]}, "carveout"),
        ({"carveout": [101]}, "carveout"),
        ({"barriers": [17]}, "barriers"),
        ({"barriers": [-1]}, "barriers"),
    ],
)
def test_bad_input_says_which(inputs, says):
    good = {"threads": [128], "regs": [32], "smem": [0]}
    with pytest.raises(UsageError, match=says):
        blocks_per_sm(HOPPER, **(good | inputs))


def test_unsigned_and_signed_types_mix():
    one_by_one = configured_shared_bytes(HOPPER, 96, 40, 100, 50)
    kinds = ("uint64", "int8", "uint32", "int64")
    for kind in itertools.product(kinds, repeat=4):
        columns = [
            np.array([value], one) for value, one in zip((96, 40, 100, 50), kind, strict=True)
        ]
        assert blocks_per_sm(HOPPER, *columns).tolist() == [16], kind
        assert configured_shared_bytes(HOPPER, *columns).tolist() == [one_by_one], kind


def test_values_far_beyond_every_limit():
    for most in (2**63 - 1, np.array([2**64 - 1], np.uint64), 2**70, [2**70]):
        for name in ("threads", "regs", "smem"):
            inputs = {"threads": [128], "regs": [40], "smem": [0], name: most}
            assert blocks_per_sm(HOPPER, **inputs).tolist() == [0]
            assert configured_shared_bytes(HOPPER, **inputs).tolist() == [0]


@pytest.mark.parametrize(
    "threads",
    [
        pd.Series([64, 128]),
        pd.Series([64, 128], dtype="Int64"),
        np.array([64, 128], object),
        np.array([64, 0, 128])[::2],
        np.broadcast_to(np.array([64, 128]), (2,)),
        (64, np.int16(128)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_arrays_of_any_kind(threads):
    assert blocks_per_sm(HOPPER, threads, 40, 0).tolist() == [24, 12]
    assert configured_shared_bytes(HOPPER, threads, 40, 0).shape == (2,)


def test_nothing_in_is_nothing_out():
    assert blocks_per_sm(HOPPER, [], 40, 0).shape == (0,)
    assert blocks_per_sm(HOPPER, [[], []], 40, [1], barriers=[]).shape == (2, 0)
    assert configured_shared_bytes(HOPPER, [], 40, 0).shape == (0,)


@pytest.mark.parametrize(
    ("out", "says"),
    [
        (np.empty(3, np.int8), r"shape \(2,\), not \(3,\)"),
        (np.empty((2, 2), np.int8), r"shape \(2,\)"),
        (np.empty(2, np.uint8), "of uint8"),
        (np.empty(2), "of float64"),
        ([0, 0], "not list"),
        (np.broadcast_to(np.int8(0), (2,)), "read-only"),
    ],
)
def test_an_out_that_cannot_take_the_result(out, says):
    with pytest.raises(UsageError, match=says):
        blocks_per_sm(HOPPER, [64, 128], 40, 0, out=out)


def test_out_may_be_an_input():
    barriers = np.array([1, 16])
    assert blocks_per_sm(HOPPER, 64, 16, 0, -1, barriers, out=barriers).tolist() == [32, 4]


def test_shapes_that_do_not_broadcast():
    for ask in (blocks_per_sm, configured_shared_bytes):
        with pytest.raises(UsageError, match=r"broadcast: threads \(2,\), smem \(3,\)"):
            ask(HOPPER, [64, 128], 40, [1, 2, 3])

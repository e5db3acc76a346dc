"""Frames: every combination once, in order, in pieces of any size."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from perfkit.analysis import frame
from perfkit.analysis.sweep import blocks_per_sm
from perfkit.arch import catalog
from perfkit.errors import UsageError

TARGETS = catalog.targets("9.0,rtx-4090,6.1")
AXES = {
    "threads": [33, 256, 1024],
    "regs": range(0, 255, 50),
    "smem": [0, 1000, 50_000],
    "carveout": [-1, 0, 50],
}


def test_every_combination_in_order_with_the_right_blocks():
    found = frame.sweep(TARGETS, **AXES, barriers=3, rule="hardware")
    labels = [target.label for target in TARGETS]
    wanted = list(itertools.product(labels, *AXES.values()))
    keys = list(found.columns[:5])
    assert list(map(tuple, found[keys].to_numpy().tolist())) == wanted
    for target in TARGETS:
        mine = found[found["target"] == target.label]
        columns = [mine[key].to_numpy() for key in keys[1:]]
        blocks = blocks_per_sm(target.capability, *columns, 3, "hardware")
        assert (mine["blocks_per_sm"].to_numpy() == blocks).all()
        warps = blocks.astype(int) * -(-columns[0] // 32)
        assert (mine["warps_per_sm"].to_numpy() == warps).all()
        most = target.capability.limits.max_warps_per_sm
        assert (mine["occupancy"].to_numpy() == warps / most).all()


@pytest.mark.parametrize("size", [1, 7, 54, 100, 1 << 20])
def test_pieces_of_any_size_are_one_frame(monkeypatch, size):
    whole = frame.sweep(TARGETS, **AXES)
    monkeypatch.setattr(frame, "_ROWS", size)
    pieces = list(frame.pieces(TARGETS, **AXES))
    inner = 6 * 3 * 3
    assert max(map(len, pieces)) <= max(size, inner)
    assert pd.concat(pieces, ignore_index=True).equals(whole)


def test_one_value_or_several_or_any_iterable():
    found = frame.sweep(TARGETS[:1], threads=(t for t in (64, 128)), regs=np.array([32]), smem=0)
    assert found["block_threads"].tolist() == [64, 128]
    assert frame.sweep(TARGETS[:1], threads=64, regs=32).shape == (1, 9)


def test_columns_are_narrow():
    found = frame.sweep(TARGETS[:1], threads=64, regs=32)
    assert found["target"].dtype == "category"
    assert found.dtypes.drop("target").astype(str).to_dict() == {
        "block_threads": "int32",
        "registers_per_thread": "int16",
        "shared_bytes_per_block": "int32",
        "carveout_percent": "int8",
        "barriers_per_block": "int8",
        "blocks_per_sm": "int8",
        "warps_per_sm": "int16",
        "occupancy": "float64",
    }


def test_values_that_nothing_can_have_are_listed_as_they_are():
    found = frame.sweep(TARGETS[:1], threads=[64, 10**10], regs=[16, 70_000], smem=[0, 1 << 40])
    assert found["block_threads"].max() == 10**10
    assert found["registers_per_thread"].max() == 70_000
    assert found["shared_bytes_per_block"].max() == 1 << 40
    assert found["blocks_per_sm"].tolist() == [32] + [0] * 7
    assert found["warps_per_sm"].tolist() == [64] + [0] * 7


@pytest.mark.parametrize(
    ("axes", "says"),
    [
        ({"threads": []}, "threads is empty"),
        ({"regs": ()}, "regs is empty"),
        ({"carveout": range(0)}, "carveout is empty"),
        ({"smem": [1.5]}, "smem must be integers"),
        ({"threads": "64"}, "threads must be integers"),
        ({"carveout": 101}, "carveout = 101: must be -1 to 100"),
        ({"regs": -1}, "regs = -1: must be at least 0"),
        ({"barriers": 17}, "barriers = 17: must be 0 to 16"),
    ],
)
def test_bad_axes_say_which(axes, says):
    with pytest.raises(UsageError, match=says):
        frame.sweep(TARGETS, **{"threads": 64, "regs": 32} | axes)


def test_no_targets():
    with pytest.raises(UsageError, match="no target"):
        frame.sweep((), threads=64, regs=32)


def test_barriers_are_an_axis():
    found = frame.sweep(TARGETS[:1], threads=[64, 128], regs=16, barriers=[1, 16])
    assert found["barriers_per_block"].tolist() == [1, 16, 1, 16]
    # 9.0 has 64 barriers
    assert found["blocks_per_sm"].tolist() == [32, 4, 16, 4]


@pytest.mark.parametrize("axis", ["threads", "regs", "smem", "carveout", "barriers"])
@pytest.mark.parametrize(
    "value", [None, [None], 1.5, "8", [[8, 8]], np.ones((2, 2), int), [True], [[1], [1, 2]], []]
)
def test_an_axis_that_is_none(axis, value):
    with pytest.raises(UsageError, match=axis):
        frame.sweep(TARGETS[:1], **{"threads": 64, "regs": 32, axis: value})


@pytest.mark.parametrize(
    "value", [np.int64(64), np.array(64), np.array([64], np.uint64), pd.Series([64]), (64,)]
)
def test_an_axis_of_any_kind(value):
    found = frame.sweep(TARGETS[:1], threads=value, regs=value, smem=value, carveout=value)
    assert found["block_threads"].tolist() == [64]
    assert found["carveout_percent"].tolist() == [64]

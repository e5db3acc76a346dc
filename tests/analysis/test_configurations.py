"""``perfkit.fits`` takes configurations in every form in which people have them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

import perfkit
from perfkit.errors import UsageError

#: warps, bytes, registers, blocks per cluster: what 9.0 takes and why not
ROWS = [
    (4, 0, 64, 1, None),
    (4, 232_448, 64, 1, None),
    (4, 232_449, 64, 1, "shared_memory"),
    (32, 0, 64, 1, None),
    (32, 0, 65, 1, "registers"),
    (33, 0, 32, 1, "threads"),
    (4, 0, 64, 16, None),
    (4, 0, 64, 17, "cluster"),
]
MASK = [why is None for *_, why in ROWS]
TRITON = ("num_warps", "shared", "n_regs", "num_ctas")
COLUMNS = {name: [row[i] for row in ROWS] for i, name in enumerate(TRITON)}
DICTS = [dict(zip(TRITON, row, strict=False), BLOCK_M=64, num_stages=3) for row in ROWS]


class Config(NamedTuple):
    num_warps: int
    shared: int
    n_regs: int
    num_ctas: int


@pytest.mark.parametrize(
    "configs",
    [
        DICTS,
        tuple(DICTS),
        iter(DICTS),
        [Config(*row[:4]) for row in ROWS],
        [SimpleNamespace(**config) for config in DICTS],
        pd.DataFrame(DICTS, index=range(100, 108)),
        {name: np.array(values) for name, values in COLUMNS.items()},
        pd.DataFrame(COLUMNS).to_records(index=False),
        [
            {"threads": w * 32, "smem": s, "regs": r, "cluster": c}
            for w, s, r, c, _ in ROWS
        ],
        [
            {"num_warps": w, "shared": s, "registers": r, "cluster_dims": (c, 1, 1)}
            for w, s, r, c, _ in ROWS
        ],
        pd.DataFrame(
            [{"num_warps": w, "smem": s, "regs": r, "cluster_dims": (c, 1, 1)}
             for w, s, r, c, _ in ROWS]
        ),
    ],
    ids=["list", "tuple", "iterator", "namedtuple", "objects", "frame", "arrays", "records",
         "own names", "cluster dims", "frame of dims"],
)  # fmt: skip
def test_every_form(configs):
    mask, why = perfkit.fits("h100", configs, reasons=True)
    assert mask.dtype == bool
    assert mask.tolist() == MASK
    assert why.tolist() == [row[4] for row in ROWS]


def test_a_frame_of_a_sweep_can_be_filtered():
    frame = perfkit.sweep("8.9", threads=[128, 1024], regs=[64, 65], smem=[0, 101_377])
    kept = frame[perfkit.fits("8.9", frame)]
    assert (frame["blocks_per_sm"] > 0).tolist() == perfkit.fits("8.9", frame).tolist()
    assert kept["block_threads"].tolist() == [128, 128, 1024]


def test_the_mask_depends_on_the_target():
    configs = [{"num_warps": 8, "shared": 1024 * kib} for kib in (48, 64, 96, 99, 163, 227)]
    fitting = {name: int(perfkit.fits(name, configs).sum()) for name in ("6.1", "t4", "v100")}
    assert fitting == {"6.1": 1, "t4": 2, "v100": 3}
    assert [perfkit.fits(n, configs).sum() for n in ("rtx-4090", "a100", "h100")] == [4, 5, 6]


def test_what_the_configurations_leave_out_is_given_for_all_or_for_each():
    configs = [{"num_warps": 4}, {"num_warps": 32}]
    assert perfkit.fits("9.0", configs, smem=0).tolist() == [True, True]
    assert perfkit.fits("9.0", configs, smem=0, regs=128).tolist() == [True, False]
    assert perfkit.fits("9.0", configs, smem=[300_000, 0]).tolist() == [False, True]
    assert perfkit.fits("9.0", [{"shared": 0}], threads=2048).tolist() == [False]
    assert perfkit.fits("8.0", configs, smem=0, cluster=2).tolist() == [False, False]


def test_what_one_configuration_leaves_out_is_the_default():
    configs = [{"num_warps": 32, "shared": 0}, {"num_warps": 32, "shared": 0, "regs": 255}]
    assert perfkit.fits("9.0", configs).tolist() == [True, False]
    assert perfkit.fits("9.0", configs[::-1]).tolist() == [False, True]
    assert perfkit.fits("9.0", configs, regs=128).tolist() == [False, False]
    absent = pd.DataFrame({"num_warps": [32, 32], "shared": [0, 0], "regs": [None, 255.0]})
    assert perfkit.fits("9.0", absent).tolist() == [True, False]
    objects = [
        SimpleNamespace(num_warps=32, shared=0),
        SimpleNamespace(num_warps=32, shared=0, regs=255),
    ]
    assert perfkit.fits("9.0", objects).tolist() == [True, False]
    assert perfkit.fits("9.0", [{"num_warps": 32, "shared": 0, "regs": None}]).tolist() == [True]
    some = [{"num_warps": 4, "shared": 0}, {"shared": 0}]
    assert perfkit.fits("9.0", some, threads=2048).tolist() == [True, False]


def test_no_configurations():
    for none in ([], (), iter(()), pd.DataFrame(), pd.DataFrame(columns=["num_warps", "shared"])):
        mask, why = perfkit.fits("9.0", none, reasons=True)
        assert (mask.shape, mask.dtype, why.shape) == ((0,), bool, (0,))


@pytest.mark.parametrize(
    ("configs", "says"),
    [
        ([{"num_warps": 4}], "how much shared memory"),
        ([{"num_warps": 4, "smen": 1 << 20}], "how much shared memory"),
        ([{"shared": 0}], "how many threads"),
        ([{"num_warps": 4, "threads": 128, "shared": 0}], "both threads and num_warps"),
        ([{"num_warps": 4, "shared": 0}, {"num_warps": 4}], "configuration 1 does not say shared"),
        ([{"num_warps": None, "shared": 0}], "configuration 0 does not say num_warps"),
        ([{"num_warps": 4, "shared": 0.5}], "shared must be whole"),
        ([{"num_warps": 4, "shared": float("inf")}], "shared must be whole"),
        ([{"num_warps": 4, "shared": 2**70}], "shared must be whole"),
        ([{"num_warps": 4, "shared": "48K"}], "shared must be whole"),
        ([{"num_warps": 4, "shared": -1}], "smem = -1: must be at least 0"),
        ([{"num_warps": True, "shared": 0}], "num_warps must be whole"),
        ([{"num_warps": 4, "shared": [1, 2]}], "1 configurations, and values of shape"),
        ({"num_warps": [4, 8], "shared": [0, 0, 0]}, "one length"),
        (["num_warps"], "how many threads"),
        ("num_warps", "holds no configurations"),
        (None, "holds no configurations"),
        (7, "holds no configurations"),
    ],
)
def test_bad_configurations_say_what_is_wrong(configs, says):
    with pytest.raises(UsageError, match=says):
        perfkit.fits("9.0", configs)


def test_defaults_of_another_length():
    with pytest.raises(UsageError, match="2 configurations, and values of shape"):
        perfkit.fits("9.0", [{"num_warps": 4}] * 2, smem=[[0], [1]])
    with pytest.raises(UsageError, match="one length"):
        perfkit.fits("9.0", {"num_warps": [4, 8]}, smem=[0, 1, 2])


INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


@pytest.mark.parametrize("kind", INTEGERS)
def test_no_type_of_integers_wraps_round(kind):
    """Four warps are 128 threads, which eight bits with a sign do not hold."""
    most = np.iinfo(kind).max
    warps = np.array([4, 8, 32, most], kind)
    found = perfkit.fits("9.0", {"num_warps": warps, "shared": np.zeros(4, kind)})
    assert found.tolist() == [True, True, True, False]
    rows = [{"num_warps": one, "shared": 0} for one in warps]
    assert perfkit.fits("9.0", rows).tolist() == found.tolist()
    dims = np.array([[2, 2, 2], [16, 1, 1], [most, most, 4]], kind)
    configs = {"num_warps": np.ones(3, kind), "shared": 0, "cluster_dims": dims}
    assert perfkit.fits("9.0", configs).tolist() == [True, True, False]


def test_products_beyond_64_bits():
    """2**59 + 4 warps are 2**64 + 128 threads."""
    assert perfkit.fits("9.0", [{"num_warps": 2**59 + 4, "shared": 0}]).tolist() == [False]
    dims = [(2**32, 2**32, 1), (1, 1, 1)]
    configs = [{"num_warps": 4, "shared": 0, "cluster_dims": size} for size in dims]
    with pytest.raises(UsageError, match="too large"):
        perfkit.fits("9.0", configs)
    many = {"num_warps": 4, "shared": 0, "cluster_dims": np.array(dims)}
    assert perfkit.fits("9.0", many).tolist() == [False, True]


def test_a_cluster_that_only_some_name():
    configs = [
        {"num_warps": 4, "shared": 0, "cluster_dims": (2, 1, 1)},
        {"num_warps": 4, "shared": 0},
    ]
    assert perfkit.fits("8.0", configs).tolist() == [False, True]

"""Kernels of the programs of this folder compile; that needs no GPU."""

from __future__ import annotations

import itertools

import pytest

from perfkit.access import require_nvrtc
from perfkit.errors import Unavailable


@pytest.fixture(autouse=True)
def _nvrtc():
    pytest.importorskip("cuda.bindings.nvrtc")
    try:
        require_nvrtc()
    except Unavailable as error:
        pytest.skip(str(error))


def test_overlap():
    from tests.gpu import overlap
    from tests.gpu.card import compile_cubin

    assert compile_cubin(overlap.SPIN, "sm_90").startswith(b"\x7fELF")


def test_latency():
    from tests.gpu import latency
    from tests.gpu.card import compile_cubin

    reads = [
        latency.READ.format(name=f"{width}_{ilp}", type=name, ilp=ilp, sum=total)
        for (width, (name, total)), ilp in itertools.product(latency.TYPES.items(), latency.ILPS)
    ]
    assert compile_cubin(latency.CHASE + "".join(reads), "sm_90").startswith(b"\x7fELF")

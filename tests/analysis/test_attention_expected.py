"""Attention on a card: tiles that each block sees, and what the busiest SM takes for them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from perfkit.analysis.attention_expected import FusedAttention
from perfkit.analysis.gemm_expected import rates_of
from perfkit.analysis.prediction import Machine
from perfkit.arch import catalog
from perfkit.kernel import DType
from perfkit.models.attention_time import Tile, tile_time
from perfkit.models.gemm_instructions import instruction

HOPPER = catalog.capability("9.0")
H200 = Machine(gpu=catalog.gpu("h200"), capability=HOPPER)
WORK = FusedAttention(
    dtype=DType.BF16,
    heads=33,
    q_rows=256,
    kv_rows=512,
    is_causal=False,
    tile=Tile(keys=64, head_size=64, warps=4),
    usual_blocks_per_sm=3,
)


def per_tile(blocks):
    one = instruction(HOPPER, DType.BF16, "tensor", (16, 8, 16))
    rates = rates_of(H200, one, DType.BF16, DType.F32)
    found = tile_time(WORK.tile, resident_warps=4 * blocks, rates=rates, special_per_s=16 * 1830e6)
    return found, rates


def test_one_block_on_every_sm():
    """33 heads of 4 blocks on 132 SMs, 8 tiles of keys each."""
    each, rates = per_tile(1)
    store = 64 * 64 * 2 / rates.write_bytes_per_s
    found = WORK.expected_s(H200, 3)
    assert found == pytest.approx(8 * each + store + rates.latency_s)
    assert WORK.expected_s(H200, None) == found


def test_causal_blocks_see_up_to_their_last_row():
    """256 keys came before the first query: 5, 6, 7 and 8 tiles."""
    each, rates = per_tile(1)
    found = replace(WORK, is_causal=True).expected_s(H200, 3)
    store = 64 * 64 * 2 / rates.write_bytes_per_s
    assert found == pytest.approx(8 * each + store + rates.latency_s)  # the longest decides
    many = replace(WORK, is_causal=True, heads=33 * 12)
    each, _ = per_tile(3)
    assert many.expected_s(H200, 3) == pytest.approx(
        12 * 6.5 * each + 12 * store / 3 + rates.latency_s
    )


def test_the_longest_block_cannot_be_shared_out():
    """Two blocks on every SM, of 5 to 8 tiles: 13 on average, 8 in turns with another block's."""
    each, rates = per_tile(2)
    store = 64 * 64 * 2 / rates.write_bytes_per_s
    found = replace(WORK, is_causal=True, heads=66).expected_s(H200, 3)
    assert found == pytest.approx(2 * 8 * each + 2 * store / 2 + rates.latency_s)


def test_a_card_whose_tensor_rate_is_not_known():
    unknown = replace(H200, gpu=replace(H200.gpu, rate_class="", published=()))
    assert WORK.expected_s(unknown, 3) is None

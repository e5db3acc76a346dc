import numpy as np
import pytest

from perfkit.device import matrix_data as data
from perfkit.kernel import DType


def test_e4m3_is_worth_what_the_specification_says():
    codes = {0x00: 0.0, 0x01: 2.0**-9, 0x07: 7 * 2.0**-9, 0x08: 2.0**-6, 0x38: 1.0, 0x7E: 448.0}
    codes |= {0xB8: -1.0, 0x3C: 1.5}
    found = data.values(DType.F8, np.array(list(codes), np.uint8))
    assert found.tolist() == list(codes.values())
    assert np.isnan(data.values(DType.F8, np.array([0x7F, 0xFF], np.uint8))).all()


def test_bf16_rounds_to_the_nearest_even():
    step = 2.0**-7  # of bf16 between 1 and 2
    x = np.array([1, 1 + 0.5 * step, 1 + 1.5 * step, 1 + 0.51 * step, -3], np.float32)
    found = data.values(DType.BF16, data.stored(DType.BF16, x))
    assert found.tolist() == [1, 1, 1 + 2 * step, 1 + step, -3]


@pytest.mark.parametrize(
    ("dtype", "kept_bits"), [("f16", 11), ("bf16", 8), ("tf32", 11), ("f8", 4)]
)
def test_numbers_stay_near(dtype, kept_bits):
    x = np.random.default_rng(0).uniform(0.1, 2, 1000).astype(np.float32)
    found = data.values(DType(dtype), data.stored(DType(dtype), x))
    assert 0 < np.abs(found / x - 1).max() <= 2.0 ** (1 - kept_bits)


def test_e4m3_leaves_out_what_it_cannot_hold():
    x = np.array([1e-9, 0.0, 1e9, -1e9], np.float32)
    assert data.values(DType.F8, data.stored(DType.F8, x)).tolist() == [0, 0, 448, -448]


@pytest.mark.parametrize("dtype", ["f16", "bf16", "tf32", "f8", "s8", "f64"])
def test_operands_are_random_and_repeatable(dtype):
    first, again, other = (
        data.random_operand(DType(dtype), (64, 32), seed=seed) for seed in (1, 1, 2)
    )
    assert first.shape == (64, 32)
    assert first.itemsize * 8 == DType(dtype).bits
    assert (first == again).all()
    assert (first != other).mean() > 0.9
    assert np.isfinite(data.values(DType(dtype), first)).all()

import math

import numpy as np
import pytest

from perfkit.device.flash_attention import Attention, kernel, reference
from perfkit.errors import UsageError
from perfkit.kernel import DType
from tests.device.matrix_cases import compiled


def attention(**values) -> Attention:
    sizes = {"heads": 2, "q_rows": 128, "kv_rows": 192, "head_size": 64}
    return Attention(**(sizes | values))


def test_counts():
    whole, causal = attention(), attention(is_causal=True)
    assert whole.flops == 2 * (2 * 128 * 192 * 64) * 2
    # query i sees i + 1 + 64 keys
    assert causal.pairs == 2 * sum(i + 1 + 64 for i in range(128))
    assert whole.least_bytes == 2 * (2 * 128 + 2 * 192) * 64 * 2


def test_launch():
    found = kernel(attention(head_size=128)).launch
    assert found.grid == (2, 2, 1)
    assert found.block == (128, 1, 1)
    assert found.dynamic_bytes == (64 + 4 * 32) * 128 * 2


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"head_size": 96}, "head size = 96"),
        ({"dtype": DType.F8}, "dtype = f8"),
        ({"q_rows": 100}, "q_rows = 100"),
        ({"kv_rows": 65}, "kv_rows = 65"),
        ({"heads": 0}, "heads = 0"),
        ({"kv_rows": 64, "is_causal": True}, "fewer than queries"),
    ],
)
def test_refused_problems(values, says):
    with pytest.raises(UsageError, match=says):
        kernel(attention(**values))


def test_reference_by_hand():
    q, k, v = (np.random.default_rng(i).standard_normal((1, 3, 2)) for i in range(3))
    found = reference(q, k, v, scale=0.5, is_causal=True)
    for row in range(3):
        weights = [math.exp(0.5 * float(q[0, row] @ k[0, key])) for key in range(row + 1)]
        for column in range(2):
            sums = sum(w * v[0, key, column] for key, w in enumerate(weights))
            assert found[0, row, column] == pytest.approx(sums / sum(weights))


def test_reference_without_a_mask_is_a_mean_where_scores_are_equal():
    q, k = np.zeros((1, 4, 8)), np.ones((1, 6, 8))
    v = np.random.default_rng(0).standard_normal((1, 6, 8))
    found = reference(q, k, v, scale=1.0, is_causal=False)
    assert found == pytest.approx(np.broadcast_to(v.mean(axis=1, keepdims=True), (1, 4, 8)))


@pytest.mark.parametrize(
    ("arch", "head_size", "dtype", "is_causal"),
    [("sm_80", 128, "bf16", True), ("sm_90", 64, "f16", False)],
)
def test_compiles_without_spills(tmp_path, arch, head_size, dtype, is_causal):
    problem = attention(head_size=head_size, dtype=DType(dtype), is_causal=is_causal)
    found = compiled(tmp_path, kernel(problem).text, arch)
    assert found.spill_store_bytes == found.spill_load_bytes == 0
    assert found.registers_per_thread <= 255

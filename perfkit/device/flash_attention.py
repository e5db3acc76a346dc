"""Attention forward with ``mma.sync``, the scores never in device memory: 8.0 and later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from perfkit.analysis.attention_expected import FusedAttention
from perfkit.device import matrix_source as source
from perfkit.device.backend import LaunchConfig
from perfkit.errors import UsageError
from perfkit.kernel import DType
from perfkit.models.attention_time import Tile
from perfkit.record import record

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WARPS: Final = 4
_TILE_Q: Final = 16 * _WARPS
#: head size -> rows of K and V at once; for 128 half as many leave room for a third block per SM
_TILE_KV: Final = {64: 64, 128: 32}
#: blocks on an SM that the compiler leaves registers for
_MIN_BLOCKS: Final = 3
_DTYPES: Final = (DType.F16, DType.BF16)


@record
class Attention:
    """A problem: ``heads`` of all batches together, each with rows of ``head_size`` elements.

    Causal: the last query sees all keys, each one before it a key less.
    """

    heads: int
    q_rows: int
    kv_rows: int
    head_size: int
    dtype: DType = DType.BF16
    is_causal: bool = False

    @property
    def pairs(self) -> int:
        """Of a query and a key that it sees, in all heads.

        >>> Attention(heads=1, q_rows=64, kv_rows=64, head_size=64, is_causal=True).pairs
        2080
        """
        unseen = self.q_rows * (self.q_rows - 1) // 2 if self.is_causal else 0
        return self.heads * (self.q_rows * self.kv_rows - unseen)

    @property
    def flops(self) -> int:
        """Of the two products; the softmax is not counted."""
        return 4 * self.head_size * self.pairs

    @property
    def least_bytes(self) -> int:
        """Q, K and V read once, the result written once."""
        rows = 2 * (self.q_rows + self.kv_rows)
        return self.heads * rows * self.head_size * self.dtype.bits // 8


@record
class AttentionKernel:
    """Of arguments: Q, K, V, O, then q_rows and kv_rows as int32 and the scale as float32."""

    text: str
    name: str
    launch: LaunchConfig


def kernel(problem: Attention) -> AttentionKernel:
    """The kernel and its launch.

    Raises:
        UsageError: a type or size that it is not written for.
    """
    p = problem
    if p.dtype not in _DTYPES or p.head_size not in _TILE_KV:
        raise UsageError(
            f"dtype = {p.dtype}, head size = {p.head_size}: the attention kernel takes f16 or bf16 "
            "and heads of 64 or 128"
        )
    tile_kv = _TILE_KV[p.head_size]
    source.require_multiple("q_rows", p.q_rows, _TILE_Q)
    source.require_multiple("kv_rows", p.kv_rows, tile_kv)
    if p.heads < 1:
        raise UsageError(f"heads = {p.heads}: must be at least 1")
    if p.is_causal and p.kv_rows < p.q_rows:
        raise UsageError(
            f"kv_rows = {p.kv_rows}: fewer than queries ({p.q_rows}), the first would see none"
        )
    macros = {
        "OPERAND": source.ptx_name(p.dtype),
        "OUT": source.ptx_name(p.dtype),
        "OUT_BYTES": 2,
        "HEAD": p.head_size,
        "WARPS": _WARPS,
        "TILE_KV": tile_kv,
        "CAUSAL": int(p.is_causal),
        "MIN_BLOCKS": _MIN_BLOCKS,
    }
    return AttentionKernel(
        text=source.text_of("flash_attention.cu", macros),
        name="flash_attention",
        launch=LaunchConfig(
            grid=(p.q_rows // _TILE_Q, p.heads, 1),
            block=(32 * _WARPS, 1, 1),
            # the queries, and two tiles of keys and values each
            dynamic_bytes=(_TILE_Q + 4 * tile_kv) * p.head_size * 2,
        ),
    )


def model(problem: Attention) -> FusedAttention:
    """What the kernel is expected to take."""
    p = problem
    return FusedAttention(
        dtype=p.dtype,
        heads=p.heads,
        q_rows=p.q_rows,
        kv_rows=p.kv_rows,
        is_causal=p.is_causal,
        tile=Tile(keys=_TILE_KV[p.head_size], head_size=p.head_size, warps=_WARPS),
        usual_blocks_per_sm=_MIN_BLOCKS,
    )


def reference(
    q: NDArray[Any], k: NDArray[Any], v: NDArray[Any], *, scale: float, is_causal: bool
) -> NDArray[Any]:
    """The same in float64: arrays of [heads, rows, head size]."""
    import numpy as np

    q, k, v = (np.asarray(x, np.float64) for x in (q, k, v))
    scores = scale * (q @ k.swapaxes(1, 2))
    if is_causal:
        queries, keys = scores.shape[1:]
        last = np.arange(queries)[:, None] + keys - queries
        scores = np.where(np.arange(keys) > last, -np.inf, scores)
    scores = np.exp(scores - scores.max(axis=2, keepdims=True))
    found: NDArray[Any] = scores / scores.sum(axis=2, keepdims=True) @ v
    return found

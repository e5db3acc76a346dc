"""PyTorch's own matrix products, for ``perfkit measure --python``."""

from __future__ import annotations

from collections.abc import Callable


def _bf16(size: int) -> Callable[[], object]:
    import torch

    a, b = (torch.randn(size, size, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    out = torch.empty_like(a)
    return lambda: torch.matmul(a, b, out=out)


def bf16_4096() -> Callable[[], object]:
    return _bf16(4096)


def bf16_8192() -> Callable[[], object]:
    return _bf16(8192)

"""The languages and libraries for which a recommended launch can be written as code."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Final

from perfkit.analysis.recommend import Recommendation
from perfkit.report.code import cuda, python
from perfkit.report.code.facts import Facts, facts


class Kind(StrEnum):
    CUDA = "cuda"
    CUDA_CORE = "cuda-core"
    CUPY = "cupy"
    NUMBA = "numba"
    TRITON = "triton"


def render(found: Recommendation, kind: Kind, *, by: str = "perfkit recommend") -> str:
    """Code that launches so, for kernels with any parameters.

    Args:
        found: the launch.
        kind: of code.
        by: the command that it is from, for the comment at its top.

    Raises:
        UsageError: a launch that the kind cannot express.
    """
    return _RENDER[kind](facts(found, by))


_RENDER: Final[dict[Kind, Callable[[Facts], str]]] = {
    Kind.CUDA: cuda.render,
    Kind.CUDA_CORE: python.cuda_core,
    Kind.CUPY: python.cupy,
    Kind.NUMBA: python.numba,
    Kind.TRITON: python.triton,
}

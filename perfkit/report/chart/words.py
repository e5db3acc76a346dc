"""Names from files, in figures and on terminals."""

from __future__ import annotations

from perfkit.report.document import printable


def clean(text: str) -> str:
    """Without what commands a terminal; bytes that are no text become ``?``."""
    return printable(text).encode("utf-8", "replace").decode()


def shortened(text: str, most: int) -> str:
    """With the middle left out, as names of kernels differ at both ends.

    >>> shortened("gemm<float, 128, 128>", 11)
    'gemm<… 128>'
    """
    text, half = clean(text), (most - 1) // 2
    return text if len(text) <= most else f"{text[:half]}…{text[-half:]}"

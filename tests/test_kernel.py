"""What a kernel's record says of its launch, whatever it was read from."""

from __future__ import annotations

import pytest

from tests.report.results import kernel


@pytest.mark.parametrize(
    ("given", "required", "usual"),
    [
        ({}, None, None),
        ({"max_threads": 192}, None, 192),
        ({"max_threads": 192, "threads": 128}, None, 128),
        ({"max_threads": 256, "threads": 128, "required_block": (8, 8, 4)}, 256, 256),
    ],
)
def test_block_sizes(given, required, usual):
    one = kernel("f", "sm_90", **{"max_threads": None, "threads": None} | given)
    assert (one.required_threads, one.usual_threads) == (required, usual)


def test_clusters():
    assert kernel("f", "sm_90", required_cluster=None).required_cluster_blocks is None
    assert kernel("f", "sm_90", required_cluster=(2, 3, 1)).required_cluster_blocks == 6

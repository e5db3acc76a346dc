"""The last launch that a card takes, and the first that it does not."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from perfkit.device.backend import LaunchConfig
from perfkit.device.refused_launch import refuse_impossible
from perfkit.errors import InvalidLaunch
from tests.device.test_machine import device

KERNEL = SimpleNamespace(name="k", registers=40, static_shared_bytes=1024, max_threads=512)
MOST_SHARED = 227 * 1024


def refuse(**fields):
    launch = LaunchConfig(**{"grid": (1, 1, 1), "block": (32, 1, 1), **fields})
    refuse_impossible(launch, KERNEL, device())


@pytest.mark.parametrize(
    ("taken", "refused", "says"),
    [
        ({"block": (512, 1, 1)}, {"block": (512, 2, 1)}, "1024 threads, compiled it takes at most"),
        ({"block": (1, 1, 64)}, {"block": (1, 1, 65)}, "the block is 65 in z"),
        ({"grid": (1, 65535, 1)}, {"grid": (1, 65536, 1)}, "the grid is 65,536 in y"),
        (
            {"grid": (4, 2, 1), "cluster": (2, 2, 1)},
            {"grid": (4, 3, 1), "cluster": (2, 2, 1)},
            "the grid is 3 in y, which clusters of 2 do not divide",
        ),
        (
            {"dynamic_bytes": MOST_SHARED - 1024},
            {"dynamic_bytes": MOST_SHARED - 1023},
            "232,449 bytes of shared memory",
        ),
    ],
)
def test_limits(taken, refused, says):
    refuse(**taken)
    with pytest.raises(InvalidLaunch, match=says):
        refuse(**refused)

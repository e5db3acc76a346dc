"""Blocks really resident on every SM, against ``rule="hardware"``.

Each launch has more blocks than the card holds, and each block counts itself on its SM, so the
largest count of an SM is what it holds at once.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from perfkit.models.occupancy import occupancy
from tests.gpu.kernels import LEAST_REGISTERS, Variant

if TYPE_CHECKING:
    from tests.gpu.card import Card, Function

pytestmark = pytest.mark.gpu

SEED = 20_240_608
CONFIGURATIONS = 1500
REGISTER_LIMITED = 900
SHOWN = 10
#: blocks beyond what is expected, so that an SM that holds more shows it
SPARE = 4

STATIC = [Variant(registers=LEAST_REGISTERS, static_bytes=size) for size in (0, 4096, 20_001)]
BY_REGISTERS = [
    Variant(registers=count)
    for count in (32, 33, 40, 48, 56, 64, 72, 80, 88, 96, 112, 128, 144, 160, 168, 184, 208, 240)
]


@pytest.fixture(scope="module")
def functions(card) -> dict[Variant, Function]:
    found = {f.variant: f for f in card.functions([*STATIC, *BY_REGISTERS])}
    limit = card.capability.shared_memory.max_per_block_optin_bytes
    for function in found.values():
        function.allow_dynamic(limit)
    return found


def measure(card: Card, function: Function, threads: int, dynamic: int, expected: int):
    found = card.resident(
        function,
        grid=card.device.sm_count * (expected + SPARE),
        threads=threads,
        dynamic_bytes=dynamic,
    )
    assert len(found) == card.device.sm_count, "an SM had no block"
    return found


def random_launch(chance: random.Random, capability) -> tuple[int, int, int]:
    """Threads, dynamic shared memory, carveout; two thirds with a preference."""
    optin = capability.shared_memory.max_per_block_optin_bytes
    most = chance.choice((4, 8, 32))  # small blocks often: then many are resident
    threads = 32 * chance.randint(1, most) if chance.random() < 0.8 else chance.randint(1, 1024)
    dynamic = int(optin * chance.random() ** chance.choice((1, 2, 4)))
    if chance.random() < 0.2:
        dynamic = 0
    return threads, dynamic, chance.choice((-1, chance.randint(0, 100), chance.randint(0, 100)))


def test_resident_blocks_follow_the_hardware_rule(card: Card, functions, figure):
    if card.capability.shared_memory.carveout_evidence != "measured":
        pytest.skip("the rule is assumed here: measure it, then say so in archdb")
    chance = random.Random(SEED)
    compared = api_differs = uneven = 0
    misfits: list[object] = []
    while compared < CONFIGURATIONS:
        function = functions[chance.choice(STATIC)]
        threads, dynamic, carveout = random_launch(chance, card.capability)
        launch = {
            "threads": threads,
            "regs": function.registers,
            "smem": function.static_bytes + dynamic,
            "carveout": None if carveout < 0 else carveout,
        }
        expected = occupancy(card.capability, rule="hardware", **launch).blocks_per_sm
        by_api = occupancy(card.capability, **launch).blocks_per_sm
        # where the two rules agree, as they mostly do, there is little to learn
        if expected == 0 or (expected == by_api and compared % 3 == 0):
            continue
        function.prefer(carveout)
        found = measure(card, function, threads, dynamic, expected)
        compared += 1
        api_differs += function.blocks(threads, dynamic) != expected
        uneven += int(found.min() != found.max())
        if not (found == expected).all():
            misfits.append((launch, int(found.min()), int(found.max()), expected))
    figure("compared, on every SM", compared)
    figure("where the occupancy API says otherwise", api_differs)
    figure("SMs of one launch disagree", uneven)
    figure("differences", len(misfits))
    assert compared >= 300
    assert misfits[:SHOWN] == [], "launch, least, most, expected"


def test_register_limited_blocks(card: Card, functions, figure):
    """Exact for blocks of three and more warps; an upper bound for one and two."""
    chance = random.Random(SEED + 1)
    exact = small = below = 0
    misfits: list[object] = []
    least_share = 1.0
    while exact + small < REGISTER_LIMITED:
        function = functions[chance.choice(BY_REGISTERS)]
        warps = chance.randint(1, 2) if chance.random() < 0.4 else chance.randint(3, 32)
        found = occupancy(card.capability, threads=32 * warps, regs=function.registers)
        if found.blocks_per_sm == 0 or "registers" not in found.binding:
            continue
        expected = found.blocks_per_sm
        counts = measure(card, function, 32 * warps, 0, expected)
        row = (function.registers, warps, int(counts.min()), int(counts.max()), expected)
        if warps >= 3:
            exact += 1
            misfits += [row] if not (counts == expected).all() else []
        else:
            small += 1
            below += int(counts.min()) < expected
            least_share = min(least_share, int(counts.min()) / expected)
            misfits += [row] if counts.max() > expected else []
    figure("compared, 3 warps and more", exact)
    figure("compared, 1 and 2 warps", small)
    figure("of these some SM below the bound", below)
    figure("least share of the bound", round(least_share, 3))
    figure("differences", len(misfits))
    assert exact >= 300
    assert misfits[:SHOWN] == [], "registers, warps, least, most, expected"


def test_blocks_of_clusters(card: Card, functions, figure):
    """How many blocks of a cluster launch an SM really holds: the API says at most 8 on 9.0."""
    from cuda.bindings import driver

    from tests.gpu.card import call, cluster_config

    if card.capability.cluster is None:
        pytest.skip("no clusters on this capability")
    function = functions[STATIC[0]]
    function.prefer(-1)
    more_than_api = 0
    for threads in (32, 64, 128, 256):
        plain = function.blocks(threads, 0)
        for cluster in (1, 2, 4, 8):
            config = cluster_config(cluster * card.device.sm_count, threads, 0, cluster)
            api = int(call(driver.cuOccupancyMaxActiveClusters, function.handle, config))
            grid = card.device.sm_count * (plain + SPARE) // cluster * cluster
            counts = card.resident(
                function, grid=grid, threads=threads, dynamic_bytes=0, cluster=cluster
            )
            more_than_api += int(counts.sum()) > api * cluster
            figure(
                f"{threads} threads, clusters of {cluster}",
                f"{counts.min()} to {counts.max()} blocks per SM on {len(counts)} SMs, "
                f"{counts.sum()} blocks at once; API {api * cluster} blocks, "
                f"{plain} per SM without clusters",
            )
            assert counts.max() <= plain
    figure("launches that hold more than the API says", more_than_api)

"""``rule="driver"`` against the driver's own occupancy functions, kernel by kernel."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from perfkit.analysis import sweep
from perfkit.errors import DoesNotFit
from perfkit.models.cluster import active_clusters
from perfkit.models.inverse import available_smem, max_potential_block_size
from perfkit.models.occupancy import occupancy
from tests.gpu.kernels import LEAST_REGISTERS, Variant

if TYPE_CHECKING:
    from tests.gpu.card import Card, Function

pytestmark = pytest.mark.gpu

SEED = 20_240_607
REGISTERS = (24, 32, 40, 48, 64, 72, 80, 96, 104, 128, 144, 168, 200, 232, 255)
VARIANTS = [
    *(Variant(registers=count) for count in REGISTERS),
    *(
        Variant(registers=count, static_bytes=static)
        for count in (LEAST_REGISTERS, 64, 128)
        for static in (1, 1000, 4096, 20_001, 49_152)
    ),
    *(Variant(launch_bound=bound) for bound in (100, 256, 512)),
]
PER_KERNEL = 500  #: configurations of a kernel, without and again with the opt-in
SHOWN = 10  #: of the misfits


@pytest.fixture(scope="module")
def functions(card) -> list[Function]:
    return card.functions(VARIANTS)


def percent(carveout: int) -> int | None:
    return None if carveout < 0 else carveout


def bound(function: Function) -> int | None:
    """The launch bound that was compiled in; without one the model has to know by itself."""
    return function.variant.launch_bound or None


def some_bytes(chance: random.Random, most: int) -> int:
    """Small sizes as often as large ones, and those beside an allocation unit."""
    size = int(most * chance.random() ** chance.choice((1, 3, 6)))
    if chance.random() < 0.4:
        size = size // 1024 * 1024 + chance.choice((-1, 0, 1, 127, 128, 129))
    return min(max(size, 0), most)


def some_threads(chance: random.Random, function: Function) -> int:
    """Up to the launch bound if there is one, else also more than the registers allow."""
    most = bound(function) or 1024
    threads = chance.randint(1, most)
    return threads if chance.random() < 0.5 else min(-(-threads // 32) * 32, most)


def some_carveout(chance: random.Random) -> int:
    return -1 if chance.random() < 0.2 else chance.randint(0, 100)


def test_the_kernels_use_what_they_were_told(functions, figure):
    assert {f.registers for f in functions} >= set(REGISTERS)
    figure("kernels", len(functions))
    for function in functions:
        if function.variant.launch_bound:
            assert function.max_threads == function.variant.launch_bound


def test_active_blocks(card: Card, functions, figure):
    shared = card.capability.shared_memory
    chance = random.Random(SEED)
    compared, misfits, zero = 0, [], 0
    for function in functions:
        # a launch may ask for more than it is allowed: the answer is 0 then
        most = shared.max_per_block_optin_bytes - function.static_bytes
        for limit in (shared.max_per_block_bytes, shared.max_per_block_optin_bytes):
            function.allow_dynamic(limit)
            asked, answers = [], []
            for _ in range(PER_KERNEL):
                dynamic, carveout = some_bytes(chance, most), some_carveout(chance)
                row = (some_threads(chance, function), dynamic, carveout)
                function.prefer(row[2])
                asked.append(row)
                answers.append(function.blocks(row[0], row[1]))
            expected = expect(card, function, np.array(asked), limit)
            compared += len(answers)
            zero += answers.count(0)
            misfits += [
                (function.variant.name, function.registers, limit, row, theirs, int(ours))
                for row, theirs, ours in zip(asked, answers, expected, strict=True)
                if theirs != ours
            ]
    figure("compared", compared)
    figure("of these 0 blocks", zero)
    figure("differences", len(misfits))
    assert compared >= 20_000
    assert misfits[:SHOWN] == [], "kernel, registers, limit, (threads, dynamic, carveout), theirs"


def expect(card: Card, function: Function, rows: np.ndarray, limit: int) -> np.ndarray:
    """By array; every tenth row by the scalar model too, which has the options by name."""
    threads, dynamic, carveout = rows.T
    smem = function.static_bytes + dynamic
    found = sweep.blocks_per_sm(card.capability, threads, function.registers, smem, carveout)
    found = np.where(smem > limit, 0, found)
    for index in range(0, len(rows), 10):
        one = occupancy(
            card.capability,
            threads=int(threads[index]),
            regs=function.registers,
            smem=int(smem[index]),
            carveout=percent(int(carveout[index])),
            opt_in=limit > card.capability.shared_memory.max_per_block_bytes,
            max_threads=bound(function),
        )
        assert one.blocks_per_sm == found[index], (function, rows[index])
    return found


def test_more_threads_than_the_launch_bound(functions, figure):
    """Only told, not judged: the header does not say what the occupancy of such a launch is."""
    from cuda.bindings import driver

    for function in functions:
        if bound(function):
            ask = driver.cuOccupancyMaxActiveBlocksPerMultiprocessor
            status, blocks = ask(function.handle, function.variant.launch_bound + 32, 0)
            figure(f"bound {function.variant.launch_bound}", f"{status.name}, {blocks} blocks")


def test_potential_block_size(card: Card, functions, figure):
    """The driver heeds a preference of 0 % here and no other, unlike the header."""
    from cuda.bindings import driver

    from tests.gpu.card import call

    optin = card.capability.shared_memory.max_per_block_optin_bytes
    chance = random.Random(SEED + 1)
    compared, misfits = 0, []
    for function in functions:
        function.allow_dynamic(optin)
        for _ in range(40):
            dynamic = some_bytes(chance, optin - function.static_bytes)
            carveout = chance.choice((-1, 0, some_carveout(chance)))
            function.prefer(carveout)
            ask = driver.cuOccupancyMaxPotentialBlockSize
            answer = tuple(map(int, call(ask, function.handle, None, dynamic, 0)))
            found = max_potential_block_size(
                card.capability,
                regs=function.registers,
                sm_count=card.device.sm_count,
                smem=function.static_bytes + dynamic,
                carveout=0 if carveout == 0 else None,
                max_threads=bound(function) or 1024,
            )
            compared += 1
            if found != answer:
                misfits.append((function.variant.name, dynamic, carveout, answer, found))
    figure("compared", compared)
    figure("differences", len(misfits))
    assert misfits[:SHOWN] == [], "kernel, dynamic, carveout, theirs, ours"


def test_available_shared_memory(card: Card, functions, figure):
    """N blocks fit with perfkit's answer and not with one unit more, by the driver's own occupancy.

    The driver's own answer forgets the reserve of each block: where N blocks do not fit with it, it
    must be larger than ours, and where they do, no larger.
    """
    from cuda.bindings import driver

    shared = card.capability.shared_memory
    unit, optin = shared.allocation_unit_bytes, shared.max_per_block_optin_bytes
    chance = random.Random(SEED + 2)
    compared = refused = too_much = same = 0
    misfits: list[object] = []
    for function in functions:
        function.allow_dynamic(optin)
        most = optin - function.static_bytes
        for _ in range(60):
            threads, carveout = some_threads(chance, function), some_carveout(chance)
            wanted = chance.choice((1, 2, 3, 4, chance.randint(1, 32)))
            function.prefer(carveout)
            status, theirs = driver.cuOccupancyAvailableDynamicSMemPerBlock(
                function.handle, wanted, threads
            )
            row = (function.variant.name, threads, carveout, wanted, status.name, int(theirs or 0))
            compared += 1
            try:
                ours = ask_available(card, function, threads, carveout, wanted)
            except DoesNotFit:
                refused += 1
                if function.blocks(threads, 0) >= wanted:
                    misfits.append((*row, "it fits"))
                continue
            more = ours + unit
            if function.blocks(threads, ours) < wanted:
                misfits.append((*row, ours, "it does not fit"))
            if more <= most and function.blocks(threads, more) >= wanted:
                misfits.append((*row, ours, "more would fit"))
            if int(status):
                misfits.append((*row, ours, "the driver refuses"))
                continue
            theirs = int(theirs)
            fits = theirs <= most and function.blocks(threads, theirs) >= wanted
            too_much += not fits
            same += theirs == ours
            if (theirs <= ours) != fits:
                misfits.append((*row, ours, "the driver's answer is another error"))
    figure("compared", compared)
    figure("cannot fit", refused)
    figure("the driver answers the same", same)
    figure("the driver's answer does not fit by its own occupancy", too_much)
    figure("differences", len(misfits))
    assert misfits[:SHOWN] == []


def ask_available(card: Card, function: Function, threads: int, carveout: int, blocks: int) -> int:
    return available_smem(
        card.capability,
        threads=threads,
        regs=function.registers,
        blocks=blocks,
        static_smem=function.static_bytes,
        carveout=percent(carveout),
    )


def test_active_clusters(card: Card, functions, figure):
    """Exact where this very card is laid out as the database has it, else at most the bound."""
    from cuda.bindings import driver

    from tests.gpu.card import call, cluster_config

    limits, gpu = card.capability.cluster, card.target.gpu
    if limits is None or gpu is None:
        pytest.skip("no clusters, or no product")
    function = next(f for f in functions if f.registers == LEAST_REGISTERS and not f.static_bytes)
    optin = card.capability.shared_memory.max_per_block_optin_bytes
    function.allow_dynamic(optin)
    function.prefer(-1)
    function.set("NON_PORTABLE_CLUSTER_SIZE_ALLOWED", 1)
    sizes = range(1, (limits.max_nonportable or limits.max_portable) + 1)

    def theirs(size: int, threads: int, dynamic: int) -> int:
        config = cluster_config(size * card.device.sm_count, threads, dynamic, size)
        return int(call(driver.cuOccupancyMaxActiveClusters, function.handle, config))

    # one block per SM: the counts are those of the layout alone
    layout = {size: theirs(size, 1024, optin) for size in sizes}
    groups = gpu.cluster_sm_groups or ()
    known = all(count == sum(sms // size for sms in groups) for size, count in layout.items())
    figure("clusters of 1, 2, … with one block per SM", list(layout.values()))
    figure("laid out as the database has it", known)
    compared, exact, misfits = 0, 0, []
    for size in sizes:
        for threads in (32, 64, 96, 128, 256, 384, 512, 768, 1024):
            for dynamic in (0, 5_000, 16_384, 27_000, 49_152, 65_536, 102_400, 115_712, optin):
                answer = theirs(size, threads, dynamic)
                resident = function.blocks(threads, dynamic)
                ours = active_clusters(card.capability, gpu, size=size, blocks_per_sm=resident)
                compared += 1
                exact += answer == ours.active_clusters
                most = card.device.sm_count * resident // size
                if answer > most or (known and answer != ours.active_clusters):
                    misfits.append((size, threads, dynamic, answer, ours.active_clusters))
    figure("compared", compared)
    figure("equal", exact)
    figure("differences", len(misfits))
    assert misfits[:SHOWN] == [], "size, threads, dynamic, theirs, ours"

"""``rule="driver"`` and its inverses against the driver's own occupancy functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from perfkit.analysis.sweep import blocks_per_sm
from perfkit.analysis.validation import Pair
from perfkit.device.experiments.resident_kernels import Shape, Variant, load, random_variants
from perfkit.device.experiments.trial import Ledger
from perfkit.errors import DoesNotFit
from perfkit.models.inverse import available_smem, max_potential_block_size

if TYPE_CHECKING:
    import random

    from perfkit.analysis.validation import Tally
    from perfkit.device.backend import Function
    from perfkit.device.experiments.trial import Trial

_BOUNDS: Final = (100, 256, 512)


class _Kernel(NamedTuple):
    function: Function
    bound: int | None  #: its launch bound; without one the model has to know by itself


def _kernels(trial: Trial, full: int) -> list[_Kernel]:
    """Half of them with shared memory of their own; and some with launch bounds."""
    most = trial.capability.registers.max_per_thread
    plain, with_static = trial.count(full - full // 2, 4), trial.count(full // 2, 3)
    variants = [
        *random_variants(trial.chance, most, plain=plain, with_static=with_static),
        *(Variant(launch_bound=bound) for bound in _BOUNDS),
    ]
    functions = load(trial.card, variants)
    return [
        _Kernel(function, variant.launch_bound or None)
        for function, variant in zip(functions, variants, strict=True)
    ]


def driver_occupancy(trial: Trial) -> Iterator[Tally]:
    """Random launches of each kernel, without and with the opt-in to more shared memory."""
    shared = trial.capability.shared_memory
    kernels = _kernels(trial, 30)
    ledger = Ledger()
    ledger.figures["kernels"] = len(kernels)
    per_limit = -(-trial.count(24_000, 1_500) // (2 * len(kernels)))
    for kernel in kernels:
        function = kernel.function
        # a launch may ask for more than it is allowed: the answer is 0 then
        most = shared.max_per_block_optin_bytes - function.static_shared_bytes
        for limit in (shared.max_per_block_bytes, shared.max_per_block_optin_bytes):
            function.allow_dynamic(limit - function.static_shared_bytes)
            shapes = [
                Shape(
                    function,
                    some_threads(trial.chance, kernel.bound),
                    some_bytes(trial.chance, most),
                    some_carveout(trial.chance),
                )
                for _ in range(per_limit)
            ]
            _hold(ledger, trial, shapes, limit)
        yield ledger.tally()


def _hold(ledger: Ledger, trial: Trial, shapes: Sequence[Shape], limit: int) -> None:
    import numpy as np

    threads, smem, carveout = (
        np.array([getattr(shape, name) for shape in shapes])
        for name in ("threads", "smem_bytes", "carveout")
    )
    registers = shapes[0].function.registers
    ours = blocks_per_sm(trial.capability, threads, registers, smem, carveout)
    ours = np.where(smem > limit, 0, ours)
    for shape, expected in zip(shapes, ours.tolist(), strict=True):
        shape.function.prefer_carveout(shape.carveout)
        found = shape.function.blocks_per_sm(shape.threads, shape.dynamic_bytes)
        ledger.add("of these 0 blocks", int(found == 0))
        pair = Pair(what="blocks per SM", predicted=expected, measured=found)
        ledger.compare(expected, found, f"{shape}, {limit} B allowed", pair=pair)


def block_size(trial: Trial) -> Iterator[Tally]:
    """The launch helper's answers. It heeds a preference of 0 % and no other."""
    card, optin = trial.card, trial.capability.shared_memory.max_per_block_optin_bytes
    ledger = Ledger()
    for function, bound in _kernels(trial, 12):
        most = optin - function.static_shared_bytes
        function.allow_dynamic(most)
        for _ in range(trial.count(100, 10)):
            dynamic = some_bytes(trial.chance, most)
            carveout = trial.chance.choice((-1, 0, some_carveout(trial.chance)))
            function.prefer_carveout(carveout)
            ours = max_potential_block_size(
                trial.capability,
                regs=function.registers,
                sm_count=card.device.sm_count,
                smem=function.static_shared_bytes + dynamic,
                carveout=0 if carveout == 0 else None,
                max_threads=bound or 1024,
            )
            theirs = function.potential_block_size(dynamic)
            text = f"{function.registers} registers, {function.static_shared_bytes} + {dynamic} B"
            ledger.compare(tuple(ours), theirs, f"{text}, carveout {carveout}, bound {bound}")
    yield ledger.tally()


def available_shared(trial: Trial) -> Iterator[Tally]:
    """N blocks fit with perfkit's answer and not with one unit more, by the driver's occupancy."""
    shared = trial.capability.shared_memory
    ledger = Ledger()
    for function, bound in _kernels(trial, 12):
        most = shared.max_per_block_optin_bytes - function.static_shared_bytes
        function.allow_dynamic(most)
        for _ in range(trial.count(150, 15)):
            threads, carveout = some_threads(trial.chance, bound), some_carveout(trial.chance)
            blocks = trial.chance.choice((1, 2, 3, 4, trial.chance.randint(1, 32)))
            shape = Shape(function, threads, 0, carveout)
            function.prefer_carveout(carveout)
            _available(ledger, trial, shape, blocks, most)
    yield ledger.tally()


def _available(ledger: Ledger, trial: Trial, shape: Shape, blocks: int, most: int) -> None:
    function = shape.function
    text = f"{blocks} blocks of {shape}"
    try:
        ours = available_smem(
            trial.capability,
            threads=shape.threads,
            regs=function.registers,
            blocks=blocks,
            static_smem=function.static_shared_bytes,
            carveout=None if shape.carveout < 0 else shape.carveout,
        )
    except DoesNotFit:
        ledger.add("cannot fit")
        found = function.blocks_per_sm(shape.threads, 0)
        ledger.compare(f"fewer than {blocks}", found, text, agrees=found < blocks)
        return
    found = function.blocks_per_sm(shape.threads, ours)
    ledger.compare(f"at least {blocks}", found, f"{text}, {ours} B", agrees=found >= blocks)
    more = ours + trial.capability.shared_memory.allocation_unit_bytes
    if more <= most:
        found = function.blocks_per_sm(shape.threads, more)
        ledger.compare(f"fewer than {blocks}", found, f"{text}, {more} B", agrees=found < blocks)
    theirs = function.available_dynamic(shape.threads, blocks)
    if theirs is not None and theirs > ours:
        # until 13.1 it forgets what the system reserves of every block
        too_much = theirs > most or function.blocks_per_sm(shape.threads, theirs) < blocks
        ledger.add("the driver's own answer does not fit by its own occupancy", int(too_much))


def some_bytes(chance: random.Random, most: int) -> int:
    """Small sizes as often as large ones, and those beside an allocation unit."""
    size = int(most * chance.random() ** chance.choice((1, 3, 6)))
    if chance.random() < 0.4:
        size = size // 1024 * 1024 + chance.choice((-1, 0, 1, 127, 128, 129))
    return min(max(size, 0), most)


def some_threads(chance: random.Random, bound: int | None) -> int:
    """Up to the launch bound if there is one, else also more than the registers allow."""
    most = bound or 1024
    threads = chance.randint(1, most)
    return threads if chance.random() < 0.5 else min(-(-threads // 32) * 32, most)


def some_carveout(chance: random.Random) -> int:
    return -1 if chance.random() < 0.2 else chance.randint(0, 100)

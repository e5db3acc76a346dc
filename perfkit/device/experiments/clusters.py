"""Clusters that the card holds at once: the model, the driver's answer, and blocks counted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from perfkit.analysis.validation import Pair, Tally
from perfkit.device.backend import LaunchConfig
from perfkit.device.experiments.resident_kernels import (
    LEAST_REGISTERS,
    Counter,
    Shape,
    Variant,
    load,
)
from perfkit.device.experiments.trial import Ledger
from perfkit.models.cluster import active_clusters, largest_known

if TYPE_CHECKING:
    from perfkit.arch.types import Gpu
    from perfkit.device.backend import Card, Function
    from perfkit.device.experiments.trial import Trial

_THREADS: Final = (32, 64, 96, 128, 256, 384, 512, 768, 1024)
_DYNAMIC: Final = (0, 5_000, 16_384, 27_000, 49_152, 65_536, 102_400, 115_712)
_STAY_NS: Final = 1_000_000
_SPARE: Final = 3


def clusters(trial: Trial) -> Iterator[Tally]:
    """Exact where this very card is laid out as the database has it, else at most the bound."""
    capability, gpu = trial.capability, trial.target.gpu
    if capability.cluster is None:
        yield Tally(nothing="GPUs of this compute capability have no clusters")
        return
    if gpu is None:
        yield Tally(nothing="the database has no such product: how its SMs are grouped is unknown")
        return
    (function,) = load(trial.card, [Variant(registers=LEAST_REGISTERS)])
    optin = capability.shared_memory.max_per_block_optin_bytes
    function.allow_dynamic(optin)
    function.allow_any_cluster()
    function.prefer_carveout(-1)
    ledger = Ledger()
    sizes = range(1, largest_known(capability.cluster) + 1)
    known = _layout(ledger, trial.card, gpu, function, sizes, optin)
    for size in sizes:
        for threads in _THREADS:
            for dynamic in (*_DYNAMIC, optin):
                _hold(ledger, trial, gpu, Shape(function, threads, dynamic, -1), size, known=known)
    yield ledger.tally()
    yield _counted(ledger, trial, function)


def _layout(
    ledger: Ledger, card: Card, gpu: Gpu, function: Function, sizes: range, optin: int
) -> bool:
    """Whether the SMs are grouped as the database says: by one block per SM."""
    found = [_asked(card, Shape(function, 1024, optin, -1), size) for size in sizes]
    groups = gpu.cluster_sm_groups or ()
    expected = [sum(sms // size for sms in groups) for size in sizes]
    ledger.figures["clusters of 1, 2, … with one block per SM"] = ", ".join(map(str, found))
    same = "yes" if found == expected else "no" if groups else "it does not know"
    ledger.figures["SMs grouped as in the database"] = same
    return found == expected


def _asked(card: Card, shape: Shape, size: int) -> int:
    launch = LaunchConfig(
        grid=(size * card.device.sm_count, 1, 1),
        block=(shape.threads, 1, 1),
        dynamic_bytes=shape.dynamic_bytes,
        cluster=(size, 1, 1),
    )
    return shape.function.active_clusters(launch)


def _hold(ledger: Ledger, trial: Trial, gpu: Gpu, shape: Shape, size: int, *, known: bool) -> None:
    card = trial.card
    theirs = _asked(card, shape, size)
    resident = shape.function.blocks_per_sm(shape.threads, shape.dynamic_bytes)
    ours = active_clusters(trial.capability, gpu, size=size, blocks_per_sm=resident)
    text = f"clusters of {size}, {shape}"
    if known:
        pair = Pair(what="clusters", predicted=ours.active_clusters, measured=theirs)
        ledger.compare(ours.active_clusters, theirs, text, pair=pair)
    else:
        most = card.device.sm_count * resident // size
        ledger.compare(f"at most {most}", theirs, text, agrees=theirs <= most)


def _counted(ledger: Ledger, trial: Trial, function: Function) -> Tally:
    """Blocks of clusters on the SMs: at most what the driver says; a launch may hold fewer."""
    card = trial.card
    counter = Counter(card)
    for threads in (32, 64, 128, 256, 1024):
        shape = Shape(function, threads, 0, -1)
        per_sm = function.blocks_per_sm(threads, 0)
        for size in (1, 2, 4, 8):
            most = _asked(card, shape, size) * size
            blocks = card.device.sm_count * (per_sm + _SPARE) // size * size
            counts, _ = counter.counts([(shape, blocks)], ns=_STAY_NS, cluster=size)
            held = int(counts.sum())
            ledger.add("cluster launches counted on the SMs")
            ledger.add("of these as many blocks as the driver says", int(held == most))
            text = f"blocks of clusters of {size} held, {shape}"
            pair = Pair(
                what="blocks of clusters", predicted=most, measured=held, relation="at most"
            )
            ledger.compare(f"at most {most}", held, text, agrees=held <= most, pair=pair)
    return ledger.tally()

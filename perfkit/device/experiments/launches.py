"""Verdicts of ``analysis.fits`` against launches: what launches does, what does not is refused.

Every configuration is launched with and without what ``fits`` names as a condition, so that a
condition that is not needed is found as well as one that is missing. A refused launch leaves the
context as it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple

from perfkit.analysis.fits import fits as verdict
from perfkit.analysis.obstacles import ResourceDemand
from perfkit.device.backend import LaunchConfig
from perfkit.device.experiments.trial import Ledger
from perfkit.device.program import build
from perfkit.errors import CompileError, DeviceError
from perfkit.models.compatibility import static_shared_limit

if TYPE_CHECKING:
    import random

    from perfkit.analysis.validation import Tally
    from perfkit.device.backend import Function
    from perfkit.device.experiments.trial import Trial

_SOURCE: Final = "fits.cu"
_USUAL_BYTES: Final = 48 * 1024
#: what the host may ask for
_OPT_IN_SHARED: Final = "opt_in_shared"
_OPT_IN_CLUSTER: Final = "opt_in_cluster"
_ASKED: Final = tuple(
    frozenset(some)
    for some in ((), (_OPT_IN_SHARED,), (_OPT_IN_CLUSTER,), (_OPT_IN_SHARED, _OPT_IN_CLUSTER))
)
#: blocks per cluster that are compiled in; a fixed block size comes with clusters of one block
_CLUSTERS: Final = {"clustered": 4, "required": 1}


class _Tried(NamedTuple):
    threads: int
    dynamic: int
    cluster: int
    asked: frozenset[str]

    def __str__(self) -> str:
        """For a report."""
        asked = " and ".join(sorted(self.asked)) or "nothing asked for"
        return (
            f"{self.threads} threads, {self.dynamic} B dynamic, clusters of {self.cluster}, {asked}"
        )


class _Kernel(NamedTuple):
    name: str
    arch: str
    plain: Function
    any_cluster: Function  #: the same, allowed larger clusters: that cannot be taken back


def fits(trial: Trial) -> Iterator[Tally]:
    """Launches around every limit of kernels of each kind."""
    ledger = Ledger()
    per_kernel = trial.count(400, 60)
    for kernel in _kernels(trial):
        most = trial.capability.shared_memory.max_per_block_optin_bytes
        for tried in _samples(trial.chance, kernel, most, per_kernel):
            _hold(ledger, trial, kernel, tried)
        yield ledger.tally()
    for kernel, tried in _large(trial):
        _hold(ledger, trial, kernel, tried)
        ledger.add("with more than 48 KiB of static shared memory")
    yield ledger.tally()


def _kernels(trial: Trial) -> Iterator[_Kernel]:
    card, arch = trial.card, trial.card.device.compute_capability.sm
    names = ["plain", "own_shared", "bounded", "registers", "many_registers"]
    optional = [("REQUIRED", "required")]
    if trial.capability.cluster is not None:
        optional.append(("CLUSTERED", "clustered"))
    for defines, some in [((), names), *(((d,), [name]) for d, name in optional)]:
        try:
            plain = build(card, _SOURCE, some, defines=defines)
        except CompileError:  # a word that older compilers do not know
            continue
        allowed = build(card, _SOURCE, some, defines=defines)
        for one in allowed if trial.capability.cluster is not None else ():
            one.allow_any_cluster()
        for name, function, other in zip(some, plain, allowed, strict=True):
            yield _Kernel(name, arch, function, other)


def _large(trial: Trial) -> Iterator[tuple[_Kernel, _Tried]]:
    """Code for the ``a`` target may declare more static shared memory than others."""
    arch = f"{trial.card.device.compute_capability.sm}a"
    most = static_shared_limit(arch, trial.capability.shared_memory)
    if most <= _USUAL_BYTES or trial.capability.cluster is None:
        return
    for room, tried in (
        (0, ((0, ()), (4, (_OPT_IN_SHARED,)))),
        (4096, ((4096, (_OPT_IN_SHARED,)), (4096, ()))),
    ):
        try:
            found = build(
                trial.card, _SOURCE, ["large"], defines=[f"LARGE={most - room}"], suffix="a"
            )
        except CompileError:  # the assembler of CUDA 12 takes less
            return
        for dynamic, asked in tried:
            yield _Kernel("large", arch, *found, *found), _Tried(128, dynamic, 1, frozenset(asked))


def _samples(chance: random.Random, kernel: _Kernel, most: int, count: int) -> list[_Tried]:
    """Around every limit, with everything asked for and with each thing left out."""
    static = kernel.plain.static_shared_bytes
    edges = [_USUAL_BYTES - static, most - static]
    threads = [32, 33, 96, 128, 160, 256, 257, 288, 512, 768, 800, 992, 1024]
    dynamic = [0, 4096, *(edge + more for edge in edges for more in (-4, 0, 4))]
    sizes = [4, 4, 2, 8] if kernel.name == "clustered" else [1, 1, 2, 8, 9, 16, 17]
    every = list(product(threads, [d for d in dynamic if d >= 0], sizes, _ASKED))
    return [_Tried(*one) for one in chance.sample(every, min(count, len(every)))]


def _hold(ledger: Ledger, trial: Trial, kernel: _Kernel, tried: _Tried) -> None:
    predicted, found = _predicted(trial, kernel, tried), _launches(trial, kernel, tried)
    ledger.add("of these launched", int(found))
    words = {True: "launches", False: "refused"}
    ledger.compare(words[predicted], words[found], f"kernel {kernel.name}: {tried}")


def _predicted(trial: Trial, kernel: _Kernel, tried: _Tried) -> bool:
    function = kernel.plain
    fit = verdict(
        trial.target,
        ResourceDemand(
            threads=tried.threads,
            regs=function.registers,
            static_bytes=function.static_shared_bytes,
            dynamic_bytes=tried.dynamic,
            cluster=tried.cluster,
            arch=kernel.arch,
            max_threads=function.max_threads if kernel.name == "bounded" else None,
            required_threads=128 if kernel.name == "required" else None,
            required_cluster=_CLUSTERS.get(kernel.name),
        ),
    )
    return bool(fit.launches) and {change.kind for change in fit.conditions} <= tried.asked


def _launches(trial: Trial, kernel: _Kernel, tried: _Tried) -> bool:
    """Whether the driver takes it; anything but a refusal of this launch is an error."""
    import numpy as np

    function = kernel.any_cluster if _OPT_IN_CLUSTER in tried.asked else kernel.plain
    usual = max(0, _USUAL_BYTES - function.static_shared_bytes)
    own = _CLUSTERS.get(kernel.name, 1)
    launch = LaunchConfig(
        grid=(2 * tried.cluster, 1, 1),
        block=(tried.threads, 1, 1),
        dynamic_bytes=tried.dynamic,
        # one that is compiled in need not be named
        cluster=None if tried.cluster in {1, own} else (tried.cluster, 1, 1),
    )
    try:
        function.allow_dynamic(tried.dynamic if _OPT_IN_SHARED in tried.asked else usual)
        trial.card.launch(function, launch, (np.uint64(0),))
    except DeviceError:
        taken = False
    else:
        taken = True
    trial.card.wait()  # raises if it was more than a refusal
    return taken

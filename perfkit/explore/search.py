"""GPUs to choose from, and those that fit what was typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfkit.arch import catalog
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Sequence


@record
class Choice:
    """One product or capability."""

    name: str  #: as ``--gpu`` takes it
    text: str  #: what is said of it
    words: tuple[str, ...]  #: by which it is found, normalised


def choices() -> tuple[Choice, ...]:
    """Every product by key, then every bare capability, the newest first."""
    owners = {cc.compute_capability: cc for cc in catalog.all_capabilities()}
    found = []
    for gpu in catalog.all_gpus():
        owner = owners[gpu.compute_capability]
        names = (gpu.key, gpu.name, *catalog.aliases_of(gpu.key))
        about = (str(gpu.compute_capability), owner.architecture, gpu.segment)
        size = f"{gpu.memory.size_gib:g} GiB"
        text = f"{gpu.compute_capability}  {gpu.sm_count} SMs, {size}, {gpu.name}"
        found.append(_choice(gpu.key, text, (*names, *about)))
    for cc in sorted(owners.values(), key=lambda one: one.compute_capability, reverse=True):
        name = str(cc.compute_capability)
        text = f"{cc.architecture}, any product: no waves, no bound"
        found.append(_choice(name, text, (name, cc.compute_capability.sm, cc.architecture)))
    return tuple(found)


def _choice(name: str, text: str, words: tuple[str, ...]) -> Choice:
    return Choice(name=name, text=text, words=tuple(map(catalog.normalise, words)))


def matching(found: Sequence[Choice], query: str) -> tuple[Choice, ...]:
    """Those in which every word of the query occurs, the best first.

    The name that is the query comes first, then what is or starts with it in another way.
    """
    whole = catalog.normalise(query)
    parts = [catalog.normalise(part) for part in query.split()]

    def rank(one: Choice) -> int:
        if whole in one.words:
            return min(1, one.words.index(whole))
        return 2 if any(word.startswith(whole) for word in one.words) else 3

    def fits(one: Choice) -> bool:
        # as a whole, too: the maker's and the brand's words are no part of what is compared
        return all(any(part in word for word in one.words) for part in parts) or any(
            whole in word for word in one.words
        )

    return tuple(sorted(filter(fits, found), key=rank))

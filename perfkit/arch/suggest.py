"""What to say of a name that the database does not hold: what it may have meant."""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple

from perfkit.arch import load
from perfkit.arch.catalog import normalise
from perfkit.arch.nodes import nearest
from perfkit.arch.types import ComputeCapability
from perfkit.errors import UnknownTarget, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

#: words of a key that tell builds of one name apart; ``ti`` and ``laptop`` make another name
_BUILD: Final = re.compile(
    r"\d+gb|sxm\d?|pcie|nvl|gddr\d+x?|ddr\d|maxwell|pascal|blackwell|workstation|server|max|q"
    r"|agx|nx|nano"
)
#: words that people leave out
_SERIES: Final = re.compile(r"^(?:gtx|rtx|jetson)")


class _Kind(NamedTuple):
    """Names of which the database has none, and what to write instead."""

    pattern: re.Pattern[str]
    what: str
    hint: str


_OLDEST: Final = ComputeCapability(5, 0)
_RENAMED: Final = {"10.1": "11.0"}
#: shares of a card; ``whole`` is its name
_PARTS: Final = (
    _Kind(
        re.compile(
            r"(?P<whole>.*?)[\s_-]*+(?:MIG)?[\s_-]*+\b\d+c?\.?\d*g\.\d+gb(?:\+\S+)?", re.IGNORECASE
        ),
        "a slice of a GPU (MIG)",
        "name the whole product{name}: an SM of a slice is like any of its SMs, but it has fewer "
        "of them, and less of the bandwidth and of L2",
    ),
    _Kind(
        re.compile(r"(?:(?:NVIDIA|GRID)\s+)*(?P<whole>\S.*?)-\d{1,3}(?:[ABCQ]|CME)", re.IGNORECASE),
        "a virtual GPU",
        "name the card that it is part of{name}",
    ),
)
_OTHERS: Final = (
    _Kind(
        re.compile(r"^(?:pci\W*)?(?:(?:0x)?10de[:\s-]?(?:0x)?|0x)[0-9a-f]{4}$", re.IGNORECASE),
        "a PCI identity, and products are known by their names",
        "write what nvidia-smi --query-gpu=name prints, or 'device' for the card at hand",
    ),
    _Kind(
        re.compile(
            r"\b(?:gfx\d|mi\d{2,3}x?\b|radeon|instinct|amd\b|intel\b|arc a\d|apple|m\d max)",
            re.IGNORECASE,
        ),
        "no GPU of NVIDIA",
        "perfkit gpu list shows the products that are known",
    ),
    _Kind(
        re.compile(
            r"^(?:nvidia\s+)?(?:tesla\s+|grid\s+)?k(?:10|20[mcx]?|40[mcst]?|80)$", re.IGNORECASE
        ),
        "of Kepler, which is older than what the database holds",
        f"it begins with {_OLDEST}",
    ),
)


def unknown(what: str, text: str, known: Iterable[str]) -> UnknownTarget:
    """The error for ``text``; ``what`` was asked for: GPU, product or compute capability."""
    builds = builds_of(text)
    if what != "compute capability" and len(builds) > 1:
        return UnknownTarget(f"{text!r} names several products", hint=f"one of: {_list(builds)}")
    carriers = load.chips().get(normalise(text))
    if carriers:
        return UnknownTarget(f"{text!r} is the name of a chip", hint=_chip_hint(what, carriers))
    known = (*known,)
    near = suggestions(text, known)
    hint = f"nearest: {_list(near)}" if near else "perfkit arch list and gpu list show them all"
    return _stranger(text, known) or UnknownTarget(f"unknown {what} {text!r}", hint=hint)


def _stranger(text: str, known: Iterable[str]) -> UnknownTarget | None:
    """Of a name that is no misspelling: the database does not hold such things."""
    old = _number(text)
    typed_new = text.strip() in {"10", "11", "12"}  # more likely 10.0 than 1.0
    if old is not None and old < _OLDEST and not typed_new:
        return UnknownTarget(
            f"{text!r} is older than what the database holds", hint=f"it begins with {_OLDEST}"
        )
    if old is not None and (now := _RENAMED.get(str(old))):
        return UnknownTarget(
            f"{text!r} is the name of before CUDA 13", hint=f"write {now}, its name since"
        )
    for part in _PARTS:
        if match := part.pattern.fullmatch(text.strip()):
            whole = [name for name in known if normalise(name) == normalise(match["whole"])]
            name = f": {min(whole, key=lambda n: (len(n), n))}" if whole else ""
            return UnknownTarget(f"{text!r} is {part.what}", hint=part.hint.format(name=name))
    for other in _OTHERS:
        if other.pattern.search(text):
            return UnknownTarget(f"{text!r} is {other.what}", hint=other.hint)
    return None


def builds_of(text: str) -> tuple[str, ...]:
    """Keys of the products that are builds of that name: ``gtx-1060`` -> its 3 and 6 GB.

    >>> builds_of("NVIDIA TITAN X")
    ('titan-x-maxwell', 'titan-x-pascal')
    """
    typed = normalise(text)
    return tuple(key for key in sorted(load.files(load.GPUS)) if typed and typed in _short(key))


def _short(key: str) -> set[str]:
    """A key as it is compared, with any of the words that name a build left out."""
    choices = [(word, "") if _BUILD.fullmatch(word) else (word,) for word in key.split("-")]
    names = {normalise("".join(words)) for words in product(*choices)}
    return names | {_SERIES.sub("", name) for name in names}


def _chip_hint(what: str, carriers: tuple[str, ...]) -> str:
    files = load.files(load.GPUS)
    held = [key for key in carriers if key in files]
    numbers = {load.gpu_file(files[key]).compute_capability for key in held}
    capabilities = " or ".join(map(str, sorted(numbers)))
    if what == "compute capability":
        return f"write {capabilities}, its capability"
    products = f"a product that carries it: {_list(held)}"
    return products if what == "product" else f"{capabilities}, its capability, or {products}"


def _list(names: Iterable[str]) -> str:
    return ", ".join(names)


def suggestions(text: str, known: Iterable[str]) -> list[str]:
    """Three names at most: those that hold what was typed, and then similar ones.

    ``9`` is more likely the beginning of 9.0 than a part of gtx-950.
    """
    typed = normalise(text)
    names = {normalise(name): name for name in sorted(known, reverse=True)}
    holding = [name for name in names if typed and typed in name]
    holding.sort(
        key=lambda n: (not n.startswith(f"{typed}."), not n.startswith(typed), len(n), names[n])
    )
    similar = nearest(normalise(_as_number(text)), names, 3)
    return [names[name] for name in dict.fromkeys([*holding, *similar])][:3]


def _as_number(text: str) -> str:
    """``sm_91`` -> ``9.1``, which is near 9.0; other text as it is."""
    return str(_number(text) or text)


def _number(text: str) -> ComputeCapability | None:
    try:
        return ComputeCapability.parse(text)
    except UsageError:
        return None

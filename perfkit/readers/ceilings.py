"""``perfkit.ceilings/1``: what was measured on one product, as a JSON file.

    {"schema": "perfkit.ceilings/1",
     "gpu": "h200-sxm",
     "clock_mhz": 1980,
     "memory": [{"level": "dram", "bytes_per_s": 4.369e12}],
     "compute": [{"dtype": "bf16", "accumulate": "f32", "sparsity": "dense", "unit": "tensor",
                  "flop_per_s": 6.88e14}]}

``gpu`` is a product of the database. ``clock_mhz`` is the clock of the SMs during the measurement,
or null. ``level`` is dram, l2 or l1 (shared memory with it); ``compute`` has the keys of a peak. An
entry may come several times, for each way of measuring: the best is the ceiling. Other keys are
passed over, so that whoever writes the file can say how it was measured.

A file about several cards has a list instead, ``"cards": [{"gpu": …, "memory": …}, …]``, of objects
with the same keys. Of a product the best of its cards is the ceiling: none of them may beat it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, TypeVar

from perfkit import files
from perfkit.arch import catalog
from perfkit.arch.peaks import PeakKey
from perfkit.errors import InputError, UsageError
from perfkit.kernel import DType
from perfkit.models.roofs import Ceilings

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

SCHEMA: Final = "perfkit.ceilings/1"
_MOST_BYTES: Final = 16 * 2**20
_LEVELS: Final = ("dram", "l2", "l1")
_SPARSITIES: Final = ("dense", "sparse")
_UNITS: Final = ("simt", "tensor")
Key = TypeVar("Key")
_HINT: Final = "perfkit schema ceilings shows what the file has to hold"


def read(path: str | Path) -> Ceilings:
    """The ceilings of a file; raises as ``parse``, and ``InputError`` where it cannot be read."""
    return of_one_product(read_cards(path))


def read_cards(path: str | Path) -> tuple[Ceilings, ...]:
    """The same, of each card that the file is about."""
    return parse_cards(files.read(path, _MOST_BYTES, "a file of ceilings"), files.shown(path))


def parse(text: str | bytes, origin: str) -> Ceilings:
    """The ceilings of a file, which is about one product.

    Args:
        text: what the file holds.
        origin: its name, for messages and for what is made of it.

    Raises:
        InputError: not JSON, of another schema, empty, a product that the database does not hold,
            several products, or a value that cannot be one.
    """
    return of_one_product(parse_cards(text, origin))


def of_one_product(cards: Sequence[Ceilings]) -> Ceilings:
    """The best of the cards, each figure by itself.

    Raises:
        InputError: they are of several products.
    """
    first = cards[0]
    products = dict.fromkeys(one.gpu for one in cards)
    if len(products) > 1:
        raise InputError(
            f"holds ceilings of {' and '.join(products)}: here those of one product are asked for",
            where=first.origin,
            hint="perfkit ceilings --device N -f json -o FILE writes those of one card",
        )
    if len(cards) == 1:
        return first
    return Ceilings(
        gpu=first.gpu,
        compute=_best([one.compute for one in cards], max),
        memory=_best([one.memory for one in cards], max),
        clock_hz=max((one.clock_hz for one in cards if one.clock_hz), default=None),
        origin=first.origin,
        mixes=_best([one.mixes for one in cards], max),
        latencies_s=_best([one.latencies_s for one in cards], min),
        instructions=_best([one.instructions for one in cards], max),
        launch_s=min((one.launch_s for one in cards if one.launch_s), default=None),
        cards=len(cards),
    )


def _best(
    found: Sequence[dict[Key, float]], best: Callable[[list[float]], float]
) -> dict[Key, float]:
    keys = dict.fromkeys(key for one in found for key in one)
    return {key: best([one[key] for one in found if key in one]) for key in keys}


def parse_cards(text: str | bytes, origin: str) -> tuple[Ceilings, ...]:
    """The ceilings of each card of a file; raises as ``parse``, several products apart."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"is no JSON: {error}", where=origin, hint=_HINT) from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        found = document.get("schema") if isinstance(document, dict) else type(document).__name__
        raise InputError(f"the schema is {found!r}, not {SCHEMA!r}", where=origin, hint=_HINT)
    if "cards" not in document:
        return (_card(document, origin, origin),)
    # a card that is no product, or that failed, cannot take the place of a data sheet
    cards = tuple(
        _card(entry, where, origin)
        for where, entry in _entries(document, "cards", origin)
        if entry.get("gpu") is not None and (entry.get("memory") or entry.get("compute"))
    )
    if not cards:
        hint = f"each of cards has a gpu, and memory or compute: {_HINT}"
        raise InputError("holds no ceiling of a product", where=origin, hint=hint)
    stated, found = document.get("gpu"), {one.gpu for one in cards}
    if stated is not None and found != {_gpu(stated, origin)}:
        products = ", ".join(sorted(found))
        hint = f"leave gpu out where the cards are of several products: {_HINT}"
        raise InputError(f"gpu is {stated!r}, its cards are {products}", where=origin, hint=hint)
    return cards


def _card(document: dict[str, Any], origin: str, file: str) -> Ceilings:
    """What one object says, which stands at ``origin`` in ``file``."""
    memory: dict[str, float] = {}
    for where, entry in _entries(document, "memory", origin):
        level = _one_of(entry, "level", _LEVELS, where)
        memory[level] = max(memory.get(level, 0), _number(entry, "bytes_per_s", where))
    compute: dict[PeakKey, float] = {}
    for where, entry in _entries(document, "compute", origin):
        key = PeakKey(
            DType(_one_of(entry, "dtype", tuple(DType), where)),
            DType(_one_of(entry, "accumulate", tuple(DType), where)),
            _one_of(entry, "sparsity", _SPARSITIES, where),
            _one_of(entry, "unit", _UNITS, where),
        )
        compute[key] = max(compute.get(key, 0), _number(entry, "flop_per_s", where))
    mixes, latencies = _mixes(document, origin), _latencies(document, origin)
    if not memory and not compute:
        raise InputError("holds no ceiling", where=origin, hint=_HINT)
    has_clock = document.get("clock_mhz") is not None
    return Ceilings(
        gpu=_gpu(document.get("gpu"), origin),
        compute=compute,
        memory=memory,
        clock_hz=_number(document, "clock_mhz", origin) * 1e6 if has_clock else None,
        origin=file,
        mixes=mixes,
        latencies_s=latencies,
        instructions=_instructions(document, origin),
        launch_s=_launch_s(document, origin),
        uuid=_uuid(document),
    )


def _uuid(document: dict[str, Any]) -> str | None:
    about = document.get("environment")
    uuid = about.get("uuid") if isinstance(about, dict) else None
    return uuid if isinstance(uuid, str) else None


def _mixes(document: dict[str, Any], origin: str) -> dict[str, float]:
    """Bandwidths of DRAM by mix, the best of each: ``"what": "dram copy"``."""
    found: dict[str, float] = {}
    for where, entry in _entries(document, "memory", origin):
        level, _, mix = str(entry.get("what", "")).partition(" ")
        if level == "dram" == entry["level"] and mix:
            found[mix] = max(found.get(mix, 0), _number(entry, "bytes_per_s", where))
    return found


def _instructions(document: dict[str, Any], origin: str) -> dict[str, float]:
    """The best rate of each kind: ``"what": "bf16/f32 mma.sync m16n8k16"``, the shape left out."""
    found: dict[str, float] = {}
    for where, entry in _entries(document, "compute", origin):
        name = " ".join(str(entry.get("what", "")).split()[:2])
        if entry["unit"] == "tensor" and name:
            found[name] = max(found.get(name, 0), _number(entry, "flop_per_s", where))
    return found


def _latencies(document: dict[str, Any], origin: str) -> dict[str, float]:
    """Seconds of a load by level: ``"group": "latency", "what": "l2", "unit": "s"``."""
    return {
        level: _number(entry, "value", where)
        for where, entry in _entries(document, "others", origin)
        if entry.get("group") == "latency" and entry.get("unit") == "s"
        for level in _LEVELS
        if entry.get("what") == level
    }


def _launch_s(document: dict[str, Any], origin: str) -> float | None:
    """The least that a launch takes: ``"group": "launch", "what": "empty kernel", "unit": "s"``."""
    found = [
        _number(entry, "value", where)
        for where, entry in _entries(document, "others", origin)
        if (entry.get("group"), entry.get("what")) == ("launch", "empty kernel")
    ]
    return min(found, default=None)


def _gpu(name: Any, origin: str) -> str:
    if not isinstance(name, str):
        raise InputError(f"gpu is {name!r}, not a product", where=origin, hint=_HINT)
    try:
        return catalog.gpu(name).key
    except UsageError as error:
        raise InputError(error.message, where=f"{origin}: gpu", hint=error.hint) from None


def _entries(document: dict[str, Any], key: str, origin: str) -> list[tuple[str, dict[str, Any]]]:
    found = document.get(key, [])
    if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
        raise InputError("is no list of objects", where=f"{origin}: {key}", hint=_HINT)
    return [(f"{origin}: {key}[{place}]", entry) for place, entry in enumerate(found)]


def _one_of(entry: dict[str, Any], key: str, known: Collection[str], where: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or value not in known:
        raise InputError(f"{key} is {value!r}", where=where, hint=f"one of: {', '.join(known)}")
    return value


def _number(entry: dict[str, Any], key: str, where: str) -> float:
    value = entry.get(key)
    # NaN is in no range, and an integer of any length is JSON, too
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e30:
        return float(value)
    raise InputError(f"{key} is not a positive number", where=where, hint=_HINT)

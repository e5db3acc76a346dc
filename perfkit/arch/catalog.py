"""The database by name: what people type, and what it stands for.

A name is a product's key, alias or full name, a compute capability (``9.0``, ``sm_90a``) or an
architecture (``hopper``). Case, spaces, hyphens and underscores do not matter, nor do the words
NVIDIA, GeForce and Tesla in front. A name that the database does not hold is an error: nothing
stands in for it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NoReturn

from perfkit.arch import load
from perfkit.arch.peaks import Peak, peaks
from perfkit.arch.types import ComputeCapability, Target
from perfkit.errors import UnknownTarget, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from perfkit.arch.types import Capability, Gpu

__all__ = [
    "Peak",
    "aliases_of",
    "all_capabilities",
    "all_gpus",
    "capability",
    "capability_keys",
    "gpu",
    "gpu_keys",
    "names",
    "peaks",
    "targets",
]

ALL: Final = "all"
_SEPARATORS: Final = re.compile(r"[\s_-]+")
#: words that the driver and the box print and that never tell two products apart
_BRAND: Final = re.compile(r"(?:nvidia)?(?:geforce(?=gt|rtx)|tesla(?=[a-z]\d))?")


def normalise(name: str) -> str:
    """What is compared when names are.

    >>> normalise("NVIDIA GeForce RTX 4090") == normalise("rtx-4090")
    True
    """
    joined = _SEPARATORS.sub("", name.lower())
    return joined[_match_end(joined) :] or joined


def capability_keys() -> tuple[str, ...]:
    """All capabilities as ``9.0``, ascending."""
    return tuple(str(cc) for cc in _capability_files())


def gpu_keys() -> tuple[str, ...]:
    """The keys of all products, sorted."""
    return tuple(sorted(load.files(load.GPUS)))


def names() -> tuple[str, ...]:
    """Everything that ``targets`` accepts without reading a product: for completion.

    Architectures are left out, as only the files know them.
    """
    return (ALL, *capability_keys(), *sorted({*gpu_keys(), *load.aliases()}))


def aliases_of(key: str) -> tuple[str, ...]:
    """The other names of a product, sorted."""
    return tuple(sorted(name for name, target in load.aliases().items() if target == key))


def all_capabilities() -> tuple[Capability, ...]:
    """Every capability, ascending. Reads all their files."""
    return tuple(load.capability_file(path) for path in _capability_files().values())


def all_gpus() -> tuple[Gpu, ...]:
    """Every product, by key. Reads all their files."""
    return tuple(load.gpu_file(path) for _, path in sorted(load.files(load.GPUS).items()))


def capability(text: str) -> Capability:
    """The capability that ``9.0``, ``90``, ``sm_90a``, ``compute_90`` or ``hopper`` names.

    Raises:
        UnknownTarget: the database does not hold it, or an architecture has several.
        ArchDataError: its file breaks the schema.
    """
    found = _capability(text)
    if found is not None:
        return found
    family = _family(text)
    if len(family) == 1:
        return family[0]
    if family:
        several = ", ".join(str(cc.compute_capability) for cc in family)
        raise UnknownTarget(f"{text!r} has several capabilities", hint=f"one of: {several}")
    product = _gpu(text)
    if product is not None:
        raise UnknownTarget(
            f"{text!r} is a product, not a capability", hint=f"write {product.compute_capability}"
        )
    _unknown(text, "a compute capability", capability_keys())


def gpu(text: str) -> Gpu:
    """The product of that key, alias or name.

    Raises:
        UnknownTarget: the database does not hold it.
        ArchDataError: its file breaks the schema.
    """
    found = _gpu(text)
    if found is None:
        _unknown(text, "a product", {*gpu_keys(), *load.aliases()})
    return found


def targets(text: str) -> tuple[Target, ...]:
    """What a comma-separated list of names stands for, in its order and without repetition.

    ``all`` is every capability, an architecture all of its capabilities.

    Raises:
        UnknownTarget: a name that the database does not hold.
        UsageError: no name, or an empty one between commas.
        ArchDataError: a file breaks the schema.
    """
    found: dict[str, Target] = {}
    for name in _text(text).split(","):
        if not name.strip():
            raise UsageError(
                f"an empty name in {text!r}", hint="write h100, 9.0, hopper or all; commas separate"
            )
        for target in _targets(name.strip()):
            found.setdefault(target.label, target)
    return tuple(found.values())


def _targets(name: str) -> tuple[Target, ...]:
    if normalise(name) == ALL:
        return tuple(map(_bare, all_capabilities()))
    cc = _capability(name)
    if cc is not None:
        return (_bare(cc),)
    product = _gpu(name, search=False)
    if product is None:
        family = _family(name)
        if family:
            return tuple(map(_bare, family))
        product = _gpu(name)
    if product is None:
        known = {*gpu_keys(), *load.aliases(), *capability_keys()}
        known |= {cc.architecture.lower() for cc in all_capabilities()}
        _unknown(name, "a GPU, a compute capability or an architecture", known)
    owner = capability(str(product.compute_capability))
    return (Target(label=product.key, capability=owner, gpu=product),)


def _bare(cc: Capability) -> Target:
    return Target(label=str(cc.compute_capability), capability=cc, gpu=None)


def _text(text: str) -> str:
    if not isinstance(text, str):
        raise UsageError(f"{text!r} is not a name", hint='write capabilities as text: "9.0"')
    return text


def _match_end(joined: str) -> int:
    match = _BRAND.match(joined)
    return match.end() if match else 0


def _capability_files() -> dict[ComputeCapability, Path]:
    found = {}
    for stem, path in load.files(load.CAPABILITIES).items():
        try:
            found[ComputeCapability.parse(stem)] = path
        except UsageError:
            continue  # not named like a capability: audit reports it
    return dict(sorted(found.items()))


def _capability(text: str) -> Capability | None:
    try:
        cc = ComputeCapability.parse(_text(text))
    except UsageError:
        return None
    path = load.files(load.CAPABILITIES).get(cc.sm)
    if path is None:
        _unknown(text, "a compute capability of the database", capability_keys())
    return load.capability_file(path)


def _gpu(text: str, *, search: bool = True) -> Gpu | None:
    """By key, then by alias, both without reading a product; then by the names in the files."""
    wanted = normalise(_text(text))
    files = {normalise(key): path for key, path in load.files(load.GPUS).items()}
    if wanted not in files:
        for alias, key in load.aliases().items():
            if normalise(alias) == wanted:
                wanted = normalise(key)
                break
    if wanted in files:
        return load.gpu_file(files[wanted])
    if search:
        for product in all_gpus():
            if normalise(product.name) == wanted:
                return product
    return None


def _family(text: str) -> tuple[Capability, ...]:
    """All capabilities of an architecture, by its name or the first word of it."""
    wanted = normalise(text)
    return tuple(
        cc
        for cc in all_capabilities()
        if wanted in {normalise(cc.architecture), normalise(cc.architecture.split()[0])}
    )


def _unknown(text: str, what: str, known: Iterable[str]) -> NoReturn:
    from perfkit.arch.nodes import nearest

    by_norm = {normalise(name): name for name in sorted(known)}
    near = [by_norm[name] for name in nearest(normalise(text), by_norm, 3)]
    hint = f"nearest: {', '.join(near)}" if near else "perfkit arch list and gpu list show them all"
    raise UnknownTarget(f"{text!r} is not {what}", hint=hint)

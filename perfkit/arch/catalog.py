"""The database by name: what people type, and what it stands for.

A name is a product's key, alias or full name, a compute capability (``9.0``, ``sm_90a``) or an
architecture (``hopper``). Case, spaces, hyphens, underscores and parentheses do not matter, nor do
the words NVIDIA, GeForce and Tesla in front, nor the size of the memory behind, if it is right. A
name that the database does not hold is an error: nothing stands in for it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from perfkit.arch import load, spelling
from perfkit.arch.spelling import SEPARATORS
from perfkit.arch.types import ComputeCapability, Target
from perfkit.errors import UnknownTarget, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from perfkit.arch.types import Capability, Gpu

__all__ = [
    "aliases_of",
    "all_capabilities",
    "all_gpus",
    "capability",
    "capability_keys",
    "capability_of",
    "gpu",
    "gpu_keys",
    "names",
    "targets",
]

ALL: Final = "all"
#: words that the driver and the box print and that never tell two products apart
_BRAND: Final = re.compile(r"^(?:nvidia)?(?:geforce(?=gt|rtx)|tesla(?=[a-z]\d))?")


def normalise(name: str) -> str:
    """What is compared when names are.

    >>> normalise("NVIDIA GeForce RTX 4090") == normalise("rtx-4090")
    True
    """
    joined = SEPARATORS.sub("", name.lower())
    return _BRAND.sub("", joined) or joined


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
    return tuple(_product(path) for _, path in sorted(load.files(load.GPUS).items()))


def capability(text: str) -> Capability:
    """The capability that ``9.0``, ``90``, ``sm_90a``, ``compute_90`` or ``hopper`` names.

    Raises:
        UnknownTarget: the database does not hold it, or an architecture has several.
        ArchDataError: its file breaks the schema.

    >>> capability("8.6").shared_memory.per_sm_bytes, capability("turing").architecture
    (102400, 'Turing')
    """
    found, product = capability_of(text)
    if product is not None:
        raise UnknownTarget(
            f"{text!r} is a product, not a capability", hint=f"write {product.compute_capability}"
        )
    return found


def capability_of(text: str) -> tuple[Capability, Gpu | None]:
    """As ``capability``, but a product stands for its own, and is returned beside it."""
    found = _capability(text)
    if found is not None:
        return found, None
    family = _family(text)
    if len(family) == 1:
        return family[0], None
    if family:
        several = ", ".join(str(cc.compute_capability) for cc in family)
        raise UnknownTarget(f"{text!r} has several capabilities", hint=f"one of: {several}")
    product = _gpu(text)
    if product is None:
        raise _unknown("compute capability", text, capability_keys())
    return capability(str(product.compute_capability)), product


def gpu(text: str) -> Gpu:
    """The product of that key, alias or full name.

    Raises:
        UnknownTarget: the database does not hold it.
        ArchDataError: its file breaks the schema.

    >>> gpu("h100").name, gpu("h100").sm_count
    ('H100 SXM5 80GB', 132)
    """
    found = _gpu(text)
    if found is not None:
        return found
    if str(_parse(text)) in capability_keys():
        raise UnknownTarget(
            f"{text!r} is a capability, not a product", hint=f"perfkit arch show {_parse(text)}"
        )
    raise _unknown("product", text, {*gpu_keys(), *load.aliases()})


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
    """What can be found without reading other files is tried first."""
    if normalise(name) == ALL:
        return tuple(map(_bare, all_capabilities()))
    cc = _capability(name)
    if cc is not None:
        return (_bare(cc),)
    product = _gpu_by_key(name)
    if product is None and (family := _family(name)):
        return tuple(map(_bare, family))
    product = product or _gpu_by_name(name) or _pasted(name)
    if product is None:
        architectures = {cc.architecture.lower() for cc in all_capabilities()}
        known = {*gpu_keys(), *load.aliases(), *capability_keys(), *architectures}
        raise _unknown("GPU", name, known)
    owner = capability(str(product.compute_capability))
    return (Target(label=product.key, capability=owner, gpu=product),)


def _bare(cc: Capability) -> Target:
    return Target(label=str(cc.compute_capability), capability=cc, gpu=None)


def _text(text: str) -> str:
    if not isinstance(text, str):
        raise UsageError(f"{text!r} is not a name", hint='write capabilities as text: "9.0"')
    return text


def _capability_files() -> dict[ComputeCapability, Path]:
    """By number; a file that is not named like a capability is left to the audit."""
    files = load.files(load.CAPABILITIES).items()
    return dict(sorted((cc, path) for stem, path in files if (cc := _parse(stem))))


def _capability(text: str) -> Capability | None:
    cc = _parse(_text(text))
    path = load.files(load.CAPABILITIES).get(cc.sm) if cc else None
    return load.capability_file(path) if path else None


def _parse(text: str) -> ComputeCapability | None:
    try:
        return ComputeCapability.parse(text)
    except UsageError:
        return None


def _gpu(text: str) -> Gpu | None:
    return _gpu_by_key(text) or _gpu_by_name(text) or _pasted(text)


def _gpu_by_key(text: str) -> Gpu | None:
    """By key, then by alias. Reads the aliases and that product, or not even those."""
    files = load.files(load.GPUS)
    if _text(text) in files:
        return _product(files[text])
    aliases = load.aliases()
    key = aliases.get(text)
    if key is None:
        wanted = normalise(text)
        names = {normalise(alias): key for alias, key in aliases.items()}
        names.update((normalise(key), key) for key in files)
        key = names.get(wanted) or _in_another_order(text, {**aliases, **{k: k for k in files}})
    if key is None:
        return None
    if key not in files:
        raise UnknownTarget(
            f"{text!r} stands for {key!r}, which the database does not hold",
            hint=f"correct {load.ALIASES}, or add {load.GPUS}/{key}.yaml",
        )
    return _product(files[key])


def _in_another_order(text: str, names: Mapping[str, str]) -> str | None:
    """The product of a name with the same words: ``A100 80GB SXM``; None: of none, or of several.

    ``names`` lead to keys.
    """
    wanted = sorted(_words(text))
    found = {key for name, key in names.items() if sorted(_words(name)) == wanted}
    return found.pop() if len(wanted) > 1 and len(found) == 1 else None


def _words(name: str) -> list[str]:
    words = SEPARATORS.split(name.strip().lower())
    return [word for word in words if word not in {"nvidia", "geforce", "tesla"}]


def _product(path: Path) -> Gpu:
    """Read one product. A user's may refer to what is nowhere; the shipped ones are audited."""
    if load.overlay() is not None:
        from perfkit.arch.references import refuse_broken

        refuse_broken(path)
    return load.gpu_file(path)


def _gpu_by_name(text: str) -> Gpu | None:
    """By the names in the files, so it reads them all."""
    wanted = normalise(text)
    return next((product for product in all_gpus() if normalise(product.name) == wanted), None)


def _pasted(text: str) -> Gpu | None:
    """By the name in a line of a tool, or in front of the size of that product's memory."""
    name = spelling.within(text)
    if name is not None:
        return _gpu(name)
    sized = spelling.sized(text)
    product = _gpu(sized.name) if sized else None
    if product is None or sized is None or product.memory.size_gib != sized.memory_gib:
        return None
    return product


def _family(text: str) -> tuple[Capability, ...]:
    """All capabilities of an architecture, by its name or the first word of it."""
    wanted = normalise(text)
    return tuple(
        cc
        for cc in all_capabilities()
        if wanted in {normalise(cc.architecture), normalise(cc.architecture.split()[0])}
    )


def _unknown(what: str, text: str, known: Iterable[str]) -> UnknownTarget:
    from perfkit.arch.suggest import unknown

    return unknown(what, text, known)

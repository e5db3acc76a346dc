"""From a source to kernels on the card: compiled by NVRTC for this very card, through the cache."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from perfkit.compiled.compile_options import CompileOptions
from perfkit.compiled.nvrtc import compile_source
from perfkit.errors import InputError

if TYPE_CHECKING:
    from perfkit.compiled.cache import CompiledSource
    from perfkit.device.backend import Card, Function

#: perfkit's own kernels, one file for each topic
KERNELS: Final = Path(__file__).parent / "kernels"


def arch_of(card: Card, suffix: str = "") -> str:
    """What to compile for: ``sm_90``, or with the suffix ``a`` ``sm_90a``."""
    return card.device.compute_capability.sm + suffix


def compile_for(
    card: Card, source: Path, *, defines: Sequence[str] = (), suffix: str = ""
) -> CompiledSource:
    """One of perfkit's own sources for this card.

    Raises:
        Unavailable: no NVRTC, or one that does not know this card.
        CompileError: the compiler refuses the source.
    """
    options = CompileOptions(defines=tuple(defines), compiler="nvrtc")
    return compile_source(source, arch=arch_of(card, suffix), options=options)


def build(
    card: Card,
    source: str,
    names: Sequence[str],
    *,
    defines: Sequence[str] = (),
    suffix: str = "",
) -> tuple[Function, ...]:
    """The kernels ``names`` of ``kernels/<source>``, loaded.

    Raises:
        Unavailable, CompileError: as ``compile_for``.
        DeviceError: the driver refuses the code.
    """
    compiled = compile_for(card, KERNELS / source, defines=defines, suffix=suffix)
    return card.load(compiled.cubin, names)


def build_text(
    card: Card, text: str, names: Sequence[str], *, suffix: str = ""
) -> tuple[Function, ...]:
    """The same for a source that was written by a function."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "generated.cu")
        path.write_text(text, encoding="utf-8")
        compiled = compile_for(card, path, suffix=suffix)
    return card.load(compiled.cubin, names)


def build_path(
    card: Card, path: str, kernel: str, *, defines: Sequence[str] = (), suffix: str = ""
) -> Function:
    """A kernel of a user's source: its symbol, its name, or an instance of a template.

    Raises:
        InputError: the file cannot be read, or has no such kernel, or several.
        Unavailable, CompileError, DeviceError: as above.
    """
    from perfkit.compiled.names import shown_names

    expressions = (kernel,) if "<" in kernel else ()
    options = CompileOptions(defines=tuple(defines), compiler="nvrtc", name_expressions=expressions)
    compiled = compile_source(path, arch=arch_of(card, suffix), options=options)
    names = shown_names(symbol for symbol, _ in compiled.entries)
    wanted = kernel.replace(" ", "")
    found = [s for s, name in names.items() if wanted in {s, name.replace(" ", "")}]
    if not found and expressions and len(names) == 1:
        found = list(names)
    if len(found) != 1:
        known = ", ".join(sorted(names.values())) or "none: is it __global__, or a template?"
        raise InputError(f"no kernel called {kernel!r}", where=path, hint=f"it has: {known}")
    return card.load(compiled.cubin, found)[0]

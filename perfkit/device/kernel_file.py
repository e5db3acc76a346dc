"""A YAML file that says how a kernel of the user's is launched and checked.

    file: scale.cu
    kernel: scale
    grid: (n + threads - 1) / threads
    threads: 256
    args:
      - n:i32=1<<24
      - a:f32=1.5
      - x:f32[n]
      - out y:f32[n]
    flops: n
    reference: scale_reference.py:scale

Names of files are relative to the YAML file. Keys are those of ``KernelSpec``, with ``file`` for
the path, ``args`` for the arguments and ``defines`` for macros.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from perfkit.arch.nodes import Source, nearest
from perfkit.device.user_kernel import KernelSpec
from perfkit.errors import InputError

_REQUIRED: Final = ("file", "kernel", "grid", "threads")
_TEXTS: Final = ("smem_dynamic", "cluster", "flops", "bytes", "dtype", "unit", "reference")
_LISTS: Final = {"args": "arguments", "defines": "defines"}
_KNOWN: Final = (*_REQUIRED, *_TEXTS, *_LISTS, "tolerance")


def read(path: Path) -> KernelSpec:
    """The spec of a file.

    Raises:
        InputError: it cannot be read, or a key is unknown, missing or has the wrong type.
    """
    source = Source(path, "a file that describes a kernel")
    entries = source.mapping(source.root, "")
    for name, (key, _) in entries.items():
        if name not in _KNOWN:
            close = nearest(name, _KNOWN)
            hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(_KNOWN)}"
            source.fail(key, f"unknown key {name!r}", hint)
    for name in _REQUIRED:
        if name not in entries:
            source.fail(source.root, f"there is no {name!r}")
    values: dict[str, Any] = {
        name: _text(source, entries[name][1], name) for name in _TEXTS if name in entries
    }
    values |= {
        field: tuple(
            _text(source, node, f"{name}[{place}]")
            for place, node in enumerate(source.sequence(entries[name][1], name))
        )
        for name, field in _LISTS.items()
        if name in entries
    }
    if "tolerance" in entries:
        values["tolerance"] = _tolerance(source, entries["tolerance"][1])
    if "reference" in values:
        values["reference"] = _beside(path, values["reference"])
    kernel, grid, threads = (_text(source, entries[k][1], k) for k in _REQUIRED[1:])
    file = path.parent / _text(source, entries["file"][1], "file")
    if not file.is_file():
        raise InputError(f"there is no file {file}", where=source.at(entries["file"][1]))
    return KernelSpec(path=str(file), kernel=kernel, grid=grid, threads=threads, **values)


def _text(source: Source, node: Any, path: str) -> str:
    """Text, or a number as it is written."""
    if getattr(node, "tag", "").rpartition(":")[2] in {"int", "float"}:
        return str(node.value)
    return source.string(node, path)


def _tolerance(source: Source, node: Any) -> float:
    text = _text(source, node, "tolerance")
    try:
        value = float(text)
    except ValueError:
        source.fail(node, f"tolerance: {text!r} is no number")
    return value


def _beside(path: Path, reference: str) -> str:
    """A reference in a file of Python is looked for beside the YAML file."""
    module, _, function = reference.rpartition(":")
    return f"{path.parent / module}:{function}" if module.endswith(".py") else reference

"""A kernel in Triton's cache: how it is launched, and its cubin beside that.

Triton keeps one folder per kernel, ``<name>.json`` with what the compiler decided and
``<name>.cubin`` with the code; TorchInductor's caches embed the same folders. Fields as written by
Triton 2.1 to 3.9: ``target`` is an object or a list (backend, architecture, warp size), before that
``arch`` or ``cc`` stands alone. ``shared`` is the dynamic shared memory of the launch, in bytes; a
kernel of Triton declares no static one.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from perfkit.compiled.cubin import read_cubin
from perfkit.compiled.files import cubin_bytes
from perfkit.compiled.reading import Reading
from perfkit.errors import InputError
from perfkit.files import shown
from perfkit.kernel import KernelResources
from perfkit.record import record

if TYPE_CHECKING:
    from pathlib import Path

_MOST_BYTES: Final = 2**20  #: of metadata; Triton writes two or three thousand
_GROUP: Final = "__grp__"  #: files that list the others of a folder
_CUDA: Final = "cuda"
_WARP: Final = 32
_ARCH: Final = re.compile(r"(?:sm_?|compute_?)?(\d{2,3})([af]?)", re.ASCII)

_WITHOUT_CUBIN: Final = (
    "registers_per_thread",
    "stack_bytes",
    "frame_bytes",
    "cumulative_stack_bytes",
    "unbounded_stack",
    "spill_store_bytes",
    "spill_load_bytes",
    "callee_spill_store_bytes",
    "callee_spill_load_bytes",
    "local_bytes",
    "constant_bytes",
    "parameter_bytes",
    "barriers",
    "max_threads",
    "min_blocks",
    "required_block",
    "required_cluster",
    "max_cluster_blocks",
    "uses_dynamic_shared",
)
_NOT_STATED: Final = "Triton's metadata do not say"


@record
class Foreign:
    """A kernel for a device that is not NVIDIA's."""

    backend: str


@record
class _Launch:
    """What the metadata says; None: it does not."""

    name: str
    arch: str
    threads: int | None
    shared_bytes: int | None
    stages: int | None
    cluster: tuple[int, int, int] | None


def read_entry(path: Path) -> Reading | Foreign | None:
    """The kernel that a metadata file describes; None: the file is something else.

    Never raises for what the file holds: a broken cubin leaves what the metadata say, and a note.
    """
    metadata = _load(path)
    if metadata is None:
        return None
    backend, arch = _target(metadata)
    if backend != _CUDA:
        return Foreign(backend=backend)
    if (launch := _launch(metadata, path.stem, arch)) is None:
        return None
    cubin = path.with_suffix(".cubin")
    if not cubin.is_file():
        why = "Triton's metadata do not say, and the cubin is not beside them"
        return Reading(kernels=(_without_code(path, launch, why),))
    try:
        kernel = _pick(read_cubin(cubin_bytes(cubin), origin=shown(cubin)), launch.name)
    except InputError as error:
        kernel = _without_code(path, launch, f"{cubin.name} cannot be read")
        return Reading(
            kernels=(kernel,), notes=(f"{shown(path)}: {cubin.name} cannot be read: {error}",)
        )
    return Reading(kernels=(_with_launch(kernel, launch),))


def _load(path: Path) -> dict[str, Any] | None:
    """The metadata, if that is what the file is: cheap for files that are not."""
    if path.name.startswith(_GROUP):
        return None
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        found = json.loads(data) if len(data) <= _MOST_BYTES and b'"num_warps"' in data else None
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and "shared" in found else None


def _target(metadata: dict[str, Any]) -> tuple[str, object]:
    """Backend and architecture, of every generation."""
    target = metadata.get("target")
    if isinstance(target, dict):
        backend, arch = target.get("backend"), target.get("arch")
    elif isinstance(target, list) and target:
        backend, arch = target[0], target[1] if len(target) > 1 else None
    else:
        backend, arch = metadata.get("backend_name") or metadata.get("device_type"), target
    for key in ("arch", "cc", "compute_capability", "capability"):
        arch = metadata.get(key) if arch is None else arch
    if isinstance(arch, str) and arch.startswith("gfx"):
        backend = "hip"
    return (backend if isinstance(backend, str) else _CUDA), arch


def _launch(metadata: dict[str, Any], stem: str, arch: object) -> _Launch | None:
    match = _ARCH.fullmatch(str(arch))
    if match is None:
        return None
    name = metadata.get("name")
    warps, lanes = _number(metadata.get("num_warps")) or None, _lanes(metadata)
    return _Launch(
        name=name if isinstance(name, str) and name.isprintable() and name else stem,
        arch=f"sm_{match[1]}{match[2]}",
        threads=None if warps is None else warps * lanes,
        shared_bytes=_number(metadata.get("shared")),
        stages=_number(metadata.get("num_stages")),
        cluster=_cluster(metadata),
    )


def _number(value: object) -> int | None:
    sane = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31
    return int(value) if sane and isinstance(value, int) else None


def _lanes(metadata: dict[str, Any]) -> int:
    target = metadata.get("target")
    inside = target.get("warp_size") if isinstance(target, dict) else None
    if isinstance(target, list) and len(target) > 2:
        inside = target[2]
    return _number(inside) or _number(metadata.get("warp_size")) or _WARP


def _cluster(metadata: dict[str, Any]) -> tuple[int, int, int] | None:
    """Blocks per cluster: their shape in older files, their number in newer ones."""
    shape = metadata.get("cluster_dims")
    if isinstance(shape, list) and len(shape) == 3:
        x, y, z = (_number(size) or 1 for size in shape)
        if x * y * z > 1:
            return x, y, z
    blocks = _number(metadata.get("num_ctas"))
    return (blocks, 1, 1) if blocks is not None and blocks > 1 else None


def _pick(kernels: tuple[KernelResources, ...], name: str) -> KernelResources:
    return next((kernel for kernel in kernels if kernel.name == name), kernels[0])


def _with_launch(kernel: KernelResources, launch: _Launch) -> KernelResources:
    """The cubin decides: it counts the warps that Triton adds to specialise them."""
    block = kernel.required_block
    launched = {
        "threads": launch.threads if block is None else math.prod(block),
        "dynamic_shared_bytes": launch.shared_bytes,
        "num_stages": launch.stages,
    }
    found: dict[str, Any] = launched | {
        "required_cluster": kernel.required_cluster or launch.cluster
    }
    unknown = {key: why for key, why in kernel.unknown.items() if found.get(key) is None}
    return replace(kernel, **found, unknown=unknown | _not_stated(launched))


def _not_stated(launched: dict[str, int | None]) -> dict[str, str]:
    return dict.fromkeys((key for key, value in launched.items() if value is None), _NOT_STATED)


def _without_code(path: Path, launch: _Launch, why: str) -> KernelResources:
    nothing: dict[str, Any] = dict.fromkeys(_WITHOUT_CUBIN)
    nothing["required_cluster"] = launch.cluster
    launched: dict[str, Any] = {
        "threads": launch.threads,
        "dynamic_shared_bytes": launch.shared_bytes,
        "num_stages": launch.stages,
    }
    return KernelResources(
        **nothing,
        **launched,
        name=launch.name,
        demangled=launch.name,
        arch=launch.arch,
        static_shared_bytes=0,
        origin=shown(path),
        unknown={key: why for key, value in nothing.items() if value is None}
        | _not_stated(launched),
    )

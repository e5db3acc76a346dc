"""``analysis.fits`` -> document and JSON content."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from perfkit.analysis.fits import Fit
from perfkit.analysis.obstacles import Obstacle, Remedy
from perfkit.report.document import Column, Document, Table
from perfkit.report.views.origins import telling_apart
from perfkit.units import format_bytes

Field = tuple[Column, Callable[[Fit], Any]]

#: resource of an obstacle -> what is said of it; {sm} is the target, {code} what is compiled for
_OBSTACLES: Final = {
    "source": "does not compile for {code}: {detail}",
    "machine_code": "compiled for {detail}, and {sm} runs none of it",
    "threads_per_block": "a block has {needed:,} threads, {sm} takes {allowed:,}",
    "cluster_support": "launched in clusters of {needed}, {sm} has no clusters",
    "cluster_size": "a cluster has {needed} blocks, {sm} takes {allowed}",
    "shared_bytes_per_block": "needs {needed:,} B of shared memory, a block on {sm} gets {size}",
    "static_shared_bytes": "{subject}declares {needed:,} B of static shared memory, "
    "{code} takes {size}",
    "registers_per_thread": "needs {needed} registers per thread, {sm} has {allowed}",
    "registers_per_block": "needs {needed:,} registers, a block on {sm} gets {allowed:,}",
    "warps_by_registers": "a block has {needed} warps, the registers of an {sm} SM hold {allowed}",
    "launch_bounds": "a block has {needed} threads, the kernel is compiled for at most {allowed}",
    "required_block": "a block has {needed} threads, the kernel is compiled for {allowed}",
    "cluster_bounds": "a cluster has {needed} blocks, the kernel's launch bounds allow {allowed}",
    "required_cluster": "a cluster has {needed} blocks, the kernel is compiled for {allowed}",
}

#: kind of a change -> what to do; {less} is how much less that is
_CHANGES: Final = {
    "smaller_block": "blocks of at most {value} threads",
    "block_of": "blocks of {value} threads",
    "fewer_registers": "at most {value} registers per thread (--maxrregcount {value})",
    "less_shared": "at most {value:,} B of shared memory ({less:,} B less)",
    "less_static": "at most {value:,} B of static shared memory ({less:,} B less)",
    "dynamic_shared": "make it dynamic (extern __shared__) and opt in to {value:,} B",
    "assemble_for": "compile for {target} with CUDA 13",
    "compile_for": "compile it with {target}",
    "no_cluster": "launch without clusters",
    "smaller_cluster": "clusters of at most {value} blocks",
    "cluster_of": "clusters of {value} blocks",
    "opt_in_shared": "{value:,} B of dynamic shared memory",
    "opt_in_cluster": "clusters of {value}",
}

_BY_SHARED: Final = (
    "opting in to more shared memory than every block gets: "
    "cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)"
)
#: kind of a change -> the note on how it is done, or what is left out
_NOTES: Final = {
    "opt_in_shared": _BY_SHARED,
    "dynamic_shared": _BY_SHARED,
    "opt_in_cluster": "opting in to clusters that are not portable: "
    "cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1)",
    "compile_for": "PTX is only seen in libraries and the like: where there is some, the driver "
    "compiles it for GPUs that run none of the machine code",
}
_BLOCK_SIZE: Final = (
    "a kernel without launch bounds does not say how many threads its blocks have: --threads does"
)


def obstacle_text(fit: Fit, obstacle: Obstacle) -> str:
    """Why the launch fails, with both numbers."""
    plain = fit.target.capability.compute_capability.sm
    return _OBSTACLES[obstacle.resource].format(
        needed=obstacle.needed,
        allowed=obstacle.allowed,
        size=format_bytes(obstacle.allowed or 0),
        detail=obstacle.detail,
        subject=f"{obstacle.detail} " if obstacle.detail else "",
        sm=plain,
        code=fit.arch or plain,
    )


def change_text(change: Remedy, needed: int | None = None) -> str:
    """What to do about it; ``needed`` is what the launch asks for now."""
    less = (needed or 0) - (change.value or 0)
    return _CHANGES[change.kind].format(value=change.value, target=change.target, less=less)


def why(fit: Fit) -> str | None:
    texts = (*(obstacle_text(fit, obstacle) for obstacle in fit.obstacles), *fit.unknown)
    return "; ".join(texts) or None


def _opt_in(fit: Fit) -> str | None:
    return ", ".join(change_text(condition) for condition in fit.conditions) or None


def _remedy(fit: Fit) -> str | None:
    """Every obstacle has to go, and for each there may be a choice."""
    return "; and ".join(filter(None, map(_choice, fit.obstacles))) or None


def _choice(obstacle: Obstacle) -> str:
    return " or ".join(change_text(change, obstacle.needed) for change in obstacle.changes)


def _refusals(found: Sequence[Fit], origin: Field) -> Table:
    """One row per obstacle, or per thing that is not known; what certainly fails comes first."""
    rows = []
    for fit in sorted(found, key=lambda fit: fit.launches is None):
        reasons = list(fit.unknown)
        for obstacle in fit.obstacles:
            choice = _choice(obstacle)
            reasons.append(obstacle_text(fit, obstacle) + (f"; to fit: {choice}" if choice else ""))
        rows += [(fit.kernel, fit.target.label, reason, origin[1](fit)) for reason in reasons]
    columns = (_KERNEL[0], _TARGET[0][0], Column("why", "why not"), origin[0])
    return Table(columns=columns, rows=tuple(rows)).without_empty_columns()


_VERDICTS: Final = {True: "yes", False: "no", None: "unknown"}

_KERNEL: Final[Field] = (Column("kernel", "kernel"), lambda f: f.kernel)
_TARGET: Final[tuple[Field, ...]] = (
    (Column("target", "GPU"), lambda f: f.target.label),
    (
        Column("compute_capability", "CC"),
        lambda f: str(f.target.capability.compute_capability),
    ),
)
_ARCH: Final[Field] = (Column("arch", "compiled for"), lambda f: f.arch)
_DEMAND: Final[tuple[Field, ...]] = (
    _ARCH,
    (Column("block_threads", "block", "count"), lambda f: f.demand and f.demand.threads),
    (Column("registers_per_thread", "regs", "count"), lambda f: f.demand and f.demand.regs),
    (
        Column("static_shared_bytes", "static shared", "bytes"),
        lambda f: f.demand and f.demand.static_bytes,
    ),
    (
        Column("dynamic_shared_bytes", "dynamic shared", "bytes"),
        lambda f: f.demand and f.demand.dynamic_bytes,
    ),
    (Column("cluster_size", "cluster", "count"), lambda f: f.demand and f.demand.cluster),
)
_RESIDENT: Final[tuple[Field, ...]] = (
    (
        Column("blocks_per_sm", "blocks/SM", "count"),
        lambda f: f.occupancy and f.occupancy.blocks_per_sm,
    ),
    (Column("occupancy", "occupancy", "ratio"), lambda f: f.occupancy and f.occupancy.ratio),
)
_CONDITION: Final[Field] = (Column("opt_in", "after opting in to"), _opt_in)
_WORDS: Final[tuple[Field, ...]] = (
    (Column("why", "why not"), why),
    (Column("remedy", "what would make it fit"), _remedy),
)
_ORIGIN: Final[Field] = (Column("origin", "origin"), lambda f: f.origin)
_SHOWN: Final[Field] = (Column("launches", "launches"), lambda f: _VERDICTS[f.launches])
_RAW: Final[tuple[Field, ...]] = (
    (Column("launches", "launches", "yes"), lambda f: f.launches),
    (Column("reasons", "reasons", "names"), lambda f: tuple(o.reason.value for o in f.obstacles)),
)
_FLAT: Final = (_KERNEL, *_TARGET, *_DEMAND, *_RAW, *_RESIDENT, _CONDITION, *_WORDS, _ORIGIN)


def document(everything: Sequence[Fit], *, failed: bool = False) -> Document:
    """The verdicts, then why not; the notes say how changes are made.

    With ``failed`` only what does not launch or cannot be told; the summary is still of everything.
    """
    found = _failed(everything) if failed else everything
    same = [(fit.kernel, fit.target.label) for fit in found]
    origins = dict(zip(map(id, found), telling_apart(same, [f.origin for f in found]), strict=True))
    origin = (_ORIGIN[0], lambda f: origins[id(f)])
    verdicts = (_KERNEL, *_TARGET, *_varying(found), _SHOWN, *_RESIDENT, _CONDITION, origin)
    return Document(
        tables=(
            _table(verdicts, found).without_empty_columns(),
            _refusals(found, origin),
        ),
        notes=tuple(_notes(found)),
        summary=_count(everything),
        flat=_table(_FLAT, found),
    )


def _failed(found: Sequence[Fit]) -> list[Fit]:
    return [fit for fit in found if fit.launches is not True]


def _varying(found: Sequence[Fit]) -> tuple[Field, ...]:
    """What differs between rows; the architecture where it is not the GPU's own."""
    foreign = any(f.arch not in {None, f.target.capability.compute_capability.sm} for f in found)
    different = (field for field in _DEMAND[1:] if len({field[1](f) for f in found} - {None}) > 1)
    return (*((_ARCH,) if foreign else ()), *different)


def _notes(found: Sequence[Fit]) -> list[str]:
    changes = [c for fit in found for obstacle in fit.obstacles for c in obstacle.changes]
    changes += [condition for fit in found for condition in fit.conditions]
    notes = [_NOTES[change.kind] for change in changes if change.kind in _NOTES]
    if any(f.demand and f.demand.threads is None and f.launches is None for f in found):
        notes.append(_BLOCK_SIZE)
    return list(dict.fromkeys(notes))


def _table(fields: tuple[Field, ...], found: Sequence[Fit]) -> Table:
    return Table(
        columns=tuple(column for column, _ in fields),
        rows=tuple(tuple(get(f) for _, get in fields) for f in found),
    )


def _count(found: Sequence[Fit]) -> str:
    counts = _counts(found)
    words = [f"{counts['launches']} of {len(found)} launch"]
    if counts["unknown"]:
        words.append(f"{counts['unknown']} cannot be told")
    return ", ".join(words)


def _counts(found: Sequence[Fit]) -> dict[str, int]:
    verdicts = [fit.launches for fit in found]
    return {
        "launches": verdicts.count(True),
        "does_not_launch": verdicts.count(False),
        "unknown": verdicts.count(None),
    }


def content(found: Sequence[Fit], *, failed: bool = False) -> dict[str, Any]:
    """``failed`` as in ``document``: the counts are of everything."""
    shown = _failed(found) if failed else found
    return {"results": [_result(fit) for fit in shown], "counts": _counts(found)}


def _result(fit: Fit) -> dict[str, Any]:
    occupancy, gpu = fit.occupancy, fit.target.gpu
    raw = {column.key: get(fit) for column, get in (_KERNEL, *_TARGET, *_DEMAND)}
    return {
        **raw,
        "gpu": gpu.name if gpu else None,
        "launches": fit.launches,
        "obstacles": [
            {
                "reason": obstacle.reason.value,
                "resource": obstacle.resource,
                "needed": obstacle.needed,
                "allowed": obstacle.allowed,
                "message": obstacle_text(fit, obstacle),
                "changes": [_change(change, obstacle.needed) for change in obstacle.changes],
            }
            for obstacle in fit.obstacles
        ],
        "conditions": [_change(condition, None) for condition in fit.conditions],
        "unknown": list(fit.unknown),
        "blocks_per_sm": occupancy.blocks_per_sm if occupancy else None,
        "warps_per_sm": occupancy.warps_per_sm if occupancy else None,
        "occupancy": occupancy.ratio if occupancy else None,
        "limited_by": list(occupancy.binding) if occupancy else [],
        "origin": fit.origin,
    }


def _change(change: Remedy, needed: int | None) -> dict[str, Any]:
    return {
        "kind": change.kind,
        "value": change.value,
        "target": change.target,
        "message": change_text(change, needed),
    }

"""Which parts of each topic's content are tables, and which of their columns come first.

A path leads to the rows: ``cards[].checks`` are the checks of all cards. Columns are keys of a row,
``hardware.blocks_per_sm`` a key of an object in it. What is not named here is shown in full.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Rows(NamedTuple):
    """One table."""

    path: str
    columns: tuple[str, ...] = ()  #: none: all that are no objects or lists of objects
    tally: str | None = None  #: the column whose values are counted in the summary
    title: str | None = None


_WHO: Final = ("kernel", "target")
_VERDICT: Final = (
    "status", "benchmark", "static.arch", "static.gpu", "metric", "reason", "message",
    "baseline_value", "candidate_value", "ratio", "next_step",
)  # fmt: skip
_ACCESS: Final = ("pattern", "layout", "width_bytes", "lanes")

SECTIONS: Final[dict[str, tuple[Rows, ...]]] = {
    "occupancy": (
        Rows(
            "results",
            (*_WHO, "block_threads", "registers_per_thread", "shared_bytes_per_block",
             "carveout_percent", "blocks_per_sm", "warps_per_sm", "max_warps_per_sm", "occupancy",
             "binding", "hardware.blocks_per_sm", "hardware.l1_bytes", "grid", "waves.waves"),
            "binding",
        ),
    ),
    "sweep": (Rows("results"),),
    "carveout": (Rows("results"), Rows("choices", title="What to set")),
    "inspect": (
        Rows(
            "kernels",
            ("demangled", "arch", "registers_per_thread", "static_shared_bytes", "stack_bytes",
             "spill_store_bytes", "spill_load_bytes", "barriers", "max_threads", "origin"),
        ),
    ),
    "fits": (
        Rows(
            "results",
            (*_WHO, "launches", "obstacles[].message", "block_threads", "registers_per_thread",
             "static_shared_bytes", "dynamic_shared_bytes", "blocks_per_sm", "occupancy",
             "limited_by"),
            "launches",
        ),
    ),
    "diff": (
        Rows("changes", tally="status"),
        Rows("new", title="New"),
        Rows("vanished", title="Vanished"),
    ),
    "roofline": (
        Rows(
            "results",
            ("target", "operation", "dtype", "unit", "flops", "bytes", "intensity_flop_per_byte",
             "ridge_flop_per_byte", "peak_flop_per_s", "attainable_flop_per_s", "time_s",
             "bound_by", "measured.time_s", "measured.share_of_bound"),
            "bound_by",
        ),
    ),
    "gemm": (
        Rows(
            "results",
            ("target", "m", "n", "k", "dtype", "tiling.tile", "tiling.warp", "tiling.stages",
             "occupancy.hardware.blocks_per_sm", "waves.waves", "time_s", "share_of_peak",
             "bound_by"),
            "bound_by",
        ),
    ),
    "gemm-rank": (
        Rows(
            "rankings[].best",
            ("target", "m", "n", "k", "dtype", "tiling.tile", "tiling.warp", "tiling.stages",
             "tiling.cluster", "time_s", "share_of_peak", "bound_by"),
        ),
    ),
    "access-coalescing": (
        Rows("results", (*_ACCESS, "sectors", "fewest_sectors", "lines", "efficiency")),
    ),
    "access-banks": (
        Rows("results", (*_ACCESS, "wavefronts", "ideal_wavefronts", "conflict_way", "broadcast")),
        Rows("fixes", title="What removes conflicts"),
    ),
    "access-divergence": (
        Rows("results", ("warp", "active_lanes", "path_count", "serial_factor", "idle_share")),
    ),
    "recommend": (
        Rows(
            "recommendations[].results",
            ("target", "block_threads", "registers_per_thread", "shared_bytes_per_block",
             "blocks_per_sm", "occupancy", "limited_by", "carveout_percent", "grid_blocks"),
        ),
    ),
    "diagnose": (Rows("launches[].findings", tally="symptom"),),
    "overlap": (Rows("engines"), Rows("counts", title="Other numbers of chunks")),
    "ceilings": tuple(
        Rows(holder + part, (*keys, "datasheet", "share", "how"), title=title)
        for holder in ("", "cards[].")
        for part, title, keys in (
            ("memory", "Memory", ("level", "what", "bytes_per_s")),
            ("compute", "Arithmetic", ("what", "dtype", "accumulate", "unit", "flop_per_s")),
            ("others", "Latencies, copies, launches", ("group", "what", "value")),
        )
    ),
    "measure": (
        Rows(
            "devices[].measurements",
            ("name", "verdict", "median_s", "prediction.bound_s", "prediction.expected_s",
             "prediction.bound_by", "share_of_bound", "bytes_per_s", "flop_per_s", "occupancy"),
            "verdict",
        ),
        Rows("side_by_side", ("name", "median_s", "apart", "slowest"), title="Cards side by side"),
    ),
    "validate": (
        Rows(
            "cards[].checks",
            ("name", "status", "compared", "differing", "scope", "predicted", "measured",
             "reason"),
            "status",
        ),
        Rows("cards[].checks[].differences", title="Differences"),
    ),
    "gate": (Rows("verdicts", _VERDICT, "status"),),
    "gate-run": (
        Rows("verdicts", _VERDICT, "status"),
        Rows(
            "runs",
            ("side", "pair", "first", "wall_s", "results[].benchmark", "failure", "sm_clock_hz",
             "throttles"),
            title="Runs",
        ),
    ),
    "gate-history": (
        Rows(
            "series",
            ("benchmark", "metric", "unit", "gpu", "changes[].worse", "changes[].first_commit",
             "changes[].ratio", "commits[].median", "noise"),
            "changes[].worse",
        ),
    ),
    "baseline": (
        Rows(
            "entries",
            ("benchmark", "metric", "unit", "environment.gpu", "environment.driver",
             "environment.toolkit", "runs[].value", "noise.relative", "noise.floor",
             "about.commit", "about.date"),
        ),
    ),
    "tuning": (
        Rows(
            "results",
            ("label", "place", "expected_s", "time_s", "slower", "tied", "right", "flop_per_s",
             "bound_s", "failure"),
        ),
    ),
    "arch-list": (Rows("capabilities"),),
    "gpu-list": (Rows("gpus"),),
    "gpu-compare": (Rows("gpus"),),
    "arch-check": (Rows("findings"),),
    "doctor": (Rows("checks", tally="state"),),
    "latency": (Rows("results"),),
    "measure-list": (Rows("kernels"),),
    "gpu": (Rows("peaks"),),
}  # fmt: skip

"""What a profiler measured of one launch, by names of our own.

``FIELDS`` maps them to those of Nsight Compute: labels of its details page, and metrics of its raw
page. Where both pages name something alike but mean another unit (``Memory Throughput`` is a share
in one section and bytes per second in another), the kind decides.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.readers.ncu import Profile


class Stall(NamedTuple):
    """Cycles that a warp waits for one reason, per instruction issued."""

    reason: str
    cycles: float


@record
class Metrics:
    """Figures of one launch; ``None``: not known. Shares are 0..1."""

    kernel: str | None = None
    duration_s: float | None = None
    compute_share: float | None = None  #: SM throughput, of its peak
    memory_share: float | None = None  #: the busiest memory unit, of its peak
    dram_share: float | None = None
    grid_blocks: float | None = None
    block_threads: float | None = None
    sm_count: float | None = None
    waves: float | None = None
    theoretical_occupancy: float | None = None
    achieved_occupancy: float | None = None
    limit_blocks: float | None = None  #: blocks per SM that each resource allows
    limit_registers: float | None = None
    limit_shared_memory: float | None = None
    limit_warps: float | None = None
    limit_barriers: float | None = None
    issued_per_cycle: float | None = None  #: instructions of one scheduler
    active_warps: float | None = None  #: of one scheduler
    theoretical_warps: float | None = None  #: likewise, by the launch
    active_threads: float | None = None  #: of a warp, on average
    predicated_on_threads: float | None = None  #: likewise, that an instruction has an effect for
    load_efficiency: float | None = None  #: useful share of the bytes of global loads
    store_efficiency: float | None = None
    load_sectors_per_request: float | None = None
    store_sectors_per_request: float | None = None
    shared_load_conflicts: float | None = None
    shared_load_wavefronts: float | None = None
    shared_store_conflicts: float | None = None
    shared_store_wavefronts: float | None = None
    local_instructions: float | None = None
    instructions: float | None = None
    spill_bytes: float | None = None  #: per thread, as the compiler says
    cycles_per_instruction: float | None = None  #: of a warp, between two instructions issued
    stalls: tuple[Stall, ...] = ()


class Name(NamedTuple):
    kind: str
    names: tuple[str, ...]


_RATIO: Final = "ratio"
_STALL: Final = "smsp__average_warps_issue_stalled_"

#: field of ``Metrics`` -> its names in the two pages
FIELDS: Final[dict[str, Name]] = {
    "duration_s": Name("s", ("Duration", "gpu__time_duration.sum")),
    "compute_share": Name(
        _RATIO,
        (
            "Compute (SM) Throughput",
            *("Compute (SM) [%]", "SM [%]"),  # until 2021
            "sm__throughput.avg.pct_of_peak_sustained_elapsed",
        ),
    ),
    "memory_share": Name(
        _RATIO,
        (
            "Memory Throughput",
            "Memory [%]",  # until 2021
            "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
        ),
    ),
    "dram_share": Name(
        _RATIO,
        (
            "DRAM Throughput",
            *("SOL DRAM", "SOL FB"),  # until 2020
            "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
            "dram__throughput.avg.pct_of_peak_sustained_elapsed",
        ),
    ),
    "grid_blocks": Name("", ("Grid Size", "launch__grid_size")),
    "block_threads": Name("", ("Block Size", "launch__block_size")),
    "sm_count": Name("", ("# SMs", "launch__sm_count", "device__attribute_multiprocessor_count")),
    "waves": Name("", ("Waves Per SM", "launch__waves_per_multiprocessor")),
    "theoretical_occupancy": Name(
        _RATIO, ("Theoretical Occupancy", "sm__maximum_warps_per_active_cycle_pct")
    ),
    "achieved_occupancy": Name(
        _RATIO, ("Achieved Occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active")
    ),
    "limit_blocks": Name("", ("Block Limit SM", "launch__occupancy_limit_blocks")),
    "limit_registers": Name("", ("Block Limit Registers", "launch__occupancy_limit_registers")),
    "limit_shared_memory": Name(
        "", ("Block Limit Shared Mem", "launch__occupancy_limit_shared_mem")
    ),
    "limit_warps": Name("", ("Block Limit Warps", "launch__occupancy_limit_warps")),
    "limit_barriers": Name("", ("Block Limit Barriers", "launch__occupancy_limit_barriers")),
    "issued_per_cycle": Name(
        "", ("Issued Warp Per Scheduler", "smsp__issue_active.avg.per_cycle_active")
    ),
    "active_warps": Name(
        "", ("Active Warps Per Scheduler", "smsp__warps_active.avg.per_cycle_active")
    ),
    # not "Theoretical Active Warps Per Scheduler", which is what the hardware could hold
    "theoretical_warps": Name(
        "", ("Theoretical Warps Per Scheduler", "smsp__maximum_warps_avg_per_active_cycle")
    ),
    "active_threads": Name(
        "",
        (
            "Avg. Active Threads Per Warp",
            "smsp__thread_inst_executed_per_inst_executed.ratio",
        ),
    ),
    "predicated_on_threads": Name(
        "",
        (
            "Avg. Not Predicated Off Threads Per Warp",
            "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio",
        ),
    ),
    "load_efficiency": Name(
        _RATIO, ("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",)
    ),
    "store_efficiency": Name(
        _RATIO, ("smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct",)
    ),
    "load_sectors_per_request": Name(
        "", ("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",)
    ),
    "store_sectors_per_request": Name(
        "", ("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",)
    ),
    "shared_load_conflicts": Name(
        "", ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",)
    ),
    "shared_load_wavefronts": Name("", ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",)),
    "shared_store_conflicts": Name(
        "", ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",)
    ),
    "shared_store_wavefronts": Name("", ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",)),
    "local_instructions": Name("", ("smsp__sass_inst_executed_op_local.sum",)),
    "instructions": Name("", ("Executed Instructions", "smsp__inst_executed.sum")),
    "cycles_per_instruction": Name(
        "",
        (
            "Warp Cycles Per Issued Instruction",
            "smsp__average_warp_latency_per_inst_issued.ratio",
            "smsp__average_warps_active_per_issue_active.ratio",
        ),
    ),
}


def of_profile(profile: Profile) -> Metrics:
    """The figures of a launch that Nsight Compute measured."""
    amounts = {(v.kind, v.name): v.amount for v in reversed(profile.values)}
    found: dict[str, Any] = {
        field: next(
            (
                amounts[wanted.kind, name]
                for name in wanted.names
                if amounts.get((wanted.kind, name)) is not None
            ),
            None,
        )
        for field, wanted in FIELDS.items()
    }
    block, grid = profile.block, profile.grid
    if found["block_threads"] is None and block is not None:
        found["block_threads"] = float(block[0] * block[1] * block[2])
    if found["grid_blocks"] is None and grid is not None:
        found["grid_blocks"] = float(grid[0] * grid[1] * grid[2])
    stalls = [
        Stall(v.name[len(_STALL) :].partition("_per_")[0], v.amount)
        for v in profile.values
        if v.name.startswith(_STALL) and v.amount is not None and ".ratio" in v.name
    ]
    return Metrics(
        kernel=profile.kernel,
        stalls=tuple(sorted(stalls, key=lambda s: (-s.cycles, s.reason))),
        **found,
    )


def names() -> tuple[str, ...]:
    """The fields that are numbers."""
    return tuple(f.name for f in fields(Metrics) if f.name not in {"kernel", "stalls"})

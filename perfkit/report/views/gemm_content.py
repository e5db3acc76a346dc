"""``analysis.gemm`` -> JSON content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from perfkit.analysis.gemm import GemmEstimate
from perfkit.analysis.gemm_schedule import Schedule
from perfkit.models.cluster import ClusterOccupancy
from perfkit.models.occupancy import Occupancy
from perfkit.models.roofline import Bound
from perfkit.report.views.gemm_notes import notes
from perfkit.report.views.roofline import load_content


def content(found: Sequence[GemmEstimate], left_out: Mapping[str, str]) -> dict[str, Any]:
    return {
        "results": [result(e) for e in found],
        "left_out": [{"target": label, "reason": why} for label, why in left_out.items()],
    }


def result(e: GemmEstimate) -> dict[str, Any]:
    return {**_question(e), **_answer(e), "notes": notes(e)}


def _question(e: GemmEstimate) -> dict[str, Any]:
    gpu, p, roof = e.target.gpu, e.problem, e.machine.roof
    return {
        "target": e.target.label,
        "gpu": gpu.name if gpu else None,
        "compute_capability": str(e.target.capability.compute_capability),
        "m": p.m,
        "n": p.n,
        "k": p.k,
        "dtype": str(p.dtype),
        "accumulate": str(p.accumulate),
        "out": str(p.out),
        "unit": roof.unit,
        "basis": roof.basis,
        "peak_flop_per_s": roof.flop_per_s,
        "flops": p.flops,
        "tiling": _tiling(e),
    }


def _answer(e: GemmEstimate) -> dict[str, Any]:
    bound = e.schedule.bound if e.schedule else None
    return {
        "block": _block(e),
        "occupancy": {
            "driver": _occupancy(e.block.driver),
            "hardware": _occupancy(e.block.hardware),
        },
        "cluster": _clusters(e.cluster) if e.cluster else None,
        "waves": asdict(e.waves) if e.waves else None,
        "time_s": bound.time_s if bound else None,
        "expected_s": e.schedule.expected_s if e.schedule else None,
        "share_of_peak": e.share_of_peak,
        "bound_by": bound.bound_by if bound else None,
        "limited_by": list(bound.limited_by) if bound else [],
        "loads": [load_content(load) for load in bound.loads] if bound else [],
        "schedule": _schedule(e.schedule) if e.schedule else None,
        "other_schedules": [_schedule(one) for one in e.others],
        "reuse": {
            "uses_of_a": e.tiling.tile_n,
            "uses_of_b": e.tiling.tile_m,
            "flops_per_byte": e.flops_per_byte,
        },
        "epilogue_fusion": {
            "read_bytes": e.fused_bytes,
            "write_bytes": e.fused_bytes,
            "time_s": e.fused_s,
        },
        "shape": _shape(e.shape),
    }


def _shape(found: Bound) -> dict[str, Any]:
    return {
        "bytes": found.bytes,
        "intensity_flop_per_byte": found.intensity,
        "ridge_flop_per_byte": found.ridge,
        "time_s": found.time_s,
        "bound_by": found.bound_by,
        "limited_by": list(found.limited_by),
    }


def _clusters(found: ClusterOccupancy) -> dict[str, Any]:
    return {
        "size": found.size,
        "active_clusters": found.active_clusters,
        "known": found.known,
        "exact": found.exact,
        "active_blocks": found.active_blocks,
    }


def _tiling(e: GemmEstimate) -> dict[str, Any]:
    t, one = e.tiling, e.block.instruction
    return {
        "tile": [t.tile_m, t.tile_n, t.tile_k],
        "warp": [t.warp_m, t.warp_n, t.warp_k],
        "instruction": [one.m, one.n, one.k],
        "instruction_kind": one.kind,
        "stages": t.stages,
        "cluster": [t.cluster_m, t.cluster_n],
        "split_k": t.split_k,
        "swizzle": e.swizzle,
    }


def _block(e: GemmEstimate) -> dict[str, Any]:
    b = e.block
    return {
        "warps": b.warps,
        "threads": b.threads,
        "stage_bytes": b.stage_bytes,
        "shared_bytes_per_block": b.shared_bytes,
        "accumulators": b.accumulators,
        "fragments": b.fragments,
        "registers_per_thread": b.registers,
        "registers_held": b.registers_held,
        "registers_given": b.registers_given,
        "spills": b.spills,
        "tensor_memory_columns": b.tensor_memory_columns,
    }


def _occupancy(o: Occupancy) -> dict[str, Any]:
    return {
        "blocks_per_sm": o.blocks_per_sm,
        "warps_per_sm": o.warps_per_sm,
        "occupancy": o.ratio,
        "limited_by": list(o.limited_by),
        "binding": list(o.binding),
        "refusal": o.refusal._asdict() if o.refusal else None,
    }


def _schedule(one: Schedule) -> dict[str, Any]:
    g, moved = one.grid, one.traffic
    return {
        "schedule": one.tiling.schedule,
        "split_k": one.tiling.split_k,
        "tiles": g.tiles,
        "tiles_m": g.tiles_m,
        "tiles_n": g.tiles_n,
        "k_steps": g.k_steps,
        "blocks": g.blocks,
        "tile_efficiency": g.tile_efficiency,
        "wave_efficiency": g.wave_efficiency,
        "sm_waves": asdict(one.sm_waves) if one.sm_waves else None,
        "paid_flops": moved.flops,
        "dram_bytes": moved.dram_bytes,
        "l2_bytes": moved.l2_bytes,
        "l1_bytes": moved.l1_bytes,
        "partial_bytes": moved.partial_bytes,
        "time_s": one.bound.time_s,
        "expected_s": one.expected_s,
        "limited_by": list(one.bound.limited_by),
    }

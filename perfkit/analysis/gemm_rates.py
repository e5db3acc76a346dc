"""What a product does in a second for one block of a matrix product, as far as it is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from perfkit.kernel import DType
from perfkit.models.gemm_instructions import instructions
from perfkit.models.gemm_time import Rates

if TYPE_CHECKING:
    from collections.abc import Mapping

    from perfkit.arch.types import Capability, Gpu
    from perfkit.models.gemm_instructions import Instruction
    from perfkit.models.roofs import Ceilings, Level, Roof

#: kind of instruction -> its name in a file of ceilings
_NAMES: Final = {"mma": "mma.sync", "wgmma": "wgmma"}
#: conversions of 8-bit floats, lanes per clock and SM (CUDA C++ Programming Guide 12, throughput of
#: native arithmetic instructions: other conversions from 8 bits)
_CONVERSIONS: Final = 64
#: where mma.sync makes f16 of f8 and adds the sums itself; 8.9 and 12.x multiply f8 as it is
_CONVERTS: Final = (9, 0)
#: of the peak, what mma.sync reaches where wgmma reaches it: 6 clocks instead of 4 for 16 x 8 x 16
#: of f16, measured on an H200 (docs/validation)
_OF_WGMMA: Final = 2 / 3


def rates(
    gpu: Gpu,
    capability: Capability,
    one: Instruction,
    roof: Roof,
    levels: Mapping[str, Level],
    ceilings: Ceilings | None,
) -> Rates:
    """One SM's share.

    Args:
        gpu: the product.
        capability: its SM.
        one: the instruction.
        roof: of the data type.
        levels: of memory, by name.
        ceilings: what was measured on the product.
    """
    sms = gpu.sm_count
    clock_hz = _clock_hz(gpu, roof, levels["l1"])
    shared = levels["l1"].bytes_per_s
    if shared and clock_hz and levels["l1"].clock_hz:
        shared *= clock_hz / levels["l1"].clock_hz
    mixes = ceilings.mixes if ceilings else {}
    dram = levels["dram"].bytes_per_s
    makes_f16 = (
        one.kind == "mma" and roof.dtype == DType.F8 and capability.compute_capability == _CONVERTS
    )
    adds = capability.throughput.f32
    return Rates(
        flop_per_s=_flop_per_s(capability, one, roof, ceilings, makes_f16=makes_f16) / sms,
        clock_hz=clock_hz,
        shared_bytes_per_s=_share(shared, sms),
        l2_bytes_per_s=_share(levels["l2"].bytes_per_s, sms),
        read_bytes_per_s=_share(mixes.get("read", dram), sms),
        write_bytes_per_s=_share(mixes.get("write", dram), sms),
        latency_s=_latency_s(gpu, ceilings),
        launch_s=ceilings.launch_s or 0.0 if ceilings else 0.0,
        partitions=capability.registers.sub_partitions,
        convert_per_s=_CONVERSIONS * clock_hz if makes_f16 and clock_hz else None,
        add_per_s=adds * clock_hz if makes_f16 and clock_hz and adds else None,
    )


def _clock_hz(gpu: Gpu, roof: Roof, l1: Level) -> float | None:
    """Of the SMs while they multiply: the tensor cores slow some products down."""
    known = [clock for clock in (l1.clock_hz, gpu.boost_clock_hz) if clock]
    if roof.unit == "tensor" and roof.dtype != DType.F64 and gpu.tensor_clock_hz:
        known.append(gpu.tensor_clock_hz)
    return min(known, default=None)


def _flop_per_s(
    capability: Capability,
    one: Instruction,
    roof: Roof,
    ceilings: Ceilings | None,
    *,
    makes_f16: bool,
) -> float:
    """Of the instruction, where it is known, else of the data type."""
    name = f"{roof.dtype}/{roof.accumulate} {_NAMES.get(one.kind)}"
    if ceilings and name in ceilings.instructions:
        return ceilings.instructions[name]
    best = instructions(capability, roof.dtype, roof.unit)[-1].kind
    if one.kind != "mma" or best != "wgmma":
        return roof.flop_per_s
    return roof.flop_per_s * _OF_WGMMA / (2 if makes_f16 else 1)


def _latency_s(gpu: Gpu, ceilings: Ceilings | None) -> float:
    """Of DRAM; 0 where nobody measured it."""
    if ceilings and "dram" in ceilings.latencies_s:
        return ceilings.latencies_s["dram"]
    cycles = gpu.latency.dram_cycles if gpu.latency else None
    return cycles / gpu.boost_clock_hz if cycles and gpu.boost_clock_hz else 0.0


def _share(rate: float | None, sms: int) -> float | None:
    return rate / sms if rate else None

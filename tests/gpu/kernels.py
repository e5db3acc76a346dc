"""Kernels with a known number of registers. No CUDA is needed to write them down."""

from __future__ import annotations

from dataclasses import dataclass

#: The compiler does not go below 24 registers on 9.0 when told how many to use.
LEAST_REGISTERS = 24
#: A block counts itself on its SM, notes the most ever there, waits and leaves. ``values`` numbers
#: stay alive over the wait, more than fit, so that the kernel takes all registers it may have;
#: ``out`` is null, which the compiler cannot know.
SOURCE = """
extern "C" __global__ void {bound} {name}(
    int* now, int* peak, long long ns, const float* in, float* out)
{{
    {declare}
    float a[{values}];
    #pragma unroll
    for (int i = 0; i < {values}; ++i) a[i] = in[32 * i + threadIdx.x];
    {use}
    __syncthreads();
    if (threadIdx.x == 0) {{
        unsigned sm;
        long long begin, time;
        asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
        atomicMax(peak + sm, atomicAdd(now + sm, 1) + 1);
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
        do {{
            asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
        }} while (time - begin < ns);
        atomicSub(now + sm, 1);
    }}
    __syncthreads();
    if (out) {{
        #pragma unroll
        for (int i = 0; i < {values}; ++i) out[32 * i + threadIdx.x] = a[i];
    }}
}}
"""


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A kernel to compile: exactly ``registers``, or as few as it needs under a launch bound."""

    registers: int = 0
    static_bytes: int = 0
    launch_bound: int = 0

    @property
    def name(self) -> str:
        bound = f"_t{self.launch_bound}" if self.launch_bound else f"_r{self.registers}"
        return f"spin{bound}_s{self.static_bytes}"

    def source(self) -> str:
        pad = f"__shared__ volatile char pad[{self.static_bytes}];" if self.static_bytes else ""
        return SOURCE.format(
            name=self.name,
            values=self.registers or 8,
            bound=f"__launch_bounds__({self.launch_bound})"
            if self.launch_bound
            else f"__maxnreg__({self.registers})",
            declare=pad,
            use=f"if (out) pad[threadIdx.x % {self.static_bytes}] = 1;" if pad else "",
        )

// Blocks that count themselves on their SM, in kernels with a chosen number of registers and a
// chosen amount of shared memory. The instances are written by experiments/resident_kernels.py.

typedef unsigned long long ull;

__device__ __forceinline__ ull time_ns()
{
    ull now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    return now;
}

// note[0]: when the first block of the launch came; note[1]: how long after it the last one came
// that is counted; behind them a count for each SM. All zero before the launch.
//
// A block that comes within `ns` after the first counts itself and stays until that time is over, so
// that no counted block leaves before the last one came; the blocks that come later leave at once.
template <int VALUES, int STATIC>
__device__ __forceinline__ void resident(ull* note, unsigned slots, ull ns, const float* in, float* out)
{
    ull begin = 0;
    int late = 0;
    if (threadIdx.x == 0) {
        const ull now = time_ns();
        begin = atomicCAS(note, 0ull, now);
        if (begin == 0) begin = now;
        const long long since = now - begin;
        late = since >= (long long)ns;
        if (!late) {
            unsigned sm;
            asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
            if (sm < slots) atomicAdd((unsigned*)(note + 2) + sm, 1);
            atomicMax(note + 1, since > 0 ? (ull)since : 0ull);
        }
    }
    if (__syncthreads_or(late)) return;
    // more values than fit: the kernel takes all registers that it may have
    float a[VALUES];
#pragma unroll
    for (int i = 0; i < VALUES; ++i) a[i] = in[32 * i + threadIdx.x];
    if constexpr (STATIC > 0) {
        __shared__ volatile char pad[STATIC];
        if (out) pad[threadIdx.x % STATIC] = 1;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        while ((long long)(time_ns() - begin) < (long long)ns) {
        }
    }
    __syncthreads();
    if (out) {  // it is null, which the compiler cannot know
#pragma unroll
        for (int i = 0; i < VALUES; ++i) out[32 * i + threadIdx.x] = a[i];
    }
}

#define RESIDENT(NAME, BOUND, VALUES, STATIC)                                                        \
    extern "C" __global__ void BOUND NAME(ull* note, unsigned slots, ull ns, const float* in,        \
                                          float* out)                                                \
    {                                                                                                \
        resident<VALUES, STATIC>(note, slots, ns, in, out);                                          \
    }

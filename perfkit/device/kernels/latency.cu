// One thread that follows pointers: nothing overlaps, so time over steps is the latency.

__device__ __forceinline__ unsigned next_of(const unsigned* from, bool cached)
{
    return cached ? __ldca(from) : __ldcg(from);
}

// out: cycles, nanoseconds, and where the chase ended
extern "C" __global__ void chase(const unsigned* next, int warm, int steps, int cached, long long* out)
{
    unsigned at = 0;
    for (int i = 0; i < warm; ++i) at = next_of(next + at, cached);
    long long ns0, ns1, start = clock64();
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns0));
    for (int i = 0; i < steps; ++i) at = next_of(next + at, cached);
    out[2] = at;  // the clock is read when the last step is there
    long long cycles = clock64() - start;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns1));
    out[0] = cycles;
    out[1] = ns1 - ns0;
}

extern "C" __global__ void chase_shared(int steps, long long* out)
{
    __shared__ unsigned next[1024];
    for (int i = 0; i < 1024; ++i) next[i] = (i + 33) % 1024;
    unsigned at = 0;
    long long ns0, ns1, start = clock64();
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns0));
    for (int i = 0; i < steps; ++i) at = next[at];
    out[2] = at;
    long long cycles = clock64() - start;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns1));
    out[0] = cycles;
    out[1] = ns1 - ns0;
}

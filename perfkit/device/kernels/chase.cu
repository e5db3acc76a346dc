// One thread follows a chain: each load needs the address that the one before it brought.

typedef unsigned long long ull;

extern "C" __global__ void pointer_chase(const unsigned* __restrict__ next, unsigned* end, ull* cycles,
                                         int hops)
{
    unsigned at = 0;
    long long begin = clock64();
#pragma unroll 8
    for (int i = 0; i < hops; i++) at = next[at];
    *cycles = clock64() - begin;
    *end = at;
}

// What a warp does to itself: branches that diverge, and banks that conflict.

typedef long long index;

// Every thread takes one of `ways` paths of the same length: a warp walks through all that any of
// its lanes takes.
extern "C" __global__ void divergence(float* __restrict__ x, index n, int ways, int steps)
{
    index i = blockIdx.x * (index)blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    int mine = threadIdx.x % ways;
    for (int way = 0; way < ways; way++) {
        if (way != mine) continue;
        float f = 1 + way * 0x1p-12f;
#pragma unroll 16
        for (int s = 0; s < steps; s++) v = v * f + 0x1p-6f;
    }
    x[i] = v;
}

// Lane l reads word l * stride of shared memory, then those 32 * 1, 32 * 2, … words further on:
// always the same banks.
#define WORDS 4096
#define READS 32
extern "C" __global__ void bank_conflicts(const float* __restrict__ a, float* __restrict__ out,
                                          int stride, int rounds)
{
    __shared__ float words[WORDS];
    for (int i = threadIdx.x; i < WORDS; i += blockDim.x) words[i] = a[i];
    __syncthreads();
    // volatile: the loads have to be done in every round
    const volatile float* mine = words + threadIdx.x % 32 * stride % (WORDS - 32 * READS);
    float sums[4] = {};
    for (int round = 0; round < rounds; round++)
#pragma unroll
        for (int r = 0; r < READS; r++) sums[r % 4] += mine[32 * r];
    out[blockIdx.x * (index)blockDim.x + threadIdx.x] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

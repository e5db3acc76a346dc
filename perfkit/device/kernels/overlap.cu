// Some arithmetic on each float of a chunk, for copies to hide behind.

extern "C" __global__ void chunk_steps(const float* __restrict__ from, float* __restrict__ to, int n,
                                       int steps)
{
    int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        float v = from[i];
        for (int s = 0; s < steps; s++) v = v * 0.999f + 0x1p-6f;
        to[i] = v;
    }
}

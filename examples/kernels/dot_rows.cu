// Each thread keeps LANES running sums in registers: more than a small register budget can hold.
//
//   perfkit occupancy examples/kernels/dot_rows.cu -g a100 -t 256
//   perfkit inspect examples/kernels/dot_rows.cu -g a100 --maxrregcount 32

constexpr int LANES = 64;

extern "C" __global__ void
dot_rows(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ out, int n)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    float sums[LANES] = {};

    // The loops over LANES are unrolled, so that every sum has a register and none an address.
    for (int i = 0; i < n; ++i) {
        const float scale = x[i];
#pragma unroll
        for (int lane = 0; lane < LANES; ++lane) {
            sums[lane] = fmaf(scale, y[i * LANES + lane], sums[lane]);
        }
    }
#pragma unroll
    for (int lane = 0; lane < LANES; ++lane) {
        out[thread * LANES + lane] = sums[lane];
    }
}

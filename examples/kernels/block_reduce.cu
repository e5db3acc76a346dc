// Sum of an array. A warp adds up through its registers, the warps of a block through shared
// memory, and the blocks through one atomic addition each.

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr int max_threads = 1024;
constexpr int warp_size = 32;

extern "C" __global__ void __launch_bounds__(max_threads)
block_reduce(const float* __restrict__ in, float* __restrict__ total, int n)
{
    __shared__ float warp_sums[max_threads / warp_size];

    const cg::thread_block block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<warp_size>(block);

    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sum += in[i];
    }

    // Each step halves the number of threads whose sum still counts.
    for (int offset = warp.size() / 2; offset > 0; offset /= 2) {
        sum += warp.shfl_down(sum, offset);
    }
    if (warp.thread_rank() == 0) {
        warp_sums[warp.meta_group_rank()] = sum;
    }
    block.sync();

    if (warp.meta_group_rank() == 0) {
        sum = warp.thread_rank() < warp.meta_group_size() ? warp_sums[warp.thread_rank()] : 0.0f;
        for (int offset = warp.size() / 2; offset > 0; offset /= 2) {
            sum += warp.shfl_down(sum, offset);
        }
        if (warp.thread_rank() == 0) {
            atomicAdd(total, sum);
        }
    }
}

// Sum of an array by clusters of four blocks that read one another's shared memory. Needs 9.0.
//
// The four blocks of a cluster run at the same time on one part of the GPU. One of them collects
// the sums of the others directly, without a round trip through global memory.

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr int threads = 128;

extern "C" __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(threads)
cluster_sum(const float* __restrict__ in, float* __restrict__ total, int n)
{
    __shared__ float partial[threads];

    const cg::cluster_group cluster = cg::this_cluster();

    float sum = 0.0f;
    for (int i = blockIdx.x * threads + threadIdx.x; i < n; i += gridDim.x * threads) {
        sum += in[i];
    }
    partial[threadIdx.x] = sum;
    cluster.sync();  // the sums of all four blocks are written

    if (cluster.block_rank() == 0) {
        for (unsigned int block = 1; block < cluster.num_blocks(); ++block) {
            sum += cluster.map_shared_rank(partial, block)[threadIdx.x];
        }
        atomicAdd(total, sum);
    }
    cluster.sync();  // no block may leave while its shared memory is being read
}

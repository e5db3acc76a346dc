// Cooperative groups, to the whole grid and, from 9.0 on, the cluster.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

#define KERNEL extern "C" __global__ void

KERNEL sums_a_block(const float* a, float* sum)
{
    __shared__ float partial[32];
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    float mine = cg::reduce(warp, a[block.thread_rank()], cg::plus<float>());
    if (warp.thread_rank() == 0) partial[warp.meta_group_rank()] = mine;
    block.sync();
    if (block.thread_rank() == 0) *sum = partial[0] + partial[1];
}
KERNEL meets_the_grid(int* a)
{
    a[threadIdx.x] = 1;
    cg::this_grid().sync();
    a[threadIdx.x] += a[threadIdx.x ^ 1];
}
KERNEL coalesces(int* a)
{
    if (threadIdx.x & 1) {
        auto active = cg::coalesced_threads();
        a[active.thread_rank()] = active.size();
    }
}
#if __CUDA_ARCH__ >= 900
KERNEL __cluster_dims__(4, 1, 1) meets_the_cluster(float* a)
{
    __shared__ float s[64];
    auto cluster = cg::this_cluster();
    s[threadIdx.x & 63] = a[threadIdx.x];
    cluster.sync();
    a[threadIdx.x] = cluster.map_shared_rank(s, cluster.block_rank() ^ 1)[threadIdx.x & 63];
    cluster.sync();
}
#endif

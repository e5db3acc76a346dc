// Sums by block: out[block] = sum of its stretch of `per_block` floats.

typedef long long index;

__device__ __forceinline__ float own_sum(const float* a, index n, int per_block)
{
    index begin = (index)blockIdx.x * per_block, end = min(n, begin + per_block);
    float sum = 0;
    for (index i = begin + threadIdx.x * 4; i < end; i += blockDim.x * 4) {
        if (i + 4 <= end) {
            float4 x = *(const float4*)(a + i);
            sum += (x.x + x.y) + (x.z + x.w);
        } else {
            for (index j = i; j < end; j++) sum += a[j];
        }
    }
    return sum;
}

// A tree in shared memory: half of the threads drop out at each step. Any block size will do.
extern "C" __global__ void reduce_shared(const float* __restrict__ a, float* __restrict__ out,
                                         index n, int per_block)
{
    extern __shared__ float sums[];
    int me = threadIdx.x;
    sums[me] = own_sum(a, n, per_block);
    __syncthreads();
    for (int left = blockDim.x; left > 1;) {
        int half = (left + 1) / 2;
        if (me < left - half) sums[me] += sums[me + half];
        __syncthreads();
        left = half;
    }
    if (me == 0) out[blockIdx.x] = sums[0];
}

// Within a warp by shuffles, between warps once through shared memory.
extern "C" __global__ void reduce_shuffle(const float* __restrict__ a, float* __restrict__ out,
                                          index n, int per_block)
{
    __shared__ float of_warp[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = (blockDim.x + 31) / 32;
    float sum = own_sum(a, n, per_block);
    for (int d = 16; d; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (lane == 0) of_warp[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = lane < warps ? of_warp[lane] : 0;
        for (int d = 16; d; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
        if (lane == 0) out[blockIdx.x] = sum;
    }
}

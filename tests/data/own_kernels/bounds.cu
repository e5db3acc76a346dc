// What a kernel declares about its launch. Every kernel has a name of its own.

#define KERNEL extern "C" __global__ void

template <typename T, int THREADS>
__global__ void __launch_bounds__(THREADS) axpy(int n, T a, const T* x, T* y)
{
    __shared__ T tile[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : T(0);
    __syncthreads();
    if (i < n) y[i] += a * tile[threadIdx.x ^ 1];
}
template __global__ void axpy<float, 256>(int, float, const float*, float*);
template __global__ void axpy<double, 128>(int, double, const double*, double*);
template __global__ void axpy<long long, 64>(int, long long, const long long*, long long*);

namespace app {
namespace detail {
__global__ void first(float* a) { a[threadIdx.x] = 1; }
template <int... N>
__global__ void packed(float* a) { a[threadIdx.x] = float((N + ... + 0)); }
template __global__ void packed<1, 2, 3>(float*);
}
__global__ void second(double* a, int n) { a[n] = n / (a[threadIdx.x] + n); }
}

__device__ __forceinline__ float busy(const float* a)
{
    float v[64], sum = 0;
#pragma unroll
    for (int i = 0; i < 64; i++) v[i] = a[i * 33 + threadIdx.x];
#pragma unroll
    for (int i = 0; i < 64; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) sum += v[i] * v[(i * 5 + j) % 64];
    return sum;
}
KERNEL bounds_none(float* a) { a[threadIdx.x] = busy(a); }
KERNEL __launch_bounds__(256) bounds_one(float* a) { a[threadIdx.x] = busy(a); }
KERNEL __launch_bounds__(512, 4) bounds_two(float* a) { a[threadIdx.x] = busy(a); }
KERNEL __launch_bounds__(1024, 2) bounds_tight(float* a) { a[threadIdx.x] = busy(a); }
KERNEL __launch_bounds__(32, 1) bounds_warp(float* a) { a[threadIdx.x] = busy(a); }
KERNEL __maxnreg__(32) few_registers(float* a) { a[threadIdx.x] = busy(a); }

#if __CUDA_ARCH__ >= 900
KERNEL __launch_bounds__(256, 2, 4) bounds_three(float* a) { a[threadIdx.x] = busy(a); }
KERNEL __cluster_dims__(2, 1, 1) cluster_two(float* a) { a[threadIdx.x] = 1; }
KERNEL __cluster_dims__(2, 2, 2) __launch_bounds__(96, 3) cluster_eight(float* a)
{
    __shared__ float s[32];
    s[threadIdx.x & 31] = a[threadIdx.x];
    asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory");
    a[threadIdx.x] = s[threadIdx.x * 7 & 31];
}
KERNEL __block_size__((64, 2, 1)) block_of_128(float* a) { a[threadIdx.x] = 1; }
KERNEL __block_size__((32, 2, 2), (4, 1, 1)) block_and_cluster(float* a) { a[threadIdx.x] = 1; }
#endif
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
KERNEL __launch_bounds__(384, 1) gives_registers_away(float* a)
{
    if (threadIdx.x < 128) asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    else asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    a[threadIdx.x] = 1;
}
#endif

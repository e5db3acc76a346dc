// Kernels whose launches are taken or refused: launch bounds, a block size, a cluster, registers and
// static shared memory compiled in. None does anything: `out` is null.

template <int VALUES, int STATIC>
__device__ __forceinline__ void nothing(float* out)
{
    extern __shared__ float dynamic[];
    __shared__ volatile float own[STATIC / 4];
    if constexpr (VALUES > 0) {
        float a[VALUES];
#pragma unroll
        for (int i = 0; i < VALUES; ++i) a[i] = out ? out[32 * i + threadIdx.x] : i;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < VALUES; ++i)
            if (out) out[32 * i + threadIdx.x] = a[i];
    }
    if (out) {
        own[threadIdx.x & 7] = dynamic[threadIdx.x];
        out[threadIdx.x] = own[0];
    }
}

#define KERNEL(NAME, BOUNDS, STATIC, VALUES)                                                         \
    extern "C" __global__ void BOUNDS NAME(float* out) { nothing<VALUES, STATIC>(out); }

#ifdef LARGE
KERNEL(large, , LARGE, 0)
#else
KERNEL(plain, , 64, 0)
KERNEL(own_shared, , 16384, 0)
KERNEL(bounded, __launch_bounds__(256), 64, 0)
KERNEL(registers, __maxnreg__(80), 64, 80)
KERNEL(many_registers, __maxnreg__(255), 64, 250)
#ifdef REQUIRED
KERNEL(required, __block_size__((128, 1, 1)), 64, 0)
#endif
#ifdef CLUSTERED
KERNEL(clustered, __cluster_dims__(4, 1, 1), 64, 0)
#endif
#endif

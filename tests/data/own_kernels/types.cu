// Small and large types, and matrix instructions.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define KERNEL extern "C" __global__ void

KERNEL doubles(double* a, int n) { a[threadIdx.x] = fma(a[n], a[n + 1], a[n + 2]); }
KERNEL wide_integers(unsigned long long* a, int n) { a[threadIdx.x] = a[n] % a[n + 1] * a[n + 2]; }
#if __CUDA_ARCH__ >= 530
KERNEL halves(const __half2* a, __half2* b, __half f)
{
    b[threadIdx.x] = __hfma2(a[threadIdx.x], __half2half2(f), b[threadIdx.x]);
}
KERNEL half_functions(__half* a) { a[threadIdx.x] = hsqrt(hexp(a[threadIdx.x])) / a[0]; }
#endif
#if __CUDA_ARCH__ >= 800
KERNEL brain_floats(const __nv_bfloat162* a, __nv_bfloat162* b)
{
    b[threadIdx.x] = __hfma2(a[threadIdx.x], a[threadIdx.x + 1], b[threadIdx.x]);
}
#endif
template <typename T>
__global__ void converts(const T* a, float* b) { b[threadIdx.x] = float(a[threadIdx.x]) * 2; }
template __global__ void converts<__half>(const __half*, float*);
template __global__ void converts<__nv_bfloat16>(const __nv_bfloat16*, float*);

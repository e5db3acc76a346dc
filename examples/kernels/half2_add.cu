// z = x + y in half precision, two values per instruction and per 4-byte access.
// Capabilities before 5.3 have no half-precision arithmetic: the header converts to float there.

#include <cuda_fp16.h>

// n2 counts pairs: the arrays hold 2 * n2 values.
extern "C" __global__ void half2_add(
    const __half2* __restrict__ x, const __half2* __restrict__ y, __half2* __restrict__ z, int n2)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n2) {
        z[i] = __hadd2(x[i], y[i]);
    }
}

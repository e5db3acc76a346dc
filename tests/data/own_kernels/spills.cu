// More values than registers: with few registers the kernels spill, and so do functions they call.

#define KERNEL extern "C" __global__ void

template <int N>
__device__ __forceinline__ double churn(const double* a)
{
    double v[N], sum = 0;
#pragma unroll
    for (int i = 0; i < N; i++) v[i] = a[i * 33 + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < N; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) sum = sum * v[(i * 5 + j * 11) % N] + v[i];
    return sum;
}
__device__ __noinline__ double called(const double* a) { return churn<48>(a) + 1; }

KERNEL spills_little(double* a) { a[threadIdx.x] = churn<32>(a); }
KERNEL spills_much(double* a) { a[threadIdx.x] = churn<96>(a); }
KERNEL calls_what_spills(double* a) { a[threadIdx.x] = called(a) + called(a + 1); }
KERNEL spills_and_calls(double* a)
{
    double own = churn<40>(a);
    a[threadIdx.x] = own + called(a + (int)own) * churn<40>(a + 5);
}
KERNEL __launch_bounds__(1024, 2) spills_by_bounds(double* a) { a[threadIdx.x] = churn<64>(a); }
KERNEL spills_nothing(double* a) { a[threadIdx.x] += 1; }

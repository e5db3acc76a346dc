// Where data may live: shared, constant, local memory, parameters; and barriers.

#define KERNEL extern "C" __global__ void

KERNEL no_parameters() {}

struct Odd { char bytes[4001]; };
KERNEL big_parameters(Odd p, double* a) { a[threadIdx.x] = p.bytes[threadIdx.x * 3 % 4001]; }
struct Matrix { float row[32]; };
#if __CUDA_ARCH__ >= 700
KERNEL grid_constant(const __grid_constant__ Matrix m, float* a)
{
    const float* p = m.row;
    a[threadIdx.x] = p[threadIdx.x & 31];
}
struct Huge { int words[5000]; };
KERNEL huge_parameters(const __grid_constant__ Huge p, int* a) { a[threadIdx.x] = p.words[threadIdx.x]; }
#endif

__constant__ float table[3000];
__constant__ double weights[4] = {1, 2, 3, 4};
KERNEL constant_memory(float* a, int n) { a[threadIdx.x] = table[n + threadIdx.x] + weights[n & 3]; }
__device__ int counter;
__device__ float history[1024];
KERNEL global_variables(float* a) { history[atomicAdd(&counter, 1) & 1023] = a[threadIdx.x]; }

KERNEL static_byte(char* a)
{
    __shared__ char s;
    if (threadIdx.x == 0) s = a[1];
    __syncthreads();
    a[threadIdx.x] = s;
}
KERNEL static_1k(float* a)
{
    __shared__ float s[256];
    s[threadIdx.x & 255] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = s[threadIdx.x * 3 & 255];
}
KERNEL static_48k(int* a)
{
    __shared__ int s[12288];
    for (int i = threadIdx.x; i < 12288; i += blockDim.x) s[i] = a[i];
    __syncthreads();
    a[threadIdx.x] = s[a[threadIdx.x]];
}
KERNEL dynamic_shared(float* a)
{
    extern __shared__ float d[];
    d[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = d[threadIdx.x ^ 1];
}
KERNEL both_shared(float* a)
{
    extern __shared__ float d[];
    __shared__ __align__(128) double s[33];
    s[threadIdx.x & 31] = a[1];
    d[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = d[threadIdx.x ^ 1] + s[a[2] > 0];
}

KERNEL barriers_named(float* a)
{
    asm volatile("bar.sync 3, 64;" ::: "memory");
    a[0] = 1;
    asm volatile("bar.sync 5, 64;" ::: "memory");
}
KERNEL barriers_by_register(float* a, int which)
{
    asm volatile("bar.sync %0, 64;" ::"r"(which) : "memory");
    a[threadIdx.x] = 1;
}
KERNEL barriers_last(float* a)
{
    asm volatile("bar.arrive 15, 96;" ::: "memory");
    a[threadIdx.x] = 1;
}
KERNEL votes(int* a) { a[threadIdx.x] = __syncthreads_count(a[threadIdx.x]); }

KERNEL local_array(float* a, int n)
{
    float s[100];
    for (int i = 0; i < n; i++) s[i] = a[i];
    for (int i = 0; i < n; i++) a[i] = s[(i * 7 + n) % 100];
}
KERNEL local_40k(int* a, int n)
{
    int s[10000];
    for (int i = 0; i < n; i++) s[i] = a[i];
    for (int i = 0; i < n; i++) a[i] = s[(i * 7 + n) % 10000];
}
#if __CUDA_ARCH__ >= 800
KERNEL copies_async(const float* a, float* b)
{
    __shared__ __align__(16) float s[512];
    unsigned at = (unsigned)__cvta_generic_to_shared(s + threadIdx.x * 4);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n\tcp.async.wait_all;"
                 ::"r"(at), "l"(a + threadIdx.x * 4) : "memory");
    __syncthreads();
    b[threadIdx.x] = s[threadIdx.x ^ 1];
}
#endif

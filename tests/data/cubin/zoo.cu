// One kernel for each thing that a cubin can say, or fail to say. README.md says how it is built.

#define KERNEL extern "C" __global__ void

KERNEL plain(float* a) { a[threadIdx.x] = 1; }
KERNEL no_parameters() {}

struct Big { char bytes[3000]; };
KERNEL big_parameters(Big p, float* a) { a[threadIdx.x] = p.bytes[threadIdx.x]; }

KERNEL static_shared(float* a)
{
    __shared__ float s[256];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = s[threadIdx.x ^ 1];
}
KERNEL __launch_bounds__(256, 2) dynamic_shared(float* a)
{
    extern __shared__ float d[];
    d[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = d[threadIdx.x ^ 1];
}
KERNEL __launch_bounds__(96, 3) both_shared(float* a)
{
    extern __shared__ float d[];
    __shared__ double s[32];
    s[threadIdx.x & 31] = a[1];
    d[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = d[threadIdx.x ^ 1] + s[3];
}
KERNEL named_barriers(float* a)
{
    asm volatile("bar.sync 3, 64;");
    a[0] = 1;
    asm volatile("bar.sync 5, 64;");
}

// -- stacks ---------------------------------------------------------------------------------------

KERNEL own_stack(float* a, int n)
{
    float s[100];
    for (int i = 0; i < n; i++) s[i] = a[i];
    for (int i = 0; i < n; i++) a[i] = s[(i * 7 + n) % 100];
}
__device__ __noinline__ float inner(float* a, int n)
{
    float s[20];
    for (int i = 0; i < n; i++) s[i] = a[i];
    return s[n];
}
__device__ __noinline__ float outer(float* a, int n)
{
    float s[50];
    for (int i = 0; i < n; i++) s[i] = inner(a, i);
    return s[n];
}
KERNEL calls_two_deep(float* a, int n) { a[n] = outer(a, n); }

__device__ __noinline__ int walk(const int* a, int d)
{
    return d <= 1 ? a[d] : walk(a, d - 1) + walk(a, d - 2) * a[d];
}
KERNEL recursive(const int* a, int* o, int d) { o[threadIdx.x] = walk(a, d + (threadIdx.x & 1)); }
KERNEL recursive_with_stack(const int* a, int* o, int d)
{
    int s[100];
    for (int i = 0; i < d; i++) s[i] = a[i];
    o[threadIdx.x] = walk(a, d + s[d + threadIdx.x]) + s[d];
}
__device__ int odd(const int* a, int n);
__device__ __noinline__ int even(const int* a, int n)
{
    int s[10];
    for (int i = 0; i < n; i++) s[i] = a[i];
    return n == 0 ? 1 : odd(a, n - 1) + s[n];
}
__device__ __noinline__ int odd(const int* a, int n)
{
    int s[30];
    for (int i = 0; i < n; i++) s[i] = a[i];
    return n == 0 ? 0 : even(a, n - 1) + s[n];
}
KERNEL mutually_recursive(const int* a, int* o, int d) { o[threadIdx.x] = even(a, d); }

typedef float (*binary)(float, float);
__device__ __noinline__ float add(float a, float b) { return a + b; }
__device__ __noinline__ float power(float a, float b) { return powf(a, b); }
__device__ binary table[2] = {add, power};
KERNEL known_pointers(const float* x, float* y, int i)
{
    y[threadIdx.x] = table[i & 1](x[threadIdx.x], 1.5f);
}
typedef int (*unary)(const int*, int);
KERNEL unknown_pointer(const int* a, unary* t, int* o, int d) { o[threadIdx.x] = t[d](a, d); }

KERNEL prints(int a) { printf("%d\n", a); }
KERNEL divides(float* a, double* b, int* c, int d)
{
    a[1] = a[2] / a[3];
    b[1] = sqrt(b[2]) / b[3];
    c[1] /= d;
}

// -- bounds ---------------------------------------------------------------------------------------

KERNEL __launch_bounds__(256) bounded(float* a) { a[threadIdx.x] = 1; }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
KERNEL __launch_bounds__(256, 2, 4) bounded_cluster(float* a) { a[threadIdx.x] = 1; }
KERNEL __cluster_dims__(2, 1, 1) clustered(float* a) { a[threadIdx.x] = 1; }
KERNEL __block_size__((64, 2, 1)) block_of_128(float* a) { a[threadIdx.x] = 1; }
KERNEL __block_size__((64, 2, 1), (2, 2, 1)) blocks_of_clusters(float* a) { a[threadIdx.x] = 1; }
#endif
KERNEL __maxnreg__(40) few_registers(float* a) { a[threadIdx.x] = 1; }

// Functions that kernels call, in the same file and in another one. README.md says how it is built.
extern __device__ float elsewhere(float, int);

__device__ __noinline__ float shared_fn(float x, int n)
{
    float a[40];
    for (int i = 0; i < 40; i++) a[i] = x * i;
    return a[n % 40];
}
__device__ __noinline__ float only_b(float x, int n)
{
    float a[20];
    for (int i = 0; i < 20; i++) a[i] = x + i;
    return a[n % 20];
}
__global__ void a(float* p, int n) { p[threadIdx.x] = shared_fn(p[0], n); }
__global__ void b(float* p, int n)
{
    __shared__ float s[10];
    s[threadIdx.x] = p[3];
    __syncthreads();
    p[threadIdx.x] = shared_fn(p[0], n) + only_b(p[1], n) + s[n];
}
#ifdef ELSEWHERE
__global__ void c(float* p, int n) { p[threadIdx.x] = elsewhere(p[0], n); }
#endif

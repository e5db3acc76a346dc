// What app.cu calls, and a kernel that calls nothing.
__device__ __noinline__ float elsewhere(float x, int n)
{
    float a[30];
    for (int i = 0; i < 30; i++) a[i] = x * i;
    return a[n % 30];
}
__global__ void d(float* p) { *p = 1; }

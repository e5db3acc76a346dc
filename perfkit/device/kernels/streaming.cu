// Kernels that stream through memory. A thread takes 16 bytes of each array; the thread at the end
// takes what is left over, one by one.

typedef long long index;
#define FIRST(per_thread) ((blockIdx.x * (index)blockDim.x + threadIdx.x) * (per_thread))
#define HALVES 8

extern "C" __global__ void vector_add(const float* __restrict__ a, const float* __restrict__ b,
                                      float* __restrict__ c, index n)
{
    index i = FIRST(4);
    if (i + 4 <= n) {
        float4 x = *(const float4*)(a + i), y = *(const float4*)(b + i);
        *(float4*)(c + i) = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    } else {
        for (; i < n; i++) c[i] = a[i] + b[i];
    }
}

#if __CUDA_ARCH__ >= 530  // f16 arithmetic
__device__ __forceinline__ unsigned add_pair(unsigned x, unsigned y)
{
    unsigned sum;
    asm("add.rn.f16x2 %0, %1, %2;" : "=r"(sum) : "r"(x), "r"(y));
    return sum;
}

extern "C" __global__ void vector_add_half2(const unsigned short* __restrict__ a,
                                            const unsigned short* __restrict__ b,
                                            unsigned short* __restrict__ c, index n)
{
    index i = FIRST(HALVES);
    if (i + HALVES <= n) {
        uint4 x = *(const uint4*)(a + i), y = *(const uint4*)(b + i);
        *(uint4*)(c + i) = make_uint4(add_pair(x.x, y.x), add_pair(x.y, y.y), add_pair(x.z, y.z),
                                      add_pair(x.w, y.w));
    } else {
        for (; i < n; i++) c[i] = (unsigned short)add_pair(a[i], b[i]);
    }
}
#endif

extern "C" __global__ void copy(const float* __restrict__ a, float* __restrict__ b, index n)
{
    index i = FIRST(4);
    if (i + 4 <= n) {
        *(float4*)(b + i) = *(const float4*)(a + i);
    } else {
        for (; i < n; i++) b[i] = a[i];
    }
}

extern "C" __global__ void triad(const float* __restrict__ b, const float* __restrict__ c, float s,
                                 float* __restrict__ a, index n)
{
    index i = FIRST(4);
    if (i + 4 <= n) {
        float4 x = *(const float4*)(b + i), y = *(const float4*)(c + i);
        *(float4*)(a + i) = make_float4(x.x + s * y.x, x.y + s * y.y, x.z + s * y.z, x.w + s * y.w);
    } else {
        for (; i < n; i++) a[i] = b[i] + s * c[i];
    }
}

extern "C" __global__ void write_only(float value, float* __restrict__ a, index n)
{
    index i = FIRST(4);
    if (i + 4 <= n) {
        *(float4*)(a + i) = make_float4(value, value, value, value);
    } else {
        for (; i < n; i++) a[i] = value;
    }
}

// Every warp adds up a stretch of 32 * READ_FLOATS floats, four loads of 16 bytes in flight, and
// leaves one sum: almost nothing is written.
#define READ_VECTORS 4
extern "C" __global__ void read_only(const float* __restrict__ a, float* __restrict__ sums, index n)
{
    index thread = FIRST(1), warp = thread / 32;
    int lane = threadIdx.x % 32;
    index i = warp * 32 * READ_VECTORS * 4 + lane * 4;
    float4 x[READ_VECTORS];
#pragma unroll
    for (int v = 0; v < READ_VECTORS; v++) {
        index j = i + v * 128;
        x[v] = make_float4(0, 0, 0, 0);
        if (j + 4 <= n) {
            x[v] = *(const float4*)(a + j);
        } else {
            if (j < n) x[v].x = a[j];
            if (j + 1 < n) x[v].y = a[j + 1];
            if (j + 2 < n) x[v].z = a[j + 2];
        }
    }
    float sum = 0;
#pragma unroll
    for (int v = 0; v < READ_VECTORS; v++) sum += (x[v].x + x[v].y) + (x[v].z + x[v].w);
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (lane == 0 && warp * 32 * READ_VECTORS * 4 < n) sums[warp] = sum;
}

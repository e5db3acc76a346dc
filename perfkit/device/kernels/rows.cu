// Work on the rows of a matrix of f32: one pass over memory each.

typedef long long index;

// --- the end of a linear layer: one thread takes four columns -------------------------------

__device__ __forceinline__ float gelu(float x) { return 0.5f * x * (1 + erff(x * 0.70710678f)); }

#define BIAS(name, function)                                                                      \
    extern "C" __global__ void name(const float* __restrict__ x, const float* __restrict__ bias,  \
                                    float* __restrict__ y, index n, int columns)                  \
    {                                                                                             \
        index i = (blockIdx.x * (index)blockDim.x + threadIdx.x) * 4;                             \
        if (i >= n) return; /* columns are a multiple of 4, so n is one */                        \
        float4 v = *(const float4*)(x + i), b = *(const float4*)(bias + (unsigned)(i % columns)); \
        *(float4*)(y + i) = make_float4(function(v.x + b.x), function(v.y + b.y),                 \
                                        function(v.z + b.z), function(v.w + b.w));                \
    }

__device__ __forceinline__ float relu(float x) { return x > 0 ? x : 0; }
BIAS(bias_relu, relu)
BIAS(bias_gelu, gelu)

// --- a row a block, held in registers ---------------------------------------------------------
// VECTORS is ceil(columns / 4 / threads): how many float4 of the row a thread holds.
#ifdef VECTORS

struct Add {
    static __device__ float of(float x, float y) { return x + y; }
    static __device__ float none() { return 0; }
};
struct Max {
    static __device__ float of(float x, float y) { return fmaxf(x, y); }
    static __device__ float none() { return -__int_as_float(0x7f800000); }
};

// Over all threads of the block. A result is read before the next call may write: two slots.
template <class Op>
__device__ __forceinline__ float over_block(float value, int slot)
{
    __shared__ float of_warp[2][32];
    for (int d = 16; d; d /= 2) value = Op::of(value, __shfl_xor_sync(0xffffffff, value, d));
    int lane = threadIdx.x % 32;
    if (lane == 0) of_warp[slot][threadIdx.x / 32] = value;
    __syncthreads();
    value = lane < blockDim.x / 32 ? of_warp[slot][lane] : Op::none();
    for (int d = 16; d; d /= 2) value = Op::of(value, __shfl_xor_sync(0xffffffff, value, d));
    return value;
}

template <class Function>
__device__ __forceinline__ void each(float4 (&row)[VECTORS], int columns, Function function)
{
#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
        int column = (v * blockDim.x + threadIdx.x) * 4;
        if (column < columns) function(row[v], column);
    }
}

extern "C" __global__ void layer_norm(const float* __restrict__ x, const float* __restrict__ gamma,
                                      const float* __restrict__ beta, float* __restrict__ y,
                                      int columns, float epsilon)
{
    const float* from = x + blockIdx.x * (index)columns;
    float* to = y + blockIdx.x * (index)columns;
    float4 row[VECTORS];
    float sum = 0, squares = 0;
    each(row, columns, [&](float4& v, int column) {
        v = *(const float4*)(from + column);
        sum += (v.x + v.y) + (v.z + v.w);
    });
    float mean = over_block<Add>(sum, 0) / columns;
    each(row, columns, [&](float4& v, int) {
        v = make_float4(v.x - mean, v.y - mean, v.z - mean, v.w - mean);
        squares += (v.x * v.x + v.y * v.y) + (v.z * v.z + v.w * v.w);
    });
    float scale = rsqrtf(over_block<Add>(squares, 1) / columns + epsilon);
    each(row, columns, [&](float4& v, int column) {
        float4 g = *(const float4*)(gamma + column), b = *(const float4*)(beta + column);
        *(float4*)(to + column) = make_float4(v.x * scale * g.x + b.x, v.y * scale * g.y + b.y,
                                              v.z * scale * g.z + b.z, v.w * scale * g.w + b.w);
    });
}

extern "C" __global__ void softmax(const float* __restrict__ x, float* __restrict__ y, int columns)
{
    const float* from = x + blockIdx.x * (index)columns;
    float* to = y + blockIdx.x * (index)columns;
    float4 row[VECTORS];
    float most = Max::none(), sum = 0;
    each(row, columns, [&](float4& v, int column) {
        v = *(const float4*)(from + column);
        most = fmaxf(most, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
    });
    most = over_block<Max>(most, 0);
    each(row, columns, [&](float4& v, int) {
        v = make_float4(__expf(v.x - most), __expf(v.y - most), __expf(v.z - most),
                        __expf(v.w - most));
        sum += (v.x + v.y) + (v.z + v.w);
    });
    float scale = 1 / over_block<Add>(sum, 1);
    each(row, columns, [&](float4& v, int column) {
        *(float4*)(to + column) = make_float4(v.x * scale, v.y * scale, v.z * scale, v.w * scale);
    });
}
#endif

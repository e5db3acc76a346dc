// C[m, n] = A[m, k] B[k, n] in f32 on the SIMT cores.

typedef long long index;

// One result a thread, straight from memory. A block has 32 columns of threads.
extern "C" __global__ void matmul_naive(const float* __restrict__ a, const float* __restrict__ b,
                                        float* __restrict__ c, int m, int n, int k)
{
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0;
    for (int i = 0; i < k; i++) sum += a[(index)row * k + i] * b[(index)i * n + column];
    c[(index)row * n + column] = sum;
}

// 8 x 8 results a thread, from slices of A and B in shared memory. The block's tile is ROWS x 128,
// with ROWS = threads / 2: a warp has 4 x 8 threads, so 32 x 64 results.
#ifdef ROWS
#define COLUMNS 128
#define DEPTH 8
#define THREADS (ROWS * 2)
#define PITCH (ROWS + 4)  // a column of A goes into shared memory as a row

__device__ __forceinline__ float4 four(const float* from, int have)
{
    if (have >= 4) return *(const float4*)from;
    return make_float4(have > 0 ? from[0] : 0, have > 1 ? from[1] : 0, have > 2 ? from[2] : 0, 0);
}

__device__ __forceinline__ float4 loose(const float* from, int have)
{
    return make_float4(have > 0 ? from[0] : 0, have > 1 ? from[1] : 0, have > 2 ? from[2] : 0,
                       have > 3 ? from[3] : 0);
}

extern "C" __global__ void __launch_bounds__(THREADS, THREADS == 256 ? 2 : 1)
    matmul_tiled(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                 int m, int n, int k)
{
    __shared__ __align__(16) float as[2][DEPTH][PITCH];
    __shared__ __align__(16) float bs[2][DEPTH][COLUMNS];
    constexpr int A_LOADS = ROWS * DEPTH / 4 / THREADS;
    constexpr int B_LOADS = COLUMNS * DEPTH / 4 / THREADS;
    int t = threadIdx.x, warp = t / 32, lane = t % 32;
    int row0 = blockIdx.y * ROWS, column0 = blockIdx.x * COLUMNS;
    // lanes i and i ^ 1 want the same of B, i and i ^ 2 the same of A: wide loads then pair up
    int my_row = warp / 2 * 32 + (lane / 16 * 2 + lane % 2) * 4;
    int my_column = warp % 2 * 64 + lane / 2 % 8 * 4;
    bool packed_a = k % 4 == 0, packed_b = n % 4 == 0;
    float4 next_a[A_LOADS], next_b[B_LOADS];
    float sums[8][8] = {};

    auto load = [&](int k0) {
#pragma unroll
        for (int i = 0; i < A_LOADS; i++) {
            int at = t + i * THREADS, row = row0 + at / (DEPTH / 4), depth = k0 + at % (DEPTH / 4) * 4;
            const float* from = a + (index)row * k + depth;
            int have = row < m ? k - depth : 0;
            next_a[i] = packed_a ? four(from, have) : loose(from, have);
        }
#pragma unroll
        for (int i = 0; i < B_LOADS; i++) {
            int at = t + i * THREADS, depth = k0 + at / (COLUMNS / 4);
            int column = column0 + at % (COLUMNS / 4) * 4;
            const float* from = b + (index)depth * n + column;
            int have = depth < k ? n - column : 0;
            next_b[i] = packed_b ? four(from, have) : loose(from, have);
        }
    };
    auto store = [&](int to) {
#pragma unroll
        for (int i = 0; i < A_LOADS; i++) {
            int at = t + i * THREADS, row = at / (DEPTH / 4), depth = at % (DEPTH / 4) * 4;
            as[to][depth][row] = next_a[i].x;
            as[to][depth + 1][row] = next_a[i].y;
            as[to][depth + 2][row] = next_a[i].z;
            as[to][depth + 3][row] = next_a[i].w;
        }
#pragma unroll
        for (int i = 0; i < B_LOADS; i++) {
            int at = t + i * THREADS;
            *(float4*)&bs[to][at / (COLUMNS / 4)][at % (COLUMNS / 4) * 4] = next_b[i];
        }
    };

    load(0);
    store(0);
    __syncthreads();
    for (int k0 = 0, now = 0; k0 < k; k0 += DEPTH, now ^= 1) {
        bool more = k0 + DEPTH < k;
        if (more) load(k0 + DEPTH);
#pragma unroll
        for (int d = 0; d < DEPTH; d++) {
            float4 x0 = *(float4*)&as[now][d][my_row], x1 = *(float4*)&as[now][d][my_row + 16];
            float4 y0 = *(float4*)&bs[now][d][my_column], y1 = *(float4*)&bs[now][d][my_column + 32];
            float x[8] = {x0.x, x0.y, x0.z, x0.w, x1.x, x1.y, x1.z, x1.w};
            float y[8] = {y0.x, y0.y, y0.z, y0.w, y1.x, y1.y, y1.z, y1.w};
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++) sums[i][j] += x[i] * y[j];
        }
        if (more) store(now ^ 1);
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
        int row = row0 + my_row + i % 4 + i / 4 * 16;
        if (row >= m) continue;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            int column = column0 + my_column + half * 32;
            float* to = c + (index)row * n + column;
            float4 values = make_float4(sums[i][half * 4], sums[i][half * 4 + 1],
                                        sums[i][half * 4 + 2], sums[i][half * 4 + 3]);
            if (packed_b && column + 4 <= n) {
                *(float4*)to = values;
            } else {
                if (column < n) to[0] = values.x;
                if (column + 1 < n) to[1] = values.y;
                if (column + 2 < n) to[2] = values.z;
                if (column + 3 < n) to[3] = values.w;
            }
        }
    }
}
#endif

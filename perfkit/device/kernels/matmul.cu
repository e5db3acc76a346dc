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

// 8 x 16 results a thread, from slices of A and B in shared memory. A warp has 4 x 8 threads, so
// 32 x 128 results; the block's warps stand one above the other and make ROWS x 128.
#ifdef ROWS
#define COLUMNS 128
#define DEPTH 8
#define DOWN 8
#define ACROSS 16
#define THREADS ROWS
#define PITCH (ROWS + 4)  // a column of A goes into shared memory as a row

struct Slice {
    float a[DEPTH][PITCH], b[DEPTH][COLUMNS];
};

// Four floats of a row of which `have` are left; what is beyond counts as 0.
template <bool whole> __device__ __forceinline__ float4 four(const float* from, int have)
{
    if (whole) return *(const float4*)from;
    return make_float4(have > 0 ? from[0] : 0, have > 1 ? from[1] : 0, have > 2 ? from[2] : 0,
                       have > 3 ? from[3] : 0);
}

// The block's results; `whole`: none of its slices reaches beyond A or B, and rows are aligned.
template <bool whole>
__device__ __forceinline__ void product(Slice* slices, const float* __restrict__ a,
                                        const float* __restrict__ b, float* __restrict__ c, int m,
                                        int n, int k)
{
    constexpr int A_LOADS = ROWS * DEPTH / 4 / THREADS, A_STEP = THREADS / (DEPTH / 4);
    constexpr int B_LOADS = COLUMNS * DEPTH / 4 / THREADS, B_STEP = THREADS / (COLUMNS / 4);
    int t = threadIdx.x, lane = t % 32;
    int row0 = blockIdx.y * ROWS, column0 = blockIdx.x * COLUMNS;
    // what it loads of the slices
    int a_row = t / (DEPTH / 4), a_depth = t % (DEPTH / 4) * 4;
    int b_depth = t / (COLUMNS / 4), b_column = t % (COLUMNS / 4) * 4;
    // what it multiplies: fours 16 rows and 32 columns apart. Lanes i and i ^ 1 want the same of B,
    // i and i ^ 2 the same of A: wide loads then pair up
    int my_row = t / 32 * 32 + (lane / 16 * 2 + lane % 2) * 4, my_column = lane / 2 % 8 * 4;
    const float* from_a = a + (index)(row0 + a_row) * k + a_depth;
    const float* from_b = b + (index)b_depth * n + column0 + b_column;
    float4 next_a[A_LOADS], next_b[B_LOADS];
    float x[2][DOWN], y[2][ACROSS], sums[DOWN][ACROSS] = {};

    auto load = [&](int k0) {
#pragma unroll
        for (int i = 0; i < A_LOADS; i++) {
            int have = row0 + a_row + i * A_STEP < m ? k - k0 - a_depth : 0;
            next_a[i] = four<whole>(from_a + (index)i * A_STEP * k, have);
        }
#pragma unroll
        for (int i = 0; i < B_LOADS; i++) {
            int have = k0 + b_depth + i * B_STEP < k ? n - column0 - b_column : 0;
            next_b[i] = four<whole>(from_b + (index)i * B_STEP * n, have);
        }
        from_a += DEPTH;
        from_b += (index)DEPTH * n;
    };
    auto store = [&](Slice* to) {
#pragma unroll
        for (int i = 0; i < A_LOADS; i++) {
            float* column = &to->a[a_depth][a_row + i * A_STEP];
            column[0] = next_a[i].x;
            column[PITCH] = next_a[i].y;
            column[2 * PITCH] = next_a[i].z;
            column[3 * PITCH] = next_a[i].w;
        }
#pragma unroll
        for (int i = 0; i < B_LOADS; i++)
            *(float4*)&to->b[b_depth + i * B_STEP][b_column] = next_b[i];
    };
    auto take = [&](const Slice* from, int d) {
#pragma unroll
        for (int i = 0; i < DOWN; i += 4)
            *(float4*)&x[d % 2][i] = *(const float4*)&from->a[d][my_row + i * 4];
#pragma unroll
        for (int j = 0; j < ACROSS; j += 4)
            *(float4*)&y[d % 2][j] = *(const float4*)&from->b[d][my_column + j * 8];
    };

    // Three slices are under way: one is multiplied, the next one goes from registers into shared
    // memory, and the one after that, which has a whole round to come from L2, into registers.
    Slice *now = slices, *next = slices + 1;
    load(0);
    store(now);
    if (DEPTH < k) load(DEPTH);
    __syncthreads();
    take(now, 0);
#pragma unroll 1
    for (int k0 = 0; k0 < k; k0 += DEPTH) {
#pragma unroll
        for (int d = 0; d < DEPTH; d++) {
            if (d == DEPTH / 2) {
                store(next);
                if (k0 + 2 * DEPTH < k) load(k0 + 2 * DEPTH);
            }
            if (d == DEPTH - 1) __syncthreads();
            take(d == DEPTH - 1 ? next : now, (d + 1) % DEPTH);
            // to and fro: each multiply-add has an operand in common with the last one, which then
            // needs no port of the register file
#pragma unroll
            for (int j = 0; j < ACROSS; j++)
#pragma unroll
                for (int step = 0; step < DOWN; step++) {
                    int i = j % 2 ? DOWN - 1 - step : step;
                    sums[i][j] += x[d % 2][i] * y[d % 2][j];
                }
        }
        Slice* done = now;
        now = next, next = done;
    }
    // As single floats: four that are written at once have to lie in registers side by side, which
    // costs the loop more than it gains here.
#pragma unroll
    for (int i = 0; i < DOWN; i++) {
        int row = row0 + my_row + i % 4 + i / 4 * 16;
        if (!whole && row >= m) continue;
#pragma unroll
        for (int j = 0; j < ACROSS; j++) {
            int column = column0 + my_column + j % 4 + j / 4 * 32;
            if (whole || column < n) c[(index)row * n + column] = sums[i][j];
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 256 / THREADS)
    matmul_tiled(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                 int m, int n, int k)
{
    __shared__ __align__(16) Slice slices[2];
    bool whole = (int)(blockIdx.y + 1) * ROWS <= m && (int)(blockIdx.x + 1) * COLUMNS <= n &&
                 k % DEPTH == 0 && n % 4 == 0;
    if (whole)
        product<true>(slices, a, b, c, m, n, k);
    else
        product<false>(slices, a, b, c, m, n, k);
}
#endif

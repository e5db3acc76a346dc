// C = A * B for square row-major matrices, one output element per thread.
//
// Every element of A and B is needed by TILE different threads of a block. The block therefore
// copies one TILE x TILE piece of each into shared memory, where all its threads can read it, and
// walks along the common dimension piece by piece. Global memory traffic falls by a factor of TILE.
//
//   perfkit occupancy examples/kernels/tiled_matmul.cu --gpu v100,a100,h100
//   perfkit occupancy examples/kernels/tiled_matmul.cu --gpu h100 -D TILE=32

#ifndef TILE
#define TILE 16
#endif

// The bound promises the compiler that no launch has more threads: it may then use up to
// 65536 / (TILE * TILE) registers per thread, and a larger launch fails instead of misbehaving.
extern "C" __global__ void __launch_bounds__(TILE * TILE)
tiled_matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n)
{
    __shared__ float a_tile[TILE][TILE];
    __shared__ float b_tile[TILE][TILE];

    const int column = blockIdx.x * TILE + threadIdx.x;
    const int row = blockIdx.y * TILE + threadIdx.y;
    float sum = 0.0f;

    for (int start = 0; start < n; start += TILE) {
        // Neighbouring threads read neighbouring addresses. What lies outside counts as zero.
        const int a_column = start + threadIdx.x;
        const int b_row = start + threadIdx.y;
        a_tile[threadIdx.y][threadIdx.x] = row < n && a_column < n ? a[row * n + a_column] : 0.0f;
        b_tile[threadIdx.y][threadIdx.x] = b_row < n && column < n ? b[b_row * n + column] : 0.0f;
        __syncthreads();  // both pieces are complete

#pragma unroll
        for (int k = 0; k < TILE; ++k) {
            sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
        }
        __syncthreads();  // nobody needs them any more
    }

    if (row < n && column < n) {
        c[row * n + column] = sum;
    }
}

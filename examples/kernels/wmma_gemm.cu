// C = A * B on tensor cores: half-precision operands, single-precision sums. Needs 7.0.
//
// A warp computes one 16 x 16 tile of C. Fragments are spread over the registers of its 32
// threads in a way that only the hardware knows, so they are loaded, used and stored as a whole.
// All three matrices are row-major; m, n and k are multiples of 16.

#include <mma.h>

constexpr int tile = 16;
constexpr int warps_per_block = 4;

extern "C" __global__ void __launch_bounds__(32 * warps_per_block)
wmma_gemm(const half* a, const half* b, float* c, int m, int n, int k)
{
    using namespace nvcuda;

    const int warp = blockIdx.x * warps_per_block + threadIdx.x / 32;
    const int tiles_per_row = n / tile;
    if (warp >= m / tile * tiles_per_row) {
        return;  // the whole warp leaves: fragments need all its threads
    }
    const int row = warp / tiles_per_row * tile;
    const int column = warp % tiles_per_row * tile;

    wmma::fragment<wmma::accumulator, tile, tile, tile, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int i = 0; i < k; i += tile) {
        wmma::fragment<wmma::matrix_a, tile, tile, tile, half, wmma::row_major> left;
        wmma::fragment<wmma::matrix_b, tile, tile, tile, half, wmma::row_major> right;
        wmma::load_matrix_sync(left, a + row * k + i, k);
        wmma::load_matrix_sync(right, b + i * n + column, n);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}

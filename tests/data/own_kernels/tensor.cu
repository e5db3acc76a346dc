// Tensor cores through WMMA: from 7.0 on. The other kernel is there for all.

#define KERNEL extern "C" __global__ void

KERNEL no_tensors(float* a) { a[threadIdx.x] += 1; }

#if __CUDA_ARCH__ >= 700
#include <mma.h>
using namespace nvcuda;
KERNEL __launch_bounds__(128) wmma_half(const half* a, const half* b, float* c, int n)
{
    __shared__ half tile[16 * 16];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    for (int k = 0; k < n; k += 16) {
        tile[threadIdx.x] = a[k + threadIdx.x];
        tile[threadIdx.x + 128] = a[k + n + threadIdx.x];
        __syncthreads();
        wmma::load_matrix_sync(fa, tile, 16);
        wmma::load_matrix_sync(fb, b + k, n);
        wmma::mma_sync(fc, fa, fb, fc);
        __syncthreads();
    }
    wmma::store_matrix_sync(c, fc, n, wmma::mem_row_major);
}
#endif
#if __CUDA_ARCH__ >= 800
KERNEL wmma_double(const double* a, const double* b, double* c)
{
    wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> fc;
    wmma::fill_fragment(fc, 0.0);
    wmma::load_matrix_sync(fa, a, 4);
    wmma::load_matrix_sync(fb, b, 4);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 8, wmma::mem_row_major);
}
#endif

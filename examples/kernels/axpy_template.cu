// A template becomes a kernel only when it is instantiated. Name the instances you want:
//
//   perfkit inspect examples/kernels/axpy_template.cu --gpu h100
//       --instantiate 'axpy<float, 256>' --instantiate 'axpy<double, 128>'
//
// The block size is a template parameter, so that it can size the tile and bound the launch.

template <typename T, int BLOCK>
__global__ void __launch_bounds__(BLOCK)
axpy(int n, T a, const T* __restrict__ x, T* __restrict__ y)
{
    __shared__ T tile[BLOCK];

    const int i = blockIdx.x * BLOCK + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : T(0);
    __syncthreads();
    if (i < n) {
        y[i] += a * tile[threadIdx.x];
    }
}

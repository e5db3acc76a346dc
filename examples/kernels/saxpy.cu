// y = a * x + y: one multiply-add per twelve bytes of memory traffic, so memory sets its speed.
//
// The loop strides by the whole grid: any launch configuration is correct, and a grid that just
// fills the GPU avoids starting blocks that have next to nothing to do.

extern "C" __global__ void saxpy(int n, float a, const float* __restrict__ x, float* __restrict__ y)
{
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        y[i] = a * x[i] + y[i];
    }
}

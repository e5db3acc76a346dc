// Clusters as a kernel can declare them: at most so many blocks, exactly these, or nothing.
extern "C" __global__ void __launch_bounds__(128, 1, 4) bounded(float *x) { x[threadIdx.x] = 1; }

extern "C" __global__ void __cluster_dims__(2, 1, 1) required(float *x) { x[threadIdx.x] = 1; }

extern "C" __global__ void plain(float *x) { x[threadIdx.x] = 1; }

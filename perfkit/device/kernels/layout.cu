// The same work with good and bad places in memory.

typedef long long index;
#define THREAD (blockIdx.x * (index)blockDim.x + threadIdx.x)

extern "C" __global__ void strided(const float* __restrict__ a, float* __restrict__ b, index n,
                                   int stride)
{
    index i = THREAD;
    if (i < n) b[i] = a[i * stride];
}

// Eight floats of 32 bytes, of which two are wanted.
struct Particle {
    float x, y, z, mass, vx, vy, vz, charge;
};

extern "C" __global__ void array_of_structs(const Particle* __restrict__ p, float* __restrict__ out,
                                            index n)
{
    index i = THREAD;
    if (i < n) out[i] = p[i].mass * p[i].charge;
}

extern "C" __global__ void struct_of_arrays(const float* __restrict__ mass,
                                            const float* __restrict__ charge,
                                            float* __restrict__ out, index n)
{
    index i = THREAD;
    if (i < n) out[i] = mass[i] * charge[i];
}

// Transposes of a rows x columns matrix. A block has 32 columns of threads and takes 32 x 32.
#define TILE 32

extern "C" __global__ void transpose_naive(const float* __restrict__ a, float* __restrict__ b,
                                           int rows, int columns)
{
    int x = blockIdx.x * TILE + threadIdx.x;
    for (int y = blockIdx.y * TILE + threadIdx.y, end = min(rows, (int)(blockIdx.y + 1) * TILE);
         y < end; y += blockDim.y)
        if (x < columns) b[(index)x * rows + y] = a[(index)y * columns + x];
}

template <int PITCH>
__device__ __forceinline__ void through_tile(const float* a, float* b, int rows, int columns)
{
    __shared__ float tile[TILE * PITCH];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE;
    for (int i = threadIdx.y; i < TILE; i += blockDim.y)
        if (x < columns && y + i < rows)
            tile[i * PITCH + threadIdx.x] = a[(index)(y + i) * columns + x];
    __syncthreads();
    int to = blockIdx.y * TILE + threadIdx.x, row = blockIdx.x * TILE;
    for (int i = threadIdx.y; i < TILE; i += blockDim.y)
        if (to < rows && row + i < columns)
            b[(index)(row + i) * rows + to] = tile[threadIdx.x * PITCH + i];
}

extern "C" __global__ void transpose_tiled(const float* __restrict__ a, float* __restrict__ b,
                                           int rows, int columns)
{
    through_tile<TILE>(a, b, rows, columns);
}

// One float of padding moves each row of the tile to another bank.
extern "C" __global__ void transpose_padded(const float* __restrict__ a, float* __restrict__ b,
                                            int rows, int columns)
{
    through_tile<TILE + 1>(a, b, rows, columns);
}

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
    index i = THREAD * 4;  // 16 bytes of each array a thread
    if (i + 4 <= n) {
        float4 m = *(const float4*)(mass + i), c = *(const float4*)(charge + i);
        *(float4*)(out + i) = make_float4(m.x * c.x, m.y * c.y, m.z * c.z, m.w * c.w);
    } else {
        for (; i < n; i++) out[i] = mass[i] * charge[i];
    }
}

// Transposes of a rows x columns matrix; a block of TILE x HEIGHT threads takes TILE x TILE floats.
// Blocks go down a column of tiles before they take the next, so that those at work together write
// whole rows of b, one after the other. To write pieces of many rows takes DRAM a quarter longer, to
// read them a tenth.
#ifdef HEIGHT
#define TILE 64

struct Place {
    int row, column;  // of the tile's first float in a
};

__device__ __forceinline__ Place tile_of_block(int rows)
{
    int down = (rows + TILE - 1) / TILE;
    return {(int)blockIdx.x % down * TILE, (int)blockIdx.x / down * TILE};
}

extern "C" __global__ void __launch_bounds__(TILE * HEIGHT)
    transpose_naive(const float* __restrict__ a, float* __restrict__ b, int rows, int columns)
{
    Place tile = tile_of_block(rows);
    int x = tile.column + threadIdx.x;
#pragma unroll
    for (int i = 0; i < TILE; i += HEIGHT) {
        int y = tile.row + i + threadIdx.y;
        if (x < columns && y < rows) b[(index)x * rows + y] = a[(index)y * columns + x];
    }
}

template <int PITCH>
__device__ __forceinline__ void through_tile(const float* a, float* b, int rows, int columns)
{
    __shared__ float tile[TILE * PITCH];
    float moved[TILE / HEIGHT];
    Place place = tile_of_block(rows);
    int x = place.column + threadIdx.x;
#pragma unroll
    for (int i = 0; i < TILE / HEIGHT; i++) {  // all of a thread's loads are under way at once
        int y = place.row + i * HEIGHT + threadIdx.y;
        moved[i] = y < rows && x < columns ? a[(index)y * columns + x] : 0;
    }
#pragma unroll
    for (int i = 0; i < TILE / HEIGHT; i++)
        tile[(i * HEIGHT + threadIdx.y) * PITCH + threadIdx.x] = moved[i];
    __syncthreads();
    x = place.row + threadIdx.x;
#pragma unroll
    for (int i = 0; i < TILE / HEIGHT; i++) {
        int y = place.column + i * HEIGHT + threadIdx.y;
        if (y < columns && x < rows)
            b[(index)y * rows + x] = tile[threadIdx.x * PITCH + i * HEIGHT + threadIdx.y];
    }
}

extern "C" __global__ void __launch_bounds__(TILE * HEIGHT)
    transpose_tiled(const float* __restrict__ a, float* __restrict__ b, int rows, int columns)
{
    through_tile<TILE>(a, b, rows, columns);
}

// One float of padding moves each row of the tile to another bank.
extern "C" __global__ void __launch_bounds__(TILE * HEIGHT)
    transpose_padded(const float* __restrict__ a, float* __restrict__ b, int rows, int columns)
{
    through_tile<TILE + 1>(a, b, rows, columns);
}
#endif

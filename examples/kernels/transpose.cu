// Three ways to transpose a square row-major matrix, launched with 32 x 8 threads per block.
//
// The same bytes move in all three. What differs is how well they are packed into memory
// transactions, and whether threads wait for one another at the banks of shared memory.

#define TILE 32
#define ROWS 8

// Reads are coalesced. Writes of neighbouring threads lie n floats apart: each of the 32 threads
// of a warp touches a sector of its own.
extern "C" __global__ void __launch_bounds__(TILE * ROWS)
transpose_naive(const float* __restrict__ in, float* __restrict__ out, int n)
{
    const int x = blockIdx.x * TILE + threadIdx.x;
    const int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS) {
        if (x < n && y + j < n) {
            out[x * n + y + j] = in[(y + j) * n + x];
        }
    }
}

// Turns a tile around in shared memory, so that reads and writes are both coalesced.
template <int WIDTH>
__device__ void transpose_tile(
    float (&tile)[TILE][WIDTH], const float* __restrict__ in, float* __restrict__ out, int n)
{
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS) {
        if (x < n && y + j < n) {
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
        }
    }
    __syncthreads();

    x = blockIdx.y * TILE + threadIdx.x;  // the block's place in the transposed matrix
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS) {
        if (x < n && y + j < n) {
            out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
        }
    }
}

// A column of the tile lies in a single bank: reading it takes 32 turns.
extern "C" __global__ void __launch_bounds__(TILE * ROWS)
transpose_tiled(const float* __restrict__ in, float* __restrict__ out, int n)
{
    __shared__ float tile[TILE][TILE];
    transpose_tile(tile, in, out, n);
}

// One unused column shifts every row by one bank: a column lies in 32 different ones.
extern "C" __global__ void __launch_bounds__(TILE * ROWS)
transpose_padded(const float* __restrict__ in, float* __restrict__ out, int n)
{
    __shared__ float tile[TILE][TILE + 1];
    transpose_tile(tile, in, out, n);
}

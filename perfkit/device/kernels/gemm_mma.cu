// C[m, n] = A[m, k] B[n, k]^T with mma.sync and cp.async (compute capability 8.0 and later).
//
// A block computes TILE_M x TILE_N of C, TILE_K of k at a time; each warp WARP_M x WARP_N of it.
// STAGES slices of A and B are in shared memory, STAGES - 1 of them on their way while one is
// multiplied. Rows in shared memory are TILE_K long and swizzled in chunks of 16 bytes, so that
// neither cp.async nor ldmatrix has bank conflicts.
//
// Macros: OPERAND f16 | bf16 | tf32 | s8 | e4m3, OPERAND_BYTES, SHAPE m16n8k16 | m16n8k8 | m16n8k32,
// SUM f32 | s32, OUT f32 | f16 | bf16 | s32, OUT_BYTES, TILE_M, TILE_N, TILE_K, WARP_M, WARP_N,
// STAGES, GROUP (rows of tiles that run together), MIN_BLOCKS. m, n: at least the tile, n a multiple
// of 8; k: a multiple of TILE_K.

constexpr int WARPS_M = TILE_M / WARP_M, WARPS_N = TILE_N / WARP_N;
constexpr int THREADS = 32 * WARPS_M * WARPS_N;
constexpr int ROW_BYTES = TILE_K * OPERAND_BYTES, CHUNKS = ROW_BYTES / 16;
constexpr int STEPS = ROW_BYTES / 32;
constexpr int A_BYTES = TILE_M * ROW_BYTES, STAGE_BYTES = A_BYTES + TILE_N * ROW_BYTES;
constexpr int M_TILES = WARP_M / 16, N_TILES = WARP_N / 8;

static_assert(STEPS % 2 == 0, "the fragments of one step load while those of another are used");
static_assert(WARP_N % 16 == 0, "ldmatrix takes two tiles of 8 columns at once");

constexpr int ROWS_AT_ONCE = THREADS / CHUNKS;  // that the block copies, a chunk per thread
static_assert(THREADS % CHUNKS == 0 && TILE_M % ROWS_AT_ONCE == 0 && TILE_N % ROWS_AT_ONCE == 0,
              "every thread copies as much");

// This thread's chunks of a slice; `from` is the first of them, `further` bytes from each to the next.
template <int ROWS>
__device__ __forceinline__ void copy_rows(word to, const char* from, long long further) {
  const word row = threadIdx.x / CHUNKS, chunk = threadIdx.x % CHUNKS;
#pragma unroll
  for (int i = 0; i < ROWS; i += ROWS_AT_ONCE, from += further)
    copy_16(to + (row + i) * ROW_BYTES + ((chunk ^ swizzle_of<CHUNKS>(row + i)) << 4), from);
}

struct Fragments {
  word a[M_TILES][4], b[N_TILES / 2][4];

  // `a_row`, `b_row`: shared addresses of this lane's first row; `*_chunk`: its swizzled chunk.
  __device__ __forceinline__ void load(word a_row, word a_chunk, word b_row, word b_chunk,
                                       int step) {
#pragma unroll
    for (int i = 0; i < M_TILES; ++i)
      load_matrices(a[i], a_row + i * 16 * ROW_BYTES + (a_chunk ^ (step << 5)));
#pragma unroll
    for (int j = 0; j < N_TILES / 2; ++j)
      load_matrices(b[j], b_row + j * 16 * ROW_BYTES + (b_chunk ^ (step << 5)));
  }
};

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    gemm_mma(const char* __restrict__ a, const char* __restrict__ b, char* __restrict__ c, int m,
             int n, int k) {
  extern __shared__ __align__(128) char shared[];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int row, column;
  grouped_tile(blockIdx.x, tiles_in(m, TILE_M), tiles_in(n, TILE_N), GROUP, row, column);
  row = min(row * TILE_M, m - TILE_M);
  column = min(column * TILE_N, n - TILE_N);
  const long long pitch = static_cast<long long>(k) * OPERAND_BYTES;
  const int my_row = threadIdx.x / CHUNKS, my_chunk = threadIdx.x % CHUNKS * 16;
  const char* a_from = a + static_cast<long long>(row + my_row) * pitch + my_chunk;
  const char* b_from = b + static_cast<long long>(column + my_row) * pitch + my_chunk;
  const word stages = shared_address(shared);
  const int slices = k / TILE_K;

  int fetched = 0, fill = 0;  // slices, and the stage for the next one
  auto fetch = [&]() {
    if (fetched < slices) {
      copy_rows<TILE_M>(stages + fill * STAGE_BYTES, a_from, ROWS_AT_ONCE * pitch);
      copy_rows<TILE_N>(stages + fill * STAGE_BYTES + A_BYTES, b_from, ROWS_AT_ONCE * pitch);
      a_from += ROW_BYTES;
      b_from += ROW_BYTES;
    }
    commit_copies();  // an empty group at the end, so that counting groups counts slices
    ++fetched;
    fill = fill == STAGES - 1 ? 0 : fill + 1;
  };
#pragma unroll
  for (int stage = 0; stage < STAGES - 1; ++stage) fetch();

  // ldmatrix takes a 16 x 32 byte piece: of A as rows 0-7, 8-15, then the second 16 bytes of them;
  // of B (two tiles of 8 columns) as both halves of the first eight rows, then of the others
  const word a_lane = lane % 16, b_lane = lane % 8 + (lane / 16) * 8;
  const word a_chunk = ((lane / 16) ^ swizzle_of<CHUNKS>(a_lane)) << 4;
  const word b_chunk = ((lane / 8 % 2) ^ swizzle_of<CHUNKS>(b_lane)) << 4;
  const word a_row = (warp / WARPS_N * WARP_M + a_lane) * ROW_BYTES;
  const word b_row = A_BYTES + (warp % WARPS_N * WARP_N + b_lane) * ROW_BYTES;

  word sums[M_TILES][N_TILES * 4] = {};
  Fragments fragments[2];
  int use = 0;
  auto load = [&](int step) {
    const word stage = stages + use * STAGE_BYTES;
    fragments[step % 2].load(stage + a_row, a_chunk, stage + b_row, b_chunk, step);
  };
  auto multiply = [&](int step) {
    const Fragments& now = fragments[step % 2];
#pragma unroll
    for (int i = 0; i < M_TILES; ++i)
#pragma unroll
      for (int j = 0; j < N_TILES; ++j) {
        const int column = i % 2 ? N_TILES - 1 - j : j;  // there and back: b stays in reach
        mma(&sums[i][4 * column], now.a[i], now.b[column / 2][column % 2 * 2],
            now.b[column / 2][column % 2 * 2 + 1]);
      }
  };
  auto all_but_last_step = [&]() {
#pragma unroll
    for (int step = 0; step < STEPS - 1; ++step) {
      load(step + 1);
      if (step == 0) fetch();  // into the stage that was used up before the last barrier
      multiply(step);
    }
  };

  wait_copies<STAGES - 2>();
  __syncthreads();
  load(0);
  all_but_last_step();
  // Each time round begins with the last step of a slice: what loads after the barrier is needed
  // within the same iteration, so that the compiler starts it early
  for (int slice = 1; slice < slices; ++slice) {
    wait_copies<STAGES - 2>();
    __syncthreads();
    use = use == STAGES - 1 ? 0 : use + 1;
    load(0);
    multiply(STEPS - 1);
    all_but_last_step();
  }
  multiply(STEPS - 1);
  wait_copies<0>();

  const long long out_pitch = static_cast<long long>(n) * OUT_BYTES;
  char* out = c + (row + warp / WARPS_N * WARP_M) * out_pitch +
              static_cast<long long>(column + warp % WARPS_N * WARP_N) * OUT_BYTES;
#pragma unroll
  for (int i = 0; i < M_TILES; ++i)
    store_sums<N_TILES>(sums[i], out + 16 * i * out_pitch, out_pitch, lane);
}

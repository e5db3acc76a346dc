// C[m, n] = A[m, k] B[n, k]^T with wgmma and TMA (compute capability 9.0, target sm_90a).
//
// A block has one warpgroup that loads and GROUPS that multiply, ROWS x 64 rows and all TILE_N
// columns of its tile each. How slices come and tiles follow one another is in tma.cuh.
//
// Macros, besides those of tma.cuh: OUT, OUT_BYTES, GROUPS, ROWS; before this text: `wgmma`,
// SUM_WORDS of sums.

constexpr int THREADS = 128 * (1 + GROUPS);
static_assert(TILE_M == 64 * GROUPS * ROWS, "all rows of the tile are shared out");

// Rows of BOX_BYTES, k along them, eight rows to a swizzle pattern.
__device__ __forceinline__ dword operand_at(word address) {
  constexpr dword layout = BOX_BYTES == 128 ? 1 : 2;
  return (layout << 62) | (static_cast<dword>(8 * BOX_BYTES >> 4) << 32) | (1ull << 16) |
         ((address & 0x3FFFF) >> 4);
}

__device__ __forceinline__ void multiply_slices(char* c, const Walk& walk, int slices, word stages,
                                                word full, word empty) {
  const int group = threadIdx.x / 128 - 1, rank = threadIdx.x % 128, warp = rank / 32;
  const long long pitch = static_cast<long long>(walk.n) * OUT_BYTES;
  word sums[ROWS][SUM_WORDS];
  Ring ring;
  for (int tile = walk.first; tile < walk.end(); tile += walk.step) {
    int last = 0;
    for (int slice = 0; slice < slices; ++slice, ring.next()) {
      wait_barrier(full + 8 * ring.stage, ring.parity);
      const word stage = stages + ring.stage * STAGE_BYTES;
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
      for (int box = 0; box < BOXES; ++box)
#pragma unroll
        for (int step = 0; step < BOX_BYTES / 32; ++step)
#pragma unroll
          for (int i = 0; i < ROWS; ++i)
            wgmma(sums[i],
                  operand_at(stage + (box * TILE_M + (group * ROWS + i) * 64) * BOX_BYTES + 32 * step),
                  operand_at(stage + A_BYTES + box * TILE_N * BOX_BYTES + 32 * step),
                  slice + box + step != 0);
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      // one slice stays in flight: the one before it has been read
      asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
      if (slice) release(walk, empty, last, rank);
      last = ring.stage;
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    release(walk, empty, last, rank);
    int row, column;
    walk.place(tile, row, column);
#pragma unroll
    for (int i = 0; i < ROWS; ++i)
      store_sums<TILE_N / 8>(
          sums[i],
          c + (row + (group * ROWS + i) * 64 + warp * 16) * pitch + static_cast<long long>(column) * OUT_BYTES,
          pitch, rank % 32);
  }
}

extern "C" __global__ void IN_CLUSTERS __launch_bounds__(THREADS, 1)
    gemm_wgmma(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, char* c,
               int m, int n, int k) {
  load_and_multiply<GROUPS, multiply_slices>(a, b, c, m, n, k);
}

// C[m, n] = A[m, k] B[n, k]^T with mma.sync, fed by TMA (compute capability 9.0, target sm_90a).
//
// A block has one warpgroup that loads; its other warps multiply, WARP_M x WARP_N of its tile each.
// None of them waits for another: of the two warps that a scheduler has, one multiplies while the
// other waits for a slice or stores its sums. How slices come and tiles follow one another is in
// tma.cuh.
//
// Macros, besides those of tma.cuh: OPERAND f16 | bf16 | tf32 | s8, SHAPE m16n8k16 | m16n8k8 |
// m16n8k32, SUM f32 | s32, OUT f32 | f16 | bf16 | s32, OUT_BYTES, WARP_M, WARP_N, A_RING (rows of A
// in registers, all but one of them on their way), E4M3 (1: operands are that, and f16 only in
// registers).

constexpr int WARPS_N = TILE_N / WARP_N, WARPS = TILE_M / WARP_M * WARPS_N;
constexpr int THREADS = 128 + 32 * WARPS;
constexpr int BOX_STEPS = BOX_BYTES / 32, STEPS = BOXES * BOX_STEPS;
constexpr int ROWS = WARP_M / 16, PAIRS = WARP_N / 16;  // of mma: 16 rows; twice 8 columns
constexpr int PLACES = STEPS * ROWS;                    // a row in a step

static_assert(WARPS % 4 == 0, "registers are shared out anew among groups of four warps");
static_assert(PLACES % A_RING == 0, "every slice begins with the same registers");

// Where this lane's rows of A and B begin in a stage, and their swizzled first chunk of 16 bytes.
// ldmatrix takes a 16 x 32 byte piece: of A as rows 0-7, 8-15, then the second 16 bytes of them; of
// B (two tiles of 8 columns) as both halves of the first eight rows, then of the others.
__device__ __forceinline__ word a_begin(int warp, int lane) {
  const word row = lane % 16;
  return (warp / WARPS_N * WARP_M + row) * BOX_BYTES +
         (((lane / 16) ^ swizzle_of<BOX_BYTES / 16>(row)) << 4);
}

__device__ __forceinline__ word b_begin(int warp, int lane) {
  const word row = lane % 8 + lane / 16 * 8;
  return A_BYTES + (warp % WARPS_N * WARP_N + row) * BOX_BYTES +
         (((lane / 8 % 2) ^ swizzle_of<BOX_BYTES / 16>(row)) << 4);
}

// The piece of `step` that begins `rows` below `begin`. Lines of the swizzle are aligned to their
// size, so that a step further along a line changes nothing but two bits of the address.
__device__ __forceinline__ word piece(word begin, int step, int rows, int box_rows) {
  return (begin ^ (step % BOX_STEPS << 5)) + (step / BOX_STEPS * box_rows + rows) * BOX_BYTES;
}

// 9.0 multiplies f8 with mma.sync by making f16 of it, anew in each instruction. Here each operand
// becomes f16 once: of four values side by side the first two count as columns 2t, 2t + 1 of k and
// the others as 2t + 8, 2t + 9, in A and in B, so that the same ones meet.
__device__ __forceinline__ void make_f16(word& low, word& high, word four) {
  asm volatile(
      "{\n.reg .b16 l, h;\n"
      "mov.b32 {l, h}, %2;\n"
      "cvt.rn.f16x2.e4m3x2 %0, l;\n"
      "cvt.rn.f16x2.e4m3x2 %1, h;\n}"
      : "=r"(low), "=r"(high)
      : "r"(four));
}

// A warp's sums and what it multiplies: of B all columns of one step, of A a few rows. Each is
// loaded anew as soon as it was used, and comes while the others are used.
struct Warp {
  word sums[ROWS][PAIRS * 8], a[A_RING][4], b[PAIRS][4];
#if E4M3
  word a_f16[2][4], b_f16[PAIRS][4][2];
#endif

  __device__ __forceinline__ void load_a(word begin, int place) {
    load_matrices(a[place % A_RING], piece(begin, place / ROWS, place % ROWS * 16, TILE_M));
  }
  __device__ __forceinline__ void load_b(word begin, int step, int pair) {
    load_matrices(b[pair], piece(begin, step, pair * 16, TILE_N));
  }
  // Before a row of A is multiplied, and before the first one with a pair of B is.
  __device__ __forceinline__ void convert_a(int place) {
#if E4M3
#pragma unroll
    for (int i = 0; i < 4; ++i)
      make_f16(a_f16[i / 2][i % 2], a_f16[i / 2][i % 2 + 2], a[place % A_RING][i]);
#endif
  }
  __device__ __forceinline__ void convert_b(int pair) {
#if E4M3
#pragma unroll
    for (int i = 0; i < 4; ++i) make_f16(b_f16[pair][i][0], b_f16[pair][i][1], b[pair][i]);
#endif
  }
  __device__ __forceinline__ void multiply(int place, int pair, int half) {
    word* to = &sums[place % ROWS][8 * pair + 4 * half];
#if E4M3
#pragma unroll
    for (int i = 0; i < 2; ++i)
      mma(to, a_f16[i], b_f16[pair][2 * half + i][0], b_f16[pair][2 * half + i][1]);
#else
    mma(to, a[place % A_RING], b[pair][2 * half], b[pair][2 * half + 1]);
#endif
  }
  __device__ __forceinline__ void begin_tile(word a_now, word b_now) {
#pragma unroll
    for (int i = 0; i < ROWS * PAIRS * 8; ++i) sums[i / (PAIRS * 8)][i % (PAIRS * 8)] = 0;
#pragma unroll
    for (int pair = 0; pair < PAIRS; ++pair) load_b(b_now, 0, pair);
#pragma unroll
    for (int place = 0; place < A_RING - 1; ++place) load_a(a_now, place);
  }
  // One slice; unless it is the last one of its tile, the next one begins to come.
  template <bool LAST>
  __device__ __forceinline__ void slice(word a_now, word b_now, word a_next, word b_next, word full,
                                        word parity) {
#pragma unroll
    for (int place = 0; place < PLACES; ++place) {
      const int ahead = place + A_RING - 1, step = place / ROWS, row = place % ROWS;
      if (!LAST && ahead == PLACES) wait_barrier(full, parity);
      if (ahead < PLACES) load_a(a_now, ahead);
      else if (!LAST) load_a(a_next, ahead - PLACES);
      convert_a(place);
      const int turn = (ROWS - row) % 2;  // there and back: what was used last is used first
#pragma unroll
      for (int i = 0; i < PAIRS; ++i) {
        const int pair = turn ? i : PAIRS - 1 - i;
        if (row == 0) convert_b(pair);
        multiply(place, pair, 1 - turn);
        multiply(place, pair, turn);
        if (row == ROWS - 1) {
          if (step < STEPS - 1) load_b(b_now, step + 1, pair);
          else if (!LAST) load_b(b_next, 0, pair);
        }
      }
    }
  }
};

__device__ __forceinline__ void multiply_slices(char* c, const Walk& walk, int slices, word stages,
                                                word full, word empty) {
  const int lane = threadIdx.x % 32, warp = __shfl_sync(~0u, threadIdx.x / 32 - 4, 0);
  const word a_first = stages + a_begin(warp, lane), b_first = stages + b_begin(warp, lane);
  const long long pitch = static_cast<long long>(walk.n) * OUT_BYTES;
  Warp mine;
  Ring ring;
  for (int tile = walk.first; tile < walk.end(); tile += walk.step) {
    wait_barrier(full + 8 * ring.stage, ring.parity);
    word a_now = a_first + ring.stage * STAGE_BYTES, b_now = b_first + ring.stage * STAGE_BYTES;
    mine.begin_tile(a_now, b_now);
    for (int slice = 1; slice < slices; ++slice) {
      const int last = ring.stage;
      ring.next();
      const word a_next = a_first + ring.stage * STAGE_BYTES;
      const word b_next = b_first + ring.stage * STAGE_BYTES;
      mine.slice<false>(a_now, b_now, a_next, b_next, full + 8 * ring.stage, ring.parity);
      release(walk, empty, last, lane);
      a_now = a_next;
      b_now = b_next;
    }
    mine.slice<true>(a_now, b_now, 0, 0, 0, 0);
    release(walk, empty, ring.stage, lane);
    ring.next();
    int row, column;
    walk.place(tile, row, column);
    char* out = c + (row + warp / WARPS_N * WARP_M) * pitch +
                static_cast<long long>(column + warp % WARPS_N * WARP_N) * OUT_BYTES;
#pragma unroll
    for (int i = 0; i < ROWS; ++i)
      store_sums<2 * PAIRS>(mine.sums[i], out + 16 * i * pitch, pitch, lane);
  }
}

extern "C" __global__ void IN_CLUSTERS __launch_bounds__(THREADS, 1)
    gemm_mma_tma(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, char* c,
                 int m, int n, int k) {
  load_and_multiply<WARPS, multiply_slices>(a, b, c, m, n, k);
}

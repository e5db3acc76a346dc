// O = softmax(scale * Q K^T) V for every head, the scores never in device memory (8.0 and later).
//
// A block has 16 rows of Q for each warp and walks along K and V, TILE_KV rows at a time; while one
// tile is used the next one loads. The softmax is online: when a larger score comes, what was summed
// so far shrinks. Scores and sums are f32, the probabilities are rounded to OPERAND for the second
// product. Causal: row i of q_rows sees the first i + 1 + kv_rows - q_rows rows of K.
//
// Macros: OPERAND f16 | bf16, OUT the same, OUT_BYTES 2, HEAD 64 | 128, WARPS, TILE_KV, CAUSAL 0 | 1,
// MIN_BLOCKS (on an SM).
// Q, O: [heads, q_rows, HEAD]; K, V: [heads, kv_rows, HEAD]; rows: multiples of the tile.

constexpr int THREADS = 32 * WARPS, TILE_Q = 16 * WARPS;
constexpr int ROW_BYTES = 2 * HEAD, CHUNKS = ROW_BYTES / 16;
constexpr int Q_BYTES = TILE_Q * ROW_BYTES, KV_BYTES = TILE_KV * ROW_BYTES;
constexpr int STEPS = HEAD / 16, KEYS = TILE_KV / 16;  // pieces of 16 that an instruction takes

__device__ __forceinline__ void load_transposed(word (&d)[4], word from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(from)
               : "memory");
}

__device__ __forceinline__ void mma(word* d, const word (&a)[4], word b0, word b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." TEXT(OPERAND) "." TEXT(
                   OPERAND) ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ float power_of_2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

constexpr int ROWS_AT_ONCE = THREADS / CHUNKS;  // that the block copies, a chunk per thread
static_assert(ROWS_AT_ONCE % 8 == 0, "then all rows of a thread are swizzled alike");

// The thread's chunk of every ROWS_AT_ONCE-th row: `to` and `from` are those of its first.
template <int ROWS>
__device__ __forceinline__ void copy_rows(word to, const char* from) {
  static_assert(ROWS % ROWS_AT_ONCE == 0, "every thread copies as much");
#pragma unroll
  for (int row = 0; row < ROWS; row += ROWS_AT_ONCE)
    copy_16(to + row * ROW_BYTES, from + row * ROW_BYTES);
}

// Largest or sum over the four lanes that share a row.
__device__ __forceinline__ float over_row(float x, bool largest) {
#pragma unroll
  for (int lane = 1; lane <= 2; lane *= 2) {
    const float other = __shfl_xor_sync(~0u, x, lane);
    x = largest ? fmaxf(x, other) : x + other;
  }
  return x;
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    flash_attention(const char* __restrict__ q, const char* __restrict__ k,
                    const char* __restrict__ v, char* __restrict__ o, int q_rows, int kv_rows,
                    float scale) {
  extern __shared__ __align__(128) char shared[];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  // the last rows see most keys: those blocks start first
  const int first_row = (gridDim.x - 1 - blockIdx.x) * TILE_Q;
  const long long q_at = (static_cast<long long>(blockIdx.y) * q_rows + first_row) * ROW_BYTES;
  const long long kv_at = static_cast<long long>(blockIdx.y) * kv_rows * ROW_BYTES;
  const word q_shared = shared_address(shared), kv_shared = q_shared + Q_BYTES;
  const int ahead = kv_rows - q_rows;
  const int seen = CAUSAL ? min(kv_rows, first_row + TILE_Q + ahead) : kv_rows;
  const int tiles = (seen + TILE_KV - 1) / TILE_KV;

  const word my_row = threadIdx.x / CHUNKS, my_chunk = threadIdx.x % CHUNKS;
  const word copied_to = my_row * ROW_BYTES + ((my_chunk ^ swizzle_of<CHUNKS>(my_row)) << 4);
  const char* k_from = k + kv_at + threadIdx.x * 16;
  const char* v_from = v + kv_at + threadIdx.x * 16;
  auto fetch = [&](int tile) {
    if (tile < tiles) {
      const word to = kv_shared + copied_to + tile % 2 * 2 * KV_BYTES;
      copy_rows<TILE_KV>(to, k_from);
      copy_rows<TILE_KV>(to + KV_BYTES, v_from);
      k_from += KV_BYTES;
      v_from += KV_BYTES;
    }
    commit_copies();
  };
  copy_rows<TILE_Q>(q_shared + copied_to, q + q_at + threadIdx.x * 16);
  fetch(0);
  wait_copies<0>();
  __syncthreads();

  // where ldmatrix reads: A (Q) and V are walked 16 rows by 2 chunks, B (K) 8 rows by 2 chunks twice
  const word a_lane = lane % 16, b_lane = lane % 8 + lane / 16 * 8;
  const word a_chunk = lane / 16, b_chunk = lane / 8 % 2;
  word rows_of_q[STEPS][4];
#pragma unroll
  for (int step = 0; step < STEPS; ++step)
    load_matrices(rows_of_q[step],
                  q_shared + (warp * 16 + a_lane) * ROW_BYTES +
                      (((2 * step + a_chunk) ^ swizzle_of<CHUNKS>(a_lane)) << 4));

  word sums[HEAD / 2] = {};
  float most[2] = {-1e30f, -1e30f}, total[2] = {0, 0};
  scale *= 1.4426950408889634f;  // powers of two instead of e
  for (int tile = 0; tile < tiles; ++tile) {
    fetch(tile + 1);
    const word k_shared = kv_shared + tile % 2 * 2 * KV_BYTES, v_shared = k_shared + KV_BYTES;
    word scores[KEYS * 8] = {};
#pragma unroll
    for (int step = 0; step < STEPS; ++step)
#pragma unroll
      for (int key = 0; key < KEYS; ++key) {
        word b[4];
        load_matrices(b, k_shared + (key * 16 + b_lane) * ROW_BYTES +
                             (((2 * step + b_chunk) ^ swizzle_of<CHUNKS>(b_lane)) << 4));
        mma(&scores[8 * key], rows_of_q[step], b[0], b[1]);
        mma(&scores[8 * key + 4], rows_of_q[step], b[2], b[3]);
      }
    float x[KEYS * 8];
    const int row = first_row + warp * 16 + lane / 4 + ahead;  // the last key that it sees
    const bool crosses = CAUSAL && (tile + 1) * TILE_KV - 1 > first_row + warp * 16 + ahead;
#pragma unroll
    for (int i = 0; i < KEYS * 8; ++i) x[i] = __uint_as_float(scores[i]) * scale;
    if (crosses) {
#pragma unroll
      for (int i = 0; i < KEYS * 8; ++i) {
        const int key = tile * TILE_KV + i / 4 * 8 + 2 * (lane % 4) + i % 2;
        if (key > row + i % 4 / 2 * 8) x[i] = -1e30f;
      }
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float larger = most[half];
#pragma unroll
      for (int i = 0; i < KEYS * 8; ++i)
        if (i % 4 / 2 == half) larger = fmaxf(larger, x[i]);
      larger = over_row(larger, true);
      const float shrink = power_of_2(most[half] - larger);
      most[half] = larger;
      float sum = 0;
#pragma unroll
      for (int i = 0; i < KEYS * 8; ++i)
        if (i % 4 / 2 == half) sum += x[i] = power_of_2(x[i] - larger);
      total[half] = total[half] * shrink + sum;  // of this lane; the row's at the end
#pragma unroll
      for (int i = 0; i < HEAD / 2; ++i)
        if (i % 4 / 2 == half) sums[i] = __float_as_uint(__uint_as_float(sums[i]) * shrink);
    }
#pragma unroll
    for (int key = 0; key < KEYS; ++key) {
      word p[4];  // sums of one product have the layout of the operand of the next
#pragma unroll
      for (int i = 0; i < 4; ++i)
        p[i] = packed_pair(__float_as_uint(x[8 * key + 2 * i]), __float_as_uint(x[8 * key + 2 * i + 1]));
#pragma unroll
      for (int column = 0; column < STEPS; ++column) {
        word b[4];
        load_transposed(b, v_shared + (key * 16 + a_lane) * ROW_BYTES +
                               (((2 * column + a_chunk) ^ swizzle_of<CHUNKS>(a_lane)) << 4));
        mma(&sums[8 * column], p, b[0], b[1]);
        mma(&sums[8 * column + 4], p, b[2], b[3]);
      }
    }
    wait_copies<0>();
    __syncthreads();
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float share = 1 / over_row(total[half], false);
#pragma unroll
    for (int i = 0; i < HEAD / 2; ++i)
      if (i % 4 / 2 == half) sums[i] = __float_as_uint(__uint_as_float(sums[i]) * share);
  }
  store_sums<HEAD / 8>(sums, o + q_at + warp * 16 * ROW_BYTES, ROW_BYTES, lane);
}

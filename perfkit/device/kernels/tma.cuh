// What products fed by the tensor copy engine share (compute capability 9.0): a ring of STAGES slices
// of A and B in shared memory, and who fills it. Put after matrix_common.cuh by
// perfkit/device/matrix_source.py.
//
// Slices are TILE_K deep. TMA fills a stage and completes its `full` barrier; each reader that has
// read it (a warp, or four of them) arrives at `empty`. Blocks are persistent: they walk over the
// tiles, and while sums are stored the next slices already load. In a cluster of CLUSTER_M x
// CLUSTER_N blocks, those of one row load a part of their common A each and send it to all of them,
// those of one column their common B.
//
// Macros: OPERAND_BYTES, TILE_M, TILE_N, TILE_K, STAGES, CLUSTER_M, CLUSTER_N, GROUP (rows of
// cluster tiles that run together), REGISTERS and LOADING_REGISTERS (of a thread that multiplies and
// of one that loads; 0: as launched). m, n: at least the tile; n, k: multiples of 8 and TILE_K.

constexpr int ROW_BYTES = TILE_K * OPERAND_BYTES;
constexpr int BOX_BYTES = ROW_BYTES < 128 ? ROW_BYTES : 128;  // of k, what one swizzle spans
constexpr int BOXES = ROW_BYTES / BOX_BYTES;
constexpr int A_BYTES = TILE_M * ROW_BYTES, STAGE_BYTES = A_BYTES + TILE_N * ROW_BYTES;
constexpr int CLUSTER = CLUSTER_M * CLUSTER_N;
constexpr int A_PART = TILE_M / CLUSTER_N, B_PART = TILE_N / CLUSTER_M;  // rows that a block loads

static_assert(BOX_BYTES == 64 || BOX_BYTES == 128, "rows of 64 bytes, or of whole 128");
static_assert(A_PART % 8 == 0 && B_PART % 8 == 0, "a part is whole swizzle patterns of 8 rows");

#if CLUSTER_M * CLUSTER_N > 1
#define IN_CLUSTERS __cluster_dims__(CLUSTER, 1, 1)
#else
#define IN_CLUSTERS
#endif

struct alignas(64) TensorMap {
  dword words[16];
};

__device__ __forceinline__ void wait_barrier(word barrier, word parity) {
  asm volatile(
      "{\n.reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

__device__ __forceinline__ void expect_bytes(word barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void arrive_at(word barrier, int rank) {
#if CLUSTER_M * CLUSTER_N == 1
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
#else
  asm volatile(
      "{\n.reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n}" ::"r"(barrier),
      "r"(rank)
      : "memory");
#endif
}

// One box, to all blocks of `mask` at the same address of each, or to this block.
template <bool SHARED>
__device__ __forceinline__ void load_part(word to, const TensorMap& map, int along, int row,
                                          word barrier, unsigned short mask) {
  if constexpr (SHARED)
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
        "l"(&map), "r"(along), "r"(row), "r"(barrier), "h"(mask)
        : "memory");
  else
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
        " [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
        "l"(&map), "r"(along), "r"(row), "r"(barrier)
        : "memory");
}

__device__ __forceinline__ void meet() {
#if CLUSTER_M * CLUSTER_N == 1
  __syncthreads();
#else
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
#endif
}

// Barriers of all stages, with so many readers in each block; meanwhile the maps come.
__device__ __forceinline__ void make_ring(const TensorMap& a, const TensorMap& b, word stages,
                                          word full, word empty, int readers) {
  if (threadIdx.x == 0) {
    asm volatile("prefetch.tensormap [%0];\nprefetch.tensormap [%1];" ::"l"(&a), "l"(&b) : "memory");
    if (stages % 1024) __trap();  // swizzle patterns are found by address
    for (int stage = 0; stage < STAGES; ++stage) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full + 8 * stage) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(empty + 8 * stage),
                   "r"(readers * (CLUSTER_M + CLUSTER_N - 1))
                   : "memory");
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  meet();
}

// Keeps registers of ranks and parities small: one number says which stage, and which time round.
struct Ring {
  int stage = 0;
  word parity = 0;
  __device__ __forceinline__ void next() {
    if (++stage == STAGES) {
      stage = 0;
      parity ^= 1;
    }
  }
};

// Where this block's tiles are: `first` and every `step`-th one after it, of all cluster tiles.
struct Walk {
  int m, n, tiles_m, tiles_n, first, step, rank;

  __device__ __forceinline__ Walk(int m, int n) : m(m), n(n) {
    tiles_m = tiles_in(m, TILE_M * CLUSTER_M);
    tiles_n = tiles_in(n, TILE_N * CLUSTER_N);
    first = blockIdx.x / CLUSTER;
    step = gridDim.x / CLUSTER;
    rank = blockIdx.x % CLUSTER;
  }
  __device__ __forceinline__ int across() const { return rank % CLUSTER_M; }
  __device__ __forceinline__ int along() const { return rank / CLUSTER_M; }
  __device__ __forceinline__ int end() const { return tiles_m * tiles_n; }
  __device__ __forceinline__ void place(int tile, int& row, int& column) const {
    int tile_row, tile_column;
    grouped_tile(tile, tiles_m, tiles_n, GROUP, tile_row, tile_column);
    row = min((tile_row * CLUSTER_M + across()) * TILE_M, m - TILE_M);
    column = min((tile_column * CLUSTER_N + along()) * TILE_N, n - TILE_N);
  }
};

__device__ __forceinline__ void load_slices(const TensorMap& a, const TensorMap& b, const Walk& walk,
                                            int slices, word stages, word full, word empty) {
  unsigned short a_mask = 0, b_mask = 0;
#pragma unroll
  for (int j = 0; j < CLUSTER_N; ++j) a_mask |= 1 << (walk.across() + CLUSTER_M * j);
#pragma unroll
  for (int i = 0; i < CLUSTER_M; ++i) b_mask |= 1 << (i + CLUSTER_M * walk.along());
  const int a_part = walk.along() * A_PART, b_part = walk.across() * B_PART;
  Ring ring;
  for (int tile = walk.first; tile < walk.end(); tile += walk.step) {
    int row, column;
    walk.place(tile, row, column);
    for (int slice = 0; slice < slices; ++slice, ring.next()) {
      const word barrier = full + 8 * ring.stage;
      wait_barrier(empty + 8 * ring.stage, ring.parity ^ 1);
      expect_bytes(barrier, STAGE_BYTES);
      const word to = stages + ring.stage * STAGE_BYTES;
#pragma unroll
      for (int box = 0; box < BOXES; ++box) {
        const int along = slice * TILE_K + box * (BOX_BYTES / OPERAND_BYTES);
        load_part<(CLUSTER_N > 1)>(to + (box * TILE_M + a_part) * BOX_BYTES, a, along, row + a_part,
                                   barrier, a_mask);
        load_part<(CLUSTER_M > 1)>(to + A_BYTES + (box * TILE_N + b_part) * BOX_BYTES, b, along,
                                   column + b_part, barrier, b_mask);
      }
    }
  }
}

// Tell every block that loads into this one's stages that a reader is done with `stage`; `rank` is
// the thread's among those of the reader, 32 at least.
__device__ __forceinline__ void release(const Walk& walk, word empty, int stage, int rank) {
  const bool shares = rank % CLUSTER_M == walk.across() || rank / CLUSTER_M == walk.along();
  if (rank < CLUSTER && shares) arrive_at(empty + 8 * stage, rank);
}

// Who multiplies the slices of a block's tiles, of which there are so many each; writes to `c`.
typedef void Multiply(char* c, const Walk& walk, int slices, word stages, word full, word empty);

// All that a block does: its first four warps load, the others multiply. Of these so many readers
// tell when they are done with a stage.
template <int READERS, Multiply MULTIPLY>
__device__ __forceinline__ void load_and_multiply(const TensorMap& a, const TensorMap& b, char* c,
                                                  int m, int n, int k) {
  extern __shared__ __align__(1024) char shared[];
  const word stages = shared_address(shared);
  const word full = stages + STAGES * STAGE_BYTES, empty = full + 8 * STAGES;
  const Walk walk(m, n);
  const int slices = k / TILE_K;
  make_ring(a, b, stages, full, empty, READERS);
  if (threadIdx.x < 128) {
#if REGISTERS > 0
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(LOADING_REGISTERS));
#endif
    if (threadIdx.x == 0) load_slices(a, b, walk, slices, stages, full, empty);
  } else {
#if REGISTERS > 0
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
#endif
    MULTIPLY(c, walk, slices, stages, full, empty);
  }
#if CLUSTER_M * CLUSTER_N > 1
  meet();  // a block that is gone cannot be arrived at
#endif
}

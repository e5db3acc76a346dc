// What every tensor-core kernel shares: names, addresses of shared memory, copies, the store of a
// tile of sums. Put before each of them by perfkit/device/matrix_source.py; includes nothing, so
// that NVRTC needs no headers.
//
// Operands are rows of k, contiguous: A is [m, k], B is [n, k] (the transpose of the [k, n] that
// is multiplied). All is counted in bytes, so that one text serves every operand type: a step of
// any tensor-core instruction here takes 32 bytes of k.

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

typedef unsigned int word;
typedef unsigned long long dword;

__device__ __forceinline__ word shared_address(const void* p) {
  return static_cast<word>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void copy_16(word to, const char* from) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to), "l"(from)
               : "memory");
}

__device__ __forceinline__ void commit_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int PENDING>
__device__ __forceinline__ void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

__device__ __forceinline__ void load_matrices(word (&d)[4], word from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(from)
               : "memory");
}

// Which of the 16-byte chunks of a row holds chunk `chunk`: eight rows at the same chunk then lie
// in eight different groups of four banks, and so do the chunks of one row.
template <int CHUNKS>
__device__ __forceinline__ word swizzle_of(word row) {
  constexpr word rows_per_line = CHUNKS >= 8 ? 1 : 8 / CHUNKS;
  constexpr word span = CHUNKS >= 8 ? 8 : CHUNKS;
  return row / rows_per_line % span;
}

// How many tiles cover a size. The last one does not reach beyond the end: it begins earlier, and
// what two tiles share they both compute, to the same bits.
__device__ __forceinline__ int tiles_in(int size, int tile) { return (size + tile - 1) / tile; }

// Block `index` of a grid of rows x columns tiles, `group` rows at a time, so that tiles that run
// together share what they read.
__device__ __forceinline__ void grouped_tile(int index, int rows, int columns, int group, int& row,
                                             int& column) {
  const int per_group = group * columns;
  const int first = index / per_group * group;
  const int height = min(rows - first, group);
  row = first + index % per_group % height;
  column = index % per_group / height;
}

#ifdef OUT_BYTES
__device__ __forceinline__ word packed_pair(word low, word high) {
#if OUT_BYTES == 2
  word both;
  asm("cvt.rn." TEXT(OUT) "x2.f32 %0, %1, %2;"
      : "=r"(both)
      : "f"(__uint_as_float(high)), "f"(__uint_as_float(low)));
  return both;
#else
  return low ^ high;
#endif
}

// Of four lanes side by side, lane i gets what the four of them have in w[i].
__device__ __forceinline__ void transpose_quad(word (&w)[4], int lane) {
#pragma unroll
  for (int j = 0; j < 4; j += 2) {
    const word got = __shfl_xor_sync(~0u, lane & 1 ? w[j] : w[j + 1], 1);
    if (lane & 1) w[j] = got;
    else w[j + 1] = got;
  }
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    const word got = __shfl_xor_sync(~0u, lane & 2 ? w[j] : w[j + 2], 2);
    if (lane & 2) w[j] = got;
    else w[j + 2] = got;
  }
}

// Sums of 16 rows and TILES * 8 columns in the layout of mma's result: lane has columns
// 2 (lane % 4) and the next, in rows lane / 4 (words 0, 1) and 8 below (words 2, 3).
// `at` is the first element of the first of the rows, `pitch` bytes apart.
template <int TILES>
__device__ __forceinline__ void store_sums(const word* sums, char* at, long long pitch, int lane) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    char* row = at + (lane / 4 + 8 * half) * pitch;
#if OUT_BYTES == 4
#pragma unroll
    for (int j = 0; j < TILES; ++j)
      *reinterpret_cast<uint2*>(row + (8 * j + 2 * (lane & 3)) * 4) =
          make_uint2(sums[4 * j + 2 * half], sums[4 * j + 2 * half + 1]);
#else
    // four tiles at a time, so that a lane stores 16 bytes and four lanes 64 in a row
#pragma unroll
    for (int j = 0; j + 4 <= TILES; j += 4) {
      word w[4];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        w[i] = packed_pair(sums[4 * (j + i) + 2 * half], sums[4 * (j + i) + 2 * half + 1]);
      transpose_quad(w, lane);
      *reinterpret_cast<uint4*>(row + (8 * (j + (lane & 3))) * 2) =
          make_uint4(w[0], w[1], w[2], w[3]);
    }
#pragma unroll
    for (int j = TILES / 4 * 4; j < TILES; ++j)
      *reinterpret_cast<word*>(row + (8 * j + 2 * (lane & 3)) * 2) =
          packed_pair(sums[4 * j + 2 * half], sums[4 * j + 2 * half + 1]);
#endif
  }
}
#endif

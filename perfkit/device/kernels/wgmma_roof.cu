// The rate of wgmma alone, operands in shared memory: GROUPS warpgroups multiply SLICES slices of
// 128 bytes of k again and again, each 64 rows of its own by the same N columns.
//
// Macros: GROUPS, SLICES, N; before this text: `wgmma`, SUM_WORDS. `data`: what shared memory is
// filled with, SLICES * 128 * (64 * GROUPS + N) bytes; `out`: a word for each thread of the grid.

constexpr int THREADS = 128 * GROUPS;
constexpr int SLICE_BYTES = 128 * (64 * GROUPS + N);

__device__ __forceinline__ dword operand_at(word address) {
  return (1ull << 62) | (64ull << 32) | (1ull << 16) | ((address & 0x3FFFF) >> 4);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    wgmma_roof(const uint4* __restrict__ data, word* __restrict__ out, int repeats) {
  extern __shared__ __align__(1024) uint4 shared[];
  for (int i = threadIdx.x; i < SLICES * SLICE_BYTES / 16; i += THREADS) shared[i] = data[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const word mine = shared_address(shared) + threadIdx.x / 128 * 64 * 128;
  const word common = shared_address(shared) + GROUPS * 64 * 128;
  word sums[SUM_WORDS] = {};
  for (int repeat = 0; repeat < repeats; ++repeat) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int i = 0; i < SLICES * 4; ++i) {
      const word offset = i / 4 * SLICE_BYTES + i % 4 * 32;
      wgmma(sums, operand_at(mine + offset), operand_at(common + offset), 1);
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  word all = 0;
#pragma unroll
  for (int i = 0; i < SUM_WORDS; ++i) all ^= sums[i];
  out[blockIdx.x * THREADS + threadIdx.x] = all;
}

// The rate of mma.sync alone: every warp multiplies TILES_M fragments of A by TILES_N of B, all in
// registers, and adds to TILES_M * TILES_N sums, none of which waits for another.
//
// Macros: THREADS, TILES_M, TILES_N; before this text: `value` (a 32-bit word or a double), A_WORDS,
// B_WORDS, SUM_WORDS of them per thread, `multiply`. `data`: THREADS * (TILES_M * A_WORDS + TILES_N *
// B_WORDS) values; `out`: one for each thread of the grid.

extern "C" __global__ void __launch_bounds__(THREADS)
    mma_roof(const value* __restrict__ data, value* __restrict__ out, int repeats) {
  value a[TILES_M][A_WORDS], b[TILES_N][B_WORDS], sums[TILES_M][TILES_N][SUM_WORDS] = {};
  const value* from = data + threadIdx.x;
#pragma unroll
  for (int i = 0; i < TILES_M * A_WORDS; ++i, from += THREADS) a[i / A_WORDS][i % A_WORDS] = *from;
#pragma unroll
  for (int i = 0; i < TILES_N * B_WORDS; ++i, from += THREADS) b[i / B_WORDS][i % B_WORDS] = *from;
#pragma unroll 2
  for (int repeat = 0; repeat < repeats; ++repeat)
#pragma unroll
    for (int i = 0; i < TILES_M; ++i)
#pragma unroll
      for (int j = 0; j < TILES_N; ++j) multiply(sums[i][j], a[i], b[j]);
  value all = 0;
#pragma unroll
  for (int i = 0; i < TILES_M * TILES_N * SUM_WORDS; ++i)
    all += sums[i / SUM_WORDS / TILES_N][i / SUM_WORDS % TILES_N][i % SUM_WORDS];
  out[blockIdx.x * THREADS + threadIdx.x] = all;
}

// One mma.sync of any operand type, as two kernels issue it. Put after matrix_common.cuh by
// perfkit/device/matrix_source.py.
//
// Macros: OPERAND f16 | bf16 | tf32 | s8 | e4m3, SHAPE m16n8k16 | m16n8k8 | m16n8k32, SUM f32 | s32.

__device__ __forceinline__ void mma(word* d, const word (&a)[4], word b0, word b1) {
  asm volatile("mma.sync.aligned." TEXT(SHAPE) ".row.col." TEXT(SUM) "." TEXT(OPERAND) "." TEXT(
                   OPERAND) "." TEXT(SUM) " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                                          "{%0, %1, %2, %3};"
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// One warp's accesses at given offsets, as often as it takes to count or to time them.

#define LANES 32
#define TOGETHER 4
#define BASE 33

// offsets of up to four patterns, in bytes; negative: the lane is inactive
struct Table {
    int offset[TOGETHER][LANES];
};

#define ASM(ACCESS, LETTER, POINTER)                                                                 \
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %5, 0; @p " ACCESS "; }"                            \
                 : "+r"(a), "+r"(b), "+r"(c), "+r"(d)                                                \
                 : LETTER(POINTER), "r"(on)                                                          \
                 : "memory")

// `step` is 0, which the compiler cannot know: each access happens as often as the loop says
#define LOOP(ACCESS, LETTER, POINTER)                                                                \
    _Pragma("unroll 1") for (int i = 0; i < repeats; ++i, POINTER += step)                           \
    {                                                                                                \
        ASM(ACCESS, LETTER, POINTER);                                                                \
        sum ^= a ^ b ^ c ^ d;                                                                        \
    }

// Load and store, shared and global; pattern k runs BASE^k times, so that the digits of a sum to
// the base of BASE are the counts of the patterns: none takes more than BASE - 1.
#define COUNTED(WIDTH, TYPE, REGISTERS)                                                              \
    extern "C" __global__ void access_##WIDTH(char* memory, int step, unsigned* out,                 \
                                              const __grid_constant__ Table table)                   \
    {                                                                                                \
        extern __shared__ __align__(1024) char tile[];                                               \
        unsigned a = threadIdx.x, b = 1, c = 2, d = 3, sum = 0;                                      \
        int repeats = 1;                                                                             \
        _Pragma("unroll 1") for (int k = 0; k < TOGETHER; ++k, repeats *= BASE)                      \
        {                                                                                            \
            const int offset = table.offset[k][threadIdx.x], on = offset >= 0;                       \
            unsigned shared = (unsigned)__cvta_generic_to_shared(tile) + (on ? offset : 0);          \
            char* global = memory + (on ? offset : 0);                                               \
            LOOP("ld.shared." TYPE " " REGISTERS ", [%4]", "r", shared)                              \
            LOOP("st.shared." TYPE " [%4], " REGISTERS, "r", shared)                                 \
            LOOP("ld.global." TYPE " " REGISTERS ", [%4]", "l", global)                              \
            LOOP("st.global." TYPE " [%4], " REGISTERS, "l", global)                                 \
        }                                                                                            \
        if (sum == 0x12345678) out[threadIdx.x] = sum;                                               \
    }

COUNTED(1, "u8", "%0")
COUNTED(2, "u16", "%0")
COUNTED(4, "u32", "%0")
COUNTED(8, "v2.u32", "{%0, %1}")
COUNTED(16, "v4.u32", "{%0, %1, %2, %3}")

// A block of warps that all access shared memory at the offsets of pattern 0, so that the SM's path
// to it is the only limit: cycles of `rounds` x 8 loads, and of as many stores. USED takes every
// register that a load fills: the assembler makes loads narrower of which a part is not used.
#define TIMED_LOOP(ACCESS, USED)                                                                     \
    __syncthreads();                                                                                 \
    start = clock64();                                                                               \
    _Pragma("unroll 1") for (int i = 0; i < rounds; ++i)                                             \
    {                                                                                                \
        _Pragma("unroll") for (int j = 0; j < 8; ++j)                                                \
        {                                                                                            \
            unsigned a = threadIdx.x, b = 1, c = 2, d = 3;                                           \
            ASM(ACCESS, "r", shared);                                                                \
            sum ^= USED;                                                                             \
        }                                                                                            \
        shared += step;                                                                              \
    }                                                                                                \
    __syncthreads();

#define TIMED(WIDTH, TYPE, REGISTERS, USED)                                                          \
    extern "C" __global__ void timed_##WIDTH(long long* cycles, int step, unsigned* out, int rounds, \
                                             const __grid_constant__ Table table)                    \
    {                                                                                                \
        extern __shared__ __align__(1024) char tile[];                                               \
        const int offset = table.offset[0][threadIdx.x % LANES], on = offset >= 0;                   \
        unsigned shared = (unsigned)__cvta_generic_to_shared(tile) + (on ? offset : 0), sum = 0;     \
        long long start;                                                                             \
        TIMED_LOOP("ld.shared." TYPE " " REGISTERS ", [%4]", USED)                                   \
        if (threadIdx.x == 0) cycles[0] = clock64() - start;                                         \
        TIMED_LOOP("st.shared." TYPE " [%4], " REGISTERS, a)                                         \
        if (threadIdx.x == 0) cycles[1] = clock64() - start;                                         \
        if (sum == 0x12345678) out[threadIdx.x] = sum;                                               \
    }

TIMED(4, "u32", "%0", a)
TIMED(8, "v2.u32", "{%0, %1}", (a ^ b))
TIMED(16, "v4.u32", "{%0, %1, %2, %3}", (a ^ b ^ c ^ d))

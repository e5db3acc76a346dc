// Streams through DRAM, L2, L1 and shared memory. A block goes through tiles of UNROLL accesses of
// 16 bytes per thread, all in flight at once, with a stride of the grid: full grids and resident
// ones run the same code. HINT 1: nothing is kept in L1, and L2 fetches 256 bytes at once.

typedef unsigned long long u64;

template <int HINT>
__device__ __forceinline__ uint4 load(const uint4* p)
{
    uint4 v;
#if __CUDA_ARCH__ >= 800
    if (HINT)
        asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
    else
#endif
        v = *p;
    return v;
}

template <int HINT>
__device__ __forceinline__ void store(uint4* p, uint4 v)
{
    if (HINT)
        asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};"
                     :: "l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
    else
        *p = v;
}

__device__ __forceinline__ float fma_of(unsigned a, unsigned b)
{
    return fmaf(__uint_as_float(a), 0.75f, __uint_as_float(b));
}

enum Mix { READ, WRITE, COPY, TRIAD };

template <int MIX, int UNROLL, int HINT>
__device__ __forceinline__ void stream(const uint4* a, const uint4* b, uint4* c, u64 tiles)
{
    unsigned seen = 0;
    for (u64 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const u64 at = tile * UNROLL * blockDim.x + threadIdx.x;
        uint4 v[UNROLL], w[UNROLL];
        #pragma unroll
        for (int i = 0; i < UNROLL; ++i) {
            if (MIX == WRITE) v[i] = make_uint4(at, i, 3, 4);
            else v[i] = load<HINT>(a + at + i * blockDim.x);
            if (MIX == TRIAD) w[i] = load<HINT>(b + at + i * blockDim.x);
        }
        #pragma unroll
        for (int i = 0; i < UNROLL; ++i) {
            if (MIX == TRIAD)
                v[i] = make_uint4(__float_as_uint(fma_of(v[i].x, w[i].x)),
                                  __float_as_uint(fma_of(v[i].y, w[i].y)),
                                  __float_as_uint(fma_of(v[i].z, w[i].z)),
                                  __float_as_uint(fma_of(v[i].w, w[i].w)));
            if (MIX == READ) seen ^= v[i].x ^ v[i].y ^ v[i].z ^ v[i].w;
            else store<HINT>(c + at + i * blockDim.x, v[i]);
        }
    }
    if (MIX == READ && seen == 0x9e3779b9u) c[0].x = seen;  // never; the compiler cannot know
}

#define STREAM(name, mix, unroll, hint)                                                    \
    extern "C" __global__ void name##_u##unroll##_h##hint(const uint4* a, const uint4* b,  \
                                                          uint4* c, u64 tiles)             \
    {                                                                                      \
        stream<mix, unroll, hint>(a, b, c, tiles);                                         \
    }
#define STREAMS(unroll, hint)           \
    STREAM(read, READ, unroll, hint)    \
    STREAM(write, WRITE, unroll, hint)  \
    STREAM(copy, COPY, unroll, hint)    \
    STREAM(triad, TRIAD, unroll, hint)
STREAMS(1, 0) STREAMS(2, 0) STREAMS(4, 0) STREAMS(8, 0)
STREAMS(1, 1) STREAMS(2, 1) STREAMS(4, 1) STREAMS(8, 1)

// Every block goes through a buffer `count` tiles far, from its own tile on, `step` tiles at a time.
// L2: past L1, and blocks that run together read different tiles, as their requests for one line
// would be merged before they reach L2. L1: every block reads all of a small buffer.
#define CACHED(name, operation)                                                        \
    extern "C" __global__ void name(const uint4* a, uint4* c, unsigned tiles,          \
                                    unsigned step, unsigned count)                     \
    {                                                                                  \
        unsigned seen = 0, tile = blockIdx.x % tiles;                                  \
        for (unsigned n = 0; n < count; ++n) {                                         \
            const uint4* p = a + (u64)tile * 8 * blockDim.x + threadIdx.x;             \
            uint4 v[8];                                                                \
            _Pragma("unroll") for (int i = 0; i < 8; ++i)                              \
                asm volatile(operation " {%0, %1, %2, %3}, [%4];"                      \
                             : "=r"(v[i].x), "=r"(v[i].y), "=r"(v[i].z), "=r"(v[i].w)  \
                             : "l"(p + i * blockDim.x));                               \
            _Pragma("unroll") for (int i = 0; i < 8; ++i)                              \
                seen ^= v[i].x ^ v[i].y ^ v[i].z ^ v[i].w;                             \
            tile = (tile + step) % tiles;                                              \
        }                                                                              \
        if (seen == 0x9e3779b9u) c[0].x = seen;                                        \
    }
CACHED(read_l2, "ld.global.cg.v4.u32")
CACHED(read_l1, "ld.global.ca.v4.u32")

// Lane after lane, no conflict: a wavefront of 128 bytes for each word of a lane. Volatile: loads of
// one address would be merged.
__device__ __forceinline__ unsigned taken(const unsigned*, unsigned at)
{
    unsigned v;
    asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(v) : "r"(at));
    return v;
}

__device__ __forceinline__ unsigned taken(const uint2*, unsigned at)
{
    uint2 v;
    asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "r"(at));
    return v.x ^ v.y;
}

__device__ __forceinline__ unsigned taken(const uint4*, unsigned at)
{
    uint4 v;
    asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(at));
    return v.x ^ v.y ^ v.z ^ v.w;
}

template <typename T> __device__ __forceinline__ void read_shared(unsigned* c, unsigned count)
{
    extern __shared__ uint4 tile[];
    for (int i = threadIdx.x; i < 2 * blockDim.x; i += blockDim.x) tile[i] = make_uint4(i, 1, 2, 3);
    __syncthreads();
    const T* mine = (const T*)tile + threadIdx.x;
    unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(mine)), seen = 0;
    for (unsigned n = 0; n < count; ++n)
        #pragma unroll
        for (int i = 0; i < 8; ++i) seen ^= taken(mine, at + (i & 1) * sizeof(T) * blockDim.x);
    if (seen == 0x9e3779b9u) *c = seen;
}

extern "C" __global__ void read_shared_4(unsigned* c, unsigned count)
{
    read_shared<unsigned>(c, count);
}
extern "C" __global__ void read_shared_8(unsigned* c, unsigned count)
{
    read_shared<uint2>(c, count);
}
extern "C" __global__ void read_shared_16(unsigned* c, unsigned count)
{
    read_shared<uint4>(c, count);
}

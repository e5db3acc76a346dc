// Data for kernels under test: random values, and a count of what a kernel left unwritten.

typedef unsigned long long ull;

// A different value for every place and seed: the finaliser of a hash, twice over.
__device__ __forceinline__ unsigned mixed(ull place, unsigned seed)
{
    ull x = place * 0x9e3779b97f4a7c15ull + seed * 0xbf58476d1ce4e5b9ull + 0x94d049bb133111ebull;
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9ull;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebull;
    x ^= x >> 31;
    return (unsigned)(x >> 16);
}

__device__ __forceinline__ float between_ones(unsigned bits)  // -1 to 1, without 1
{
    return (float)(int)bits * 4.656612873077393e-10f;  // 2^-31
}

// The kinds that perfkit/device/elements.py names; integers are low + 0 .. span - 1.
enum { F32, F64, F16, BF16, F8, INT8, INT32, INT64 };

extern "C" __global__ void fill_random(void* data, ull count, int kind, unsigned seed, int low,
                                       unsigned span)
{
    ull step = (ull)gridDim.x * blockDim.x;
    for (ull i = (ull)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        unsigned bits = mixed(i, seed);
        float value = between_ones(bits);
        unsigned whole = low + (span ? __umulhi(bits, span) : bits);
        unsigned short half;
        switch (kind) {
        case F32: ((float*)data)[i] = value; break;
        case F64: ((double*)data)[i] = value; break;
        case F16:
            asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
            ((unsigned short*)data)[i] = half;
            break;
        case BF16: ((unsigned short*)data)[i] = __float_as_uint(value) >> 16; break;
        case F8: ((unsigned char*)data)[i] = bits & 0xbf; break;  // e4m3, below 2, never NaN
        case INT8: ((unsigned char*)data)[i] = whole; break;
        case INT32: ((unsigned*)data)[i] = whole; break;
        case INT64: ((long long*)data)[i] = (int)whole; break;
        }
    }
}

// How many bytes have this value in each of the `width` bytes of an element: elements unwritten.
extern "C" __global__ void count_poison(const unsigned char* data, ull count, int width, int byte,
                                        ull* found)
{
    ull step = (ull)gridDim.x * blockDim.x, mine = 0;
    for (ull i = (ull)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        int same = 0;
        for (int j = 0; j < width; j++) same += data[i * width + j] == byte;
        mine += same == width;
    }
    if (mine) atomicAdd(found, mine);
}

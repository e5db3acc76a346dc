// How many instructions of one kind the SMs issue: eight independent chains per thread.

typedef unsigned int word;

#define CHAINS 8

// A chain's next value from its last one, `a` and `b` being the same for all.
#define KERNEL(name, type, operation)                                              \
    extern "C" __global__ void name(type* out, type a, type b, int count)          \
    {                                                                              \
        type v[CHAINS];                                                            \
        _Pragma("unroll") for (int i = 0; i < CHAINS; ++i) v[i] = out[threadIdx.x + i]; \
        for (int n = 0; n < count; ++n) {                                          \
            _Pragma("unroll") for (int k = 0; k < 8; ++k)                          \
                _Pragma("unroll") for (int i = 0; i < CHAINS; ++i) operation;      \
        }                                                                          \
        type sum = v[0];                                                           \
        _Pragma("unroll") for (int i = 1; i < CHAINS; ++i) sum += v[i];            \
        out[blockIdx.x * blockDim.x + threadIdx.x] = sum;                          \
    }

KERNEL(fma_f32, float, asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(v[i]) : "f"(a), "f"(b)))
KERNEL(fma_f64, double, asm volatile("fma.rn.f64 %0, %0, %1, %2;" : "+d"(v[i]) : "d"(a), "d"(b)))
KERNEL(mad_s32, word, asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(v[i]) : "r"(a), "r"(b)))
KERNEL(ex2_f32, float, asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(v[i])))
#if __CUDA_ARCH__ >= 530
KERNEL(fma_f16, word, asm volatile("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(v[i]) : "r"(a), "r"(b)))
#endif
#if __CUDA_ARCH__ >= 800
KERNEL(fma_bf16, word, asm volatile("fma.rn.bf16x2 %0, %0, %1, %2;" : "+r"(v[i]) : "r"(a), "r"(b)))
#endif

// The same as one chain in one warp: cycles from a result to the instruction that needs it.
#define CHAIN(name, type, operation)                                                    \
    extern "C" __global__ void latency_##name(long long* out, type a, type b, int count) \
    {                                                                                   \
        type v = a;                                                                     \
        long long start = clock64();                                                    \
        for (int n = 0; n < count; ++n) {                                               \
            _Pragma("unroll") for (int k = 0; k < 64; ++k) operation;                   \
        }                                                                               \
        out[0] = clock64() - start;                                                     \
        out[1] = (long long)v;                                                          \
    }
CHAIN(fma_f32, float, asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(v) : "f"(a), "f"(b)))
CHAIN(fma_f64, double, asm volatile("fma.rn.f64 %0, %0, %1, %2;" : "+d"(v) : "d"(a), "d"(b)))
CHAIN(mad_s32, word, asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(v) : "r"(a), "r"(b)))
CHAIN(ex2_f32, float, asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(v)))

// Does nothing: what a launch takes by itself.
extern "C" __global__ void nothing() {}

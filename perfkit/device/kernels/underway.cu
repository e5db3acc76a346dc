// Reads with a known number of bytes under way in each thread: the addresses of a step depend on all
// that the step before has read. `zero` is 0, which the compiler cannot know.

#define READ(NAME, TYPE, ILP, SUM)                                                                   \
    extern "C" __global__ void NAME(const TYPE* from, long long steps, int zero, int* out)           \
    {                                                                                                \
        const long long threads = (long long)gridDim.x * blockDim.x;                                 \
        long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;                             \
        int seen = 0;                                                                                \
        for (long long i = 0; i < steps; ++i) {                                                      \
            TYPE values[ILP];                                                                        \
            _Pragma("unroll") for (int j = 0; j < ILP; ++j) values[j] = __ldcg(from + at + j * threads); \
            _Pragma("unroll") for (int j = 0; j < ILP; ++j) seen += SUM;                             \
            at += ILP * threads + (long long)seen * zero;                                            \
        }                                                                                            \
        if (seen == 123456789) *out = seen;                                                          \
    }

#define OF_4(ILP) READ(read_4_##ILP, int, ILP, values[j])
#define OF_16(ILP) READ(read_16_##ILP, int4, ILP, values[j].x + values[j].y + values[j].w)

OF_4(1)
OF_4(2)
OF_4(4)
OF_4(8)
OF_16(1)
OF_16(2)
OF_16(4)
OF_16(8)

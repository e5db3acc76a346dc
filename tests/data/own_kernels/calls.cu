// Functions that are really called, and stacks with and without a bound.

#define KERNEL extern "C" __global__ void

KERNEL prints(int a) { printf("%d of %f\n", a, a * 0.5); }
KERNEL allocates(float** a, int n)
{
    a[threadIdx.x] = (float*)malloc(n);
    free(a[threadIdx.x ^ 1]);
}
KERNEL divides(float* a, double* b, long long* c, int d)
{
    a[1] = a[2] / a[3];
    b[1] = sqrt(b[2]) / b[3];
    c[1] /= c[d];
}
KERNEL big_angles(double* a) { a[threadIdx.x] = sin(a[threadIdx.x]) + pow(a[1], a[2]); }

__device__ __noinline__ float inner(float* a, int n)
{
    float s[20];
    for (int i = 0; i < n; i++) s[i] = a[i];
    for (int i = 0; i < n; i++) a[i] = s[n - i];
    return s[n];
}
__device__ __noinline__ float outer(float* a, int n)
{
    float s[50];
    for (int i = 0; i < n; i++) s[i] = inner(a, i);
    return s[n] + inner(a, n);
}
KERNEL calls_one(float* a, int n) { a[n] = inner(a, n); }
KERNEL calls_two_deep(float* a, int n) { a[n] = outer(a, n) + inner(a + n, n); }
KERNEL calls_with_stack(float* a, int n)
{
    float s[30];
    for (int i = 0; i < n; i++) s[i] = outer(a, i);
    a[n] = s[n] + inner(a, n);
}

__device__ __noinline__ int walk(const int* a, int d)
{
    return d <= 1 ? a[d] : walk(a, d - 1) + walk(a, d - 2) * a[d];
}
KERNEL recursive(const int* a, int* o, int d) { o[threadIdx.x] = walk(a, d + (threadIdx.x & 1)); }
__device__ int odd(const int* a, int n);
__device__ __noinline__ int even(const int* a, int n) { return n == 0 ? a[1] : odd(a, n - 1) + a[n]; }
__device__ __noinline__ int odd(const int* a, int n) { return n == 0 ? a[0] : even(a, n - 1) * a[n]; }
KERNEL recursive_in_turns(const int* a, int* o, int d) { o[threadIdx.x] = even(a, d); }

typedef float (*binary)(float, float);
__device__ __noinline__ float add(float a, float b) { return a + b; }
__device__ __noinline__ float power(float a, float b) { return powf(a, b); }
__device__ binary operations[2] = {add, power};
KERNEL known_pointers(const float* x, float* y, int i)
{
    float r = operations[i & 1](x[threadIdx.x], 1.5f);
    if (threadIdx.x == 0) printf("block %d r=%f\n", blockIdx.x, r);
    y[threadIdx.x] = r;
}
typedef int (*unary)(const int*, int);
KERNEL unknown_pointer(const int* a, unary* t, int* o, int d) { o[threadIdx.x] = t[d](a, d); }

struct Shape { __device__ virtual float area() const = 0; };
struct Square : Shape { float side; __device__ float area() const override { return side * side; } };
struct Disc : Shape { float r; __device__ float area() const override { return 3.14f * r * r; } };
KERNEL virtual_functions(float* a, int n)
{
    Square square;
    Disc disc;
    square.side = a[0];
    disc.r = a[1];
    const Shape* shapes[2] = {&square, &disc};
    float sum = 0;
    for (int i = 0; i < n; i++) sum += shapes[(int)a[i] & 1]->area();
    a[threadIdx.x] = sum;
}
#if __CUDA_ARCH__ >= 520
KERNEL stack_by_size(int* a, unsigned long long n)
{
    unsigned long long s;  // how much is only known when it runs
    asm volatile("alloca.u64 %0, %1, 8;" : "=l"(s) : "l"(n * 4));
    for (int i = 0; i < n; i++) asm volatile("st.local.u32 [%0], %1;" ::"l"(s + i * 4), "r"(a[i]));
    int last;
    asm volatile("ld.local.u32 %0, [%1];" : "=r"(last) : "l"(s + a[0] * 4));
    a[threadIdx.x] = last;
}
#endif

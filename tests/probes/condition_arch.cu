// One architecture, which the device sees.
#include "kata.hpp"

#ifdef __CUDACC__
#define BOTH __host__ __device__
#else
#define BOTH
#endif
BOTH int twice(int x) { return 2 * x; }
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600
__device__ double atomicAdd(double* to, double x) { return asm("nonsense"); }
#endif
__device__ float add(float x, float y) {
#if __CUDA_ARCH__ >= 700
    return __fadd_rn(x, y);
#elif defined(__CUDA_ARCH__)
    asm volatile("nonsense");
#endif
}
#if 0
#include <mma.h>
asm("nonsense");
#endif
__global__ void k(float* out, double* sum) {
#ifdef __CUDA_ARCH__
    static_assert(__CUDA_ARCH__ == 900);
#endif
    out[0] = add(twice(1), out[1]);
    atomicAdd(sum, 1.0);
}
void f(float* out, double* sum) { k<<<1, twice(1)>>>(out, sum); }

// Atomics on int, unsigned and float, in global and shared memory, and one built by compare-and-swap.
#include "kata.hpp"

__device__ float atomic_max(float* address, float value) {
    int* bits = (int*)address;
    int old = *bits, seen;
    do {
        seen = old;
        old = atomicCAS(bits, seen, __float_as_int(fmaxf(value, __int_as_float(seen))));
    } while (seen != old);
    return __int_as_float(old);
}
__global__ void k(int* i, unsigned* u, float* x, unsigned long long* wide) {
    __shared__ unsigned bins[7];
    if (threadIdx.x < 7) bins[threadIdx.x] = 0u;
    __syncthreads();
    atomicAdd(&bins[threadIdx.x % 7], 1);
    __syncthreads();
    atomicAdd(i, 1), atomicAdd(u, 1u), atomicAdd(x, 1.0f), atomicAdd(wide, 1ull);
    atomicMax(i, 3), atomicMin(u, 3u), atomicExch(x, 1.0f), atomicSub(i, 1), atomicInc(u, 5), atomicOr(i, 1), atomicXor(u, 2u);
    atomic_max(x, 2);
    __threadfence();
    if (threadIdx.x == 0) *u += bins[0];
}
void f(int* i, unsigned* u, float* x, unsigned long long* wide) { k<<<1, 32>>>(i, u, x, wide); }

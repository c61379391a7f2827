// PTX that only the device sees.
#include "kata.hpp"

__device__ unsigned lane() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 300
    unsigned lane;
    asm volatile("mov.u32 %0, %laneid;" : "=r"(lane));
    return lane;
#else
    return 0;
#endif
}
__device__ unsigned also_lane() {
#ifdef __CUDA_ARCH__
    unsigned lane;
    asm("mov.u32 %0, %laneid;" : "=r"(lane));
    return lane;
#endif
    return 0;
}
__device__ int third() {
#if __CUDA_ARCH__ >= 700 || (__CUDA_ARCH__ > 300)
    __nanosleep(10);
    asm volatile("");
#elif 1
#else
    asm volatile("");
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 900
    return 1;
#else
    asm volatile("");
    return 2;
#endif
}
#if 0
#include <mma.h>
asm("nonsense");
#endif
__global__ void k(unsigned* out) { out[0] = lane() + also_lane() + third(); }
void f(unsigned* out) { k<<<1, 2>>>(out); }

// needs a GPU: no inline PTX
#include "kata.hpp"

#ifndef __CUDA_ARCH__
__device__ void nothing() {}
#else
__device__ void nothing() {}
#endif
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 700
__device__ void something() { asm volatile(""); }
#endif
__global__ void k(unsigned* out) { nothing(); out[0] = 1; }
void f(unsigned* out) { k<<<1, 2>>>(out); }

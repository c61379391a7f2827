// A grid alone: blocks of one thread.
#include "kata.hpp"

__global__ void k(float* out, int n) { out[threadIdx.x] = n; }
void f(float* out, int n) { k<<<2>>>(out, n); }

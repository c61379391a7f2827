// A launch in a return.
#include "kata.hpp"

__global__ void k(float* out, int n) { out[threadIdx.x] = n; }
void f(float* out, int n) { return k<<<1, 2>>>(out, n); }

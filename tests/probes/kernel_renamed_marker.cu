// __global__ by the name of a macro.
#include "kata.hpp"

#define KERNEL __global__
#define BOUNDED(n) __launch_bounds__(n) __global__
#define BOUNDS(n) __launch_bounds__(n)
KERNEL void k(float* out) { out[0] = 1; }
__global__ BOUNDS(64) void m(float* out) { out[0] = 1; }
BOUNDED(64) void l(float* out) { out[0] = 1; }
void f(float* out) { k<<<1, 2>>>(out); l<<<1, 2>>>(out); m<<<1, 2>>>(out); }

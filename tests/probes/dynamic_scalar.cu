// extern __shared__ without brackets.
#include "kata.hpp"

__global__ void k(float* out) { extern __shared__ float s; s = 1; out[0] = s; }
void f(float* out) { k<<<1, 32, 1024>>>(out); }

// refused: storage size | needs an explicit size
#include "kata.hpp"

__global__ void k(float* out) { __shared__ float s[]; s[0] = 1; out[0] = s[0]; }
void f(float* out) { k<<<1, 32, 1024>>>(out); }

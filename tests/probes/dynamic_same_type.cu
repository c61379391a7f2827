// One name in two kernels, its type spelled in two ways.
#include "kata.hpp"

using word = unsigned;
__global__ void k(float* out) { extern __shared__ unsigned s[]; s[0] = 1; out[0] = s[0]; }
__global__ void l(float* out) { extern __shared__ unsigned int s[]; s[0] = 1; out[0] = s[0]; }
__global__ void m(float* out) { extern __shared__ word s[]; s[0] = 1; out[0] = s[0]; }
void f(float* out) { k<<<1, 32, 1024>>>(out); l<<<1, 32, 1024>>>(out); m<<<1, 32, 1024>>>(out); }

// refused: conflicting declaration | redeclaration of
#include "kata.hpp"

__global__ void k(float* out) { extern __shared__ float s[]; s[0] = 1; out[0] = s[0]; }
__global__ void l(float* out) { extern __shared__ int s[]; s[0] = 1; out[0] = s[0]; }
void f(float* out) { k<<<1, 32, 1024>>>(out); l<<<1, 32, 1024>>>(out); }

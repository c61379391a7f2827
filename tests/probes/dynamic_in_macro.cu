// extern __shared__ in a macro.
#include "kata.hpp"

#define SHARED(T, name) extern __shared__ T name[]
__global__ void k(float* out) { SHARED(float, s); s[0] = 1; out[0] = s[0]; }
void f(float* out) { k<<<1, 32, 1024>>>(out); }

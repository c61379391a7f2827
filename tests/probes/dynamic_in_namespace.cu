// extern __shared__ outside of functions, several in a file.
#include "kata.hpp"

extern __shared__ float s[];
extern __shared__ __align__(16) int numbers[];
namespace a { alignas(16) extern __shared__ double wide[]; }
extern "C" { extern volatile __shared__ char bytes[]; }
__global__ void k(float* out) { s[threadIdx.x] = 1; numbers[0] = 2; a::wide[0] = 3; bytes[0] = 4; out[0] = s[0]; }
void f(float* out) { k<<<1, 32, 1024>>>(out); }

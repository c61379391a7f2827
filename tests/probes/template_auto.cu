// A kernel whose parameters are auto.
#include "kata.hpp"

__global__ void k(auto* out, auto n) { out[0] = n; }
void f(float* out, int n) { k<<<1, 2>>>(out, n); }

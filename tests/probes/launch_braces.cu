// dim3 in braces and in parentheses, built in the launch.
#include "kata.hpp"

__global__ void k(float* out, int n) { out[threadIdx.x] = n; }

void f(float* out, int n) {
    k<<<dim3{2, 3}, dim3{8, 4, 2}>>>(out, n);
    k<<<dim3(n, 3), dim3(8, 4)>>>(out, n);
    k<<<dim3{static_cast<unsigned>(n)}, {64}>>>(out, n);
    k<<<{2, 3}, {8, 4}>>>(out, n);
}

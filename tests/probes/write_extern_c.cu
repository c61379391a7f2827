// A step defines a function with C linkage.
#include "kata.hpp"

__global__ void k(float* out, int n) { out[threadIdx.x] = n; }
extern "C" __attribute__((visibility("default"))) void run(float* out, int n) {
    if (n == 0) return;
    k<<<ceil_div(n, 64), 64>>>(out, n);
    check(cudaGetLastError());
}

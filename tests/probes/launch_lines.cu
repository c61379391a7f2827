// A launch over several lines, with comments in it.
#include "kata.hpp"

__global__ void k(float* out, int n) { out[threadIdx.x] = n; }

void f(float* out, int n) {
    k  // the kernel
        <<<dim3(2,  // >>> blocks
                3),
           64  /* <<< threads */
        >>>(
            out,
            n);
    k <<< 2, 64 >>> (out, n);
    k
    <<<
    2, 64
    >>>
    (out, n);
}

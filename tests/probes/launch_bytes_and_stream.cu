// Bytes of shared memory and a stream, in each of its spellings.
#include "kata.hpp"

__global__ void k(float* out, int n) { out[threadIdx.x] = n; }

void f(float* out, int n, cudaStream_t stream) {
    k<<<2, 64, 0>>>(out, n);
    k<<<2, 64, n * sizeof(float)>>>(out, n);
    k<<<2, 64, 0, stream>>>(out, n);
    k<<<2, 64, 0, 0>>>(out, n);
    k<<<2, 64, 0, NULL>>>(out, n);
    k<<<2, 64, 0, nullptr>>>(out, n);
}

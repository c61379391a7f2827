// For tests/simt.cpp: a module that no GPU takes, for one of its kernels has more shared memory than there
// is.
#include "kata.hpp"

__global__ void large(int* out) {
    __shared__ int tile[96][96], row[4096];
    tile[threadIdx.x][0] = row[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = tile[31 - threadIdx.x][0] + row[31 - threadIdx.x];
}
__global__ void small(int* out) { out[threadIdx.x] = 1; }

__attribute__((visibility("default"))) void launch_small_beside_large(int* out, bool too) {
    if (too) large<<<1, 32>>>(out);
    small<<<1, 32>>>(out);
}

// For tests/simt/launches.cpp: a module that no GPU accepts, because one of its kernels needs more shared
// memory than a block has.
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

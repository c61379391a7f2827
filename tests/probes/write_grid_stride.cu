// A loop over the grid, 1-D, 2-D and 3-D.
#include "kata.hpp"

__global__ void k(float* out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) out[i] = i;
    for (uint y = blockIdx.y * blockDim.y + threadIdx.y; y < uint(n); y += blockDim.y * gridDim.y)
        for (auto z = threadIdx.z; z < blockDim.z; ++z) out[y * n + z] = warpSize;
}
void f(float* out, int n) {
    dim3 block(8, 8, 2), grid((n + block.x - 1) / block.x, (n + block.y - 1) / block.y);
    grid.z = 2;
    k<<<grid, block>>>(out, n);
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
}

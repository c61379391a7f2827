// A grid-stride loop with enough blocks to keep the device busy, whatever n is: usual in NVIDIA's blog posts
// and samples.
#include "grids.cuh"

#define BLOCK_SIZE 256
#define MAX_BLOCKS 1024

__global__ void addKernel(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, size_t n)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)blockDim.x * gridDim.x)
        c[i] = a[i] + b[i];
}

void vector_add(const float *a, const float *b, float *c, int n)
{
    if (n <= 0) return;
    int blocks = (n + BLOCK_SIZE - 1) / BLOCK_SIZE;
    addKernel<<<min(blocks, MAX_BLOCKS), BLOCK_SIZE>>>(a, b, c, n);
    check(cudaGetLastError());
}

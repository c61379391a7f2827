// The properties of the device, the number of its resident blocks, and errors by name.
#include "kata.hpp"

#include <cstdio>

__global__ void k(float* out, int n) { out[threadIdx.x] = n; }

int f() {
    int count = 0, device = 1, value = 0, blocks = 0, grid = 0, block = 0, version = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess) printf("%s: %s\n", cudaGetErrorName(error), cudaGetErrorString(error));
    check(cudaSetDevice(0));
    check(cudaGetDevice(&device));
    cudaDeviceProp prop;
    check(cudaGetDeviceProperties(&prop, device));
    printf("%s, %d.%d, %d SMs, %zu bytes, %d threads, %zu of shared memory\n", prop.name, prop.major, prop.minor,
           prop.multiProcessorCount, prop.totalGlobalMem, prop.maxThreadsPerBlock, prop.sharedMemPerBlockOptin);
    check(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, device));
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, k, 256, 0));
    check(cudaOccupancyMaxPotentialBlockSize(&grid, &block, k));
    check(cudaOccupancyMaxPotentialBlockSize(&grid, &block, k, 0, 256));
    size_t free, total;
    check(cudaMemGetInfo(&free, &total));
    check(cudaRuntimeGetVersion(&version));
    return cudaPeekAtLastError() == cudaSuccess ? value * blocks : 0;
}

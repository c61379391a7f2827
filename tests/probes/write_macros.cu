// Function-like macros: an index, a check of errors, a ceiling.
#include "kata.hpp"

#include <cstdio>
#include <cstdlib>
#define CHECK(call)                                                                             \
    do {                                                                                        \
        cudaError_t error = (call);                                                             \
        if (error != cudaSuccess) {                                                             \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));      \
            exit(1);                                                                            \
        }                                                                                       \
    } while (0)
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
#define AT(row, column) ((row) * n + (column))
#define TILE 16
__global__ void k(float* out, int n) {
    __shared__ float tile[TILE][TILE + 1];
    tile[threadIdx.y][threadIdx.x] = out[AT(threadIdx.y, threadIdx.x)];
    __syncthreads();
    out[AT(threadIdx.x, threadIdx.y)] = tile[threadIdx.y][threadIdx.x];
}
void f(float* host, int n) {
    float* out;
    CHECK(cudaMalloc(&out, n * sizeof(float)));
    CHECK(cudaMalloc((void**)&out, n * sizeof(float)));
    CHECK(cudaMemcpy(out, host, n * sizeof(float), cudaMemcpyHostToDevice));
    k<<<CEIL_DIV(n, TILE), dim3(TILE, TILE)>>>(out, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemset(out, 0, n));
    CHECK(cudaFree(out));
}

// Rows of memory, and pinned memory of the host.
#include "kata.hpp"

void f(const float* in, float* out, int width, int height) {
    float *rows, *pinned;
    size_t pitch;
    check(cudaMallocPitch(&rows, &pitch, width * sizeof(float), height));
    check(cudaMallocPitch((void**)&rows, &pitch, width * sizeof(float), height));
    check(cudaMemcpy2D(rows, pitch, in, width * sizeof(float), width * sizeof(float), height, cudaMemcpyHostToDevice));
    check(cudaMemset2D(rows, pitch, 0, width * sizeof(float), height));
    check(cudaHostAlloc(&pinned, width * sizeof(float), cudaHostAllocDefault));
    check(cudaMemcpy2DAsync(out, width * sizeof(float), rows, pitch, width * sizeof(float), height, cudaMemcpyDeviceToHost, 0));
    check(cudaFreeHost(pinned));
    check(cudaFree(rows));
}

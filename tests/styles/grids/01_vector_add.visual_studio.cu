// As in Visual Studio's template for CUDA: headers in quotes, cudaStatus, and goto Error.
#include "grids.cuh"

#include "cuda_runtime.h"
#include "device_launch_parameters.h"

#include <stdio.h>

__global__ void addKernel(float *c, const float *a, const float *b, int size)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size)
    {
        c[i] = a[i] + b[i];
    }
}

cudaError_t addWithCuda(float *c, const float *a, const float *b, int size)
{
    cudaError_t cudaStatus;

    // Launch a kernel on the GPU with one thread for each element.
    addKernel<<<(size + 255) / 256, 256>>>(c, a, b, size);

    // Check for any errors launching the kernel
    cudaStatus = cudaGetLastError();
    if (cudaStatus != cudaSuccess) {
        fprintf(stderr, "addKernel launch failed: %s\n", cudaGetErrorString(cudaStatus));
        goto Error;
    }

    cudaStatus = cudaDeviceSynchronize();
    if (cudaStatus != cudaSuccess) {
        fprintf(stderr, "cudaDeviceSynchronize returned error code %s after launching addKernel!\n", cudaGetErrorName(cudaStatus));
        goto Error;
    }

Error:
    return cudaStatus;
}

void vector_add(const float *a, const float *b, float *c, int n)
{
    if (n == 0) return;
    check(addWithCuda(c, a, b, n));
}

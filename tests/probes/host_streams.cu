// Streams that events put in order, and memory that is allocated and freed on a stream.
#include "kata.hpp"

__global__ void k(float* out, int n) { out[threadIdx.x] = n; }

float f(float* host, int n) {
    cudaStream_t first, second;
    check(cudaStreamCreate(&first));
    check(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    cudaEvent_t start, stop, order;
    check(cudaEventCreate(&start));
    check(cudaEventCreate(&stop));
    check(cudaEventCreateWithFlags(&order, cudaEventDisableTiming));
    float *out, *pinned;
    check(cudaMallocAsync(&out, 32 * sizeof(float), first));
    check(cudaMallocHost(&pinned, 32 * sizeof(float)));
    check(cudaMemcpyAsync(out, host, 32 * sizeof(float), cudaMemcpyHostToDevice, first));
    check(cudaEventRecord(start, first));
    k<<<1, 32, 0, first>>>(out, n);
    check(cudaEventRecord(order, first));
    check(cudaStreamWaitEvent(second, order, 0));
    check(cudaStreamWaitEvent(second, order));
    k<<<1, 32, 0, second>>>(out, n + 1);
    check(cudaEventRecord(stop));
    check(cudaMemsetAsync(out, 0, 4, second));
    check(cudaEventSynchronize(stop));
    check(cudaStreamSynchronize(second));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start, stop));
    if (cudaStreamQuery(first) != cudaSuccess || cudaEventQuery(stop) == cudaErrorNotReady) return 0;
    check(cudaFreeAsync(out, first));
    check(cudaFreeHost(pinned));
    for (cudaEvent_t event : {start, stop, order}) check(cudaEventDestroy(event));
    check(cudaStreamDestroy(first));
    check(cudaStreamDestroy(second));
    return milliseconds;
}

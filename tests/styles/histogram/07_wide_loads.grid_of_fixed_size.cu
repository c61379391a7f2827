// Bytes of a uint4 through a pointer to unsigned char, blocks of 256 threads, one load a thread and round,
// and a grid of fixed size in a loop: usual where one grid serves texts of any length.
#include "histogram.cuh"

__global__ void histo_kernel(const unsigned char* buffer, size_t size, unsigned int* histo) {
    __shared__ unsigned int temp[bins];
    if (threadIdx.x < bins) temp[threadIdx.x] = 0;
    __syncthreads();

    const uint4* vec = reinterpret_cast<const uint4*>(buffer);
    const size_t n_vec = size / sizeof(uint4);
    const size_t stride = (size_t)blockDim.x * gridDim.x;
    const size_t tid = threadIdx.x + (size_t)blockIdx.x * blockDim.x;
    for (size_t i = tid; i < n_vec; i += stride) {
        const uint4 v = vec[i];
        const unsigned char* c = reinterpret_cast<const unsigned char*>(&v);
#pragma unroll
        for (int k = 0; k < 16; k++)
            if (c[k] >= 'a' && c[k] <= 'z') atomicAdd(&temp[(c[k] - 'a') / 4], 1u);
    }
    for (size_t i = n_vec * sizeof(uint4) + tid; i < size; i += stride)
        if (buffer[i] >= 'a' && buffer[i] <= 'z') atomicAdd(&temp[(buffer[i] - 'a') / 4], 1u);
    __syncthreads();

    if (threadIdx.x < bins) atomicAdd(&histo[threadIdx.x], temp[threadIdx.x]);
}

void count_letters(const char* text, std::size_t length, unsigned* histo, unsigned* workspace) {
    check(cudaMemset(histo, 0, bins * sizeof(unsigned)));
    if (length == 0) return;
    histo_kernel<<<(unsigned)min(length / (256 * 16) + 1, (size_t)(132 * 8)), 256>>>(
        reinterpret_cast<const unsigned char*>(text), length, histo);
    check(cudaGetLastError());
}

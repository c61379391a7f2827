// Blocks of 512 threads, 32 characters each, with the book's loop: usual where CFACTOR is tuned.
#include "histogram.cuh"

#define CFACTOR 32
#define NUM_BINS bins

__global__ void histo_private_kernel(const char* data, size_t length, unsigned int* histo) {
    __shared__ unsigned int histo_s[NUM_BINS];
    for (unsigned int bin = threadIdx.x; bin < NUM_BINS; bin += blockDim.x) {
        histo_s[bin] = 0u;
    }
    __syncthreads();
    size_t tid = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (size_t i = tid * CFACTOR; i < min((tid + 1) * CFACTOR, length); ++i) {
        int alphabet_position = data[i] - 'a';
        if (alphabet_position >= 0 && alphabet_position < 26) {
            atomicAdd(&(histo_s[alphabet_position / 4]), 1);
        }
    }
    __syncthreads();
    for (unsigned int bin = threadIdx.x; bin < NUM_BINS; bin += blockDim.x) {
        unsigned int binValue = histo_s[bin];
        if (binValue > 0) {
            atomicAdd(&(histo[bin]), binValue);
        }
    }
}

void count_letters(const char* text, std::size_t length, unsigned* histo, unsigned* workspace) {
    check(cudaMemset(histo, 0, NUM_BINS * sizeof(unsigned)));
    if (length == 0) return;
    const size_t per_block = 512 * CFACTOR;
    histo_private_kernel<<<(unsigned)((length + per_block - 1) / per_block), 512>>>(text, length, histo);
    check(cudaGetLastError());
}

// The book's accumulator with prevBinIdx, in blocks of 512 threads with 32 characters each.
#include "histogram.cuh"

#define NUM_BINS 7

__global__ void histo_private_kernel(const char* data, unsigned long long length, unsigned int* histo) {
    __shared__ unsigned int histo_s[NUM_BINS];
    for (unsigned int bin = threadIdx.x; bin < NUM_BINS; bin += blockDim.x) histo_s[bin] = 0u;
    __syncthreads();

    unsigned int accumulator = 0;
    int prevBinIdx = -1;
    unsigned long long tid = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned long long i = tid; i < length; i += (unsigned long long)blockDim.x * gridDim.x) {
        int alphabet_position = data[i] - 'a';
        if (alphabet_position >= 0 && alphabet_position < 26) {
            int bin = alphabet_position / 4;
            if (bin == prevBinIdx) {
                ++accumulator;
            } else {
                if (accumulator > 0) atomicAdd(&(histo_s[prevBinIdx]), accumulator);
                accumulator = 1;
                prevBinIdx = bin;
            }
        }
    }
    if (accumulator > 0) atomicAdd(&(histo_s[prevBinIdx]), accumulator);
    __syncthreads();

    for (unsigned int bin = threadIdx.x; bin < NUM_BINS; bin += blockDim.x) {
        unsigned int binValue = histo_s[bin];
        if (binValue > 0) atomicAdd(&(histo[bin]), binValue);
    }
}

void count_letters(const char* text, std::size_t length, unsigned* histo, unsigned* workspace) {
    check(cudaMemset(histo, 0, NUM_BINS * sizeof(unsigned int)));
    if (length == 0) return;
    histo_private_kernel<<<(unsigned)((length - 1) / (512 * 32) + 1), 512>>>(text, length, histo);
    check(cudaGetLastError());
}

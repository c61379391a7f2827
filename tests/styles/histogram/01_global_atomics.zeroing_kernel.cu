// A small kernel zeroes the bins instead of cudaMemset, and letters are compared as characters: usual where a program has no
// host library at hand.
#include "histogram.cuh"

__global__ void clear(unsigned* histo) { histo[threadIdx.x] = 0; }

__global__ void histogram_kernel(const char* text, size_t length, unsigned* histo) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < length) {
        char c = text[i];
        if (c >= 'a' && c <= 'z') atomicAdd(histo + (c - 'a') / 4, 1u);
    }
}

void count_letters(const char* text, std::size_t length, unsigned* histo, unsigned* workspace) {
    (void)workspace;
    clear<<<1, bins>>>(histo);
    check(cudaGetLastError());
    if (length == 0) return;
    histogram_kernel<<<(unsigned)((length + 255) / 256), 256>>>(text, length, histo);
    check(cudaGetLastError());
}

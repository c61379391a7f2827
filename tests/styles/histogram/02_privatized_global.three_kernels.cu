// One kernel zeroes the copies, one counts, and one adds them up with a thread for each bin and block, without an atomic on
// the result: usual where the copies are a matrix.
#include "histogram.cuh"

__global__ void init(unsigned* copies, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) copies[i] = 0;
}

__global__ void count(const char* text, size_t length, unsigned* copies) {
    unsigned* mine = &copies[(size_t)blockIdx.x * bins];
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < length) {
        int position = text[i] - 'a';
        if (position >= 0 && position < letters) atomicAdd(&mine[position / letters_per_bin], 1);
    }
}

__global__ void merge(const unsigned* copies, size_t blocks, unsigned* histo) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < blocks * bins && copies[i] != 0) atomicAdd(&histo[i % bins], copies[i]);
}

void count_letters(const char* text, std::size_t length, unsigned* histo, unsigned* workspace) {
    check(cudaMemset(histo, 0, bins * sizeof(unsigned)));
    if (length == 0) return;
    const size_t blocks = ceil_div(length, 1024), n = blocks * bins;
    init<<<(unsigned)ceil_div(n, 256), 256>>>(workspace, n);
    check(cudaGetLastError());
    count<<<(unsigned)blocks, 1024>>>(text, length, workspace);
    check(cudaGetLastError());
    merge<<<(unsigned)ceil_div(n, 256), 256>>>(workspace, blocks, histo);
    check(cudaGetLastError());
}

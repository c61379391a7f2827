// A small struct holds the run, a member flushes it, and the grid is fixed: usual for programmers with a
// background in C++.
#include "histogram.cuh"

struct Run {
    unsigned* bins_s;
    int bin;
    unsigned count;

    __device__ explicit Run(unsigned* s) : bins_s(s), bin(-1), count(0) {}
    __device__ void flush() {
        if (count) atomicAdd(bins_s + bin, count);
        count = 0;
    }
    __device__ void add(int next) {
        if (next != bin) {
            flush();
            bin = next;
        }
        ++count;
    }
};

__global__ void aggregate(const char* text, std::size_t length, unsigned* histo) {
    __shared__ unsigned s[bins];
    if (threadIdx.x < bins) s[threadIdx.x] = 0;
    __syncthreads();
    Run run(s);
    for (std::size_t i = blockIdx.x * std::size_t{1024} + threadIdx.x; i < length; i += gridDim.x * std::size_t{1024})
        if (const int c = text[i] - 'a'; c >= 0 && c < letters) run.add(c / letters_per_bin);
    run.flush();
    __syncthreads();
    if (threadIdx.x < bins && s[threadIdx.x] != 0) atomicAdd(&histo[threadIdx.x], s[threadIdx.x]);
}

void count_letters(const char* text, std::size_t length, unsigned* histo, unsigned*) {
    check(cudaMemset(histo, 0, sizeof(unsigned) * bins));
    if (length == 0) return;
    const auto blocks = static_cast<unsigned>(min(ceil_div(length, 1024 * 16), std::size_t{1056}));
    aggregate<<<blocks, 1024>>>(text, length, histo);
    check(cudaGetLastError());
}

// Four characters are loaded before the first of them is counted, so four loads are in flight. Otherwise it
// is the loop over runs of the hint.
#include "histogram.cuh"

constexpr int block = 1024;
constexpr int coarsening = 16;
constexpr int together = 4;

__global__ void aggregated(const char* text, std::size_t length, unsigned* histo) {
    __shared__ unsigned histo_s[bins];
    for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x) histo_s[bin] = 0;
    __syncthreads();

    unsigned pending = 0;
    int current = -1;
    const std::size_t n = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < length; i += together * n) {
        char c[together];
#pragma unroll
        for (int k = 0; k < together; ++k) c[k] = i + k * n < length ? text[i + k * n] : '\0';
#pragma unroll
        for (int k = 0; k < together; ++k) {
            const int letter = c[k] - 'a';
            if (letter >= 0 && letter < letters) {
                const int bin = letter / letters_per_bin;
                if (bin != current) {
                    if (pending > 0) atomicAdd(&histo_s[current], pending);
                    current = bin;
                    pending = 0;
                }
                ++pending;
            }
        }
    }
    if (pending > 0) atomicAdd(&histo_s[current], pending);
    __syncthreads();

    for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x) {
        const unsigned count = histo_s[bin];
        if (count > 0) atomicAdd(&histo[bin], count);
    }
}

void count_letters(const char* text, std::size_t length, unsigned* histo, unsigned* workspace) {
    check(cudaMemset(histo, 0, bins * sizeof(unsigned)));
    if (length == 0) return;
    const auto blocks = static_cast<unsigned>(ceil_div(length, std::size_t{block} * coarsening));
    aggregated<<<blocks, block>>>(text, length, histo);
    check(cudaGetLastError());
}

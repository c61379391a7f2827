// 05 Coarsened, interleaved: the characters of a thread lie as far apart as the grid has threads.
// Mirrors PMPP-notes 9.5. Changed from 04: in each round the lanes of a warp read 32 neighbouring
// bytes, which are one sector instead of 16.
#include "histogram.cuh"

constexpr int block = 1024;     // threads
constexpr int coarsening = 16;  // characters per thread

__global__ void coarsened_interleaved(const char* text, std::size_t length, unsigned* histo) {
    // kata: begin
    __shared__ unsigned histo_s[bins];
    for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x) histo_s[bin] = 0;
    __syncthreads();  // zeroed

    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;  // in the whole grid
    // Together the threads read `threads` neighbours a round. A grid of any size would count the text.
    for (std::size_t i = first; i < length; i += threads) {
        const int letter = text[i] - 'a';
        if (letter >= 0 && letter < letters) atomicAdd(&histo_s[letter / letters_per_bin], 1);
    }
    __syncthreads();  // counted

    for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x) {
        const unsigned count = histo_s[bin];
        if (count > 0) atomicAdd(&histo[bin], count);
    }
    // kata: end
}

void count_letters(const char* text, std::size_t length, unsigned* histo, unsigned* workspace) {
    // kata: begin
    check(cudaMemset(histo, 0, bins * sizeof(unsigned)));
    if (length == 0) return;
    // The grid decides how many rounds the loop has: 16 here.
    const auto blocks = static_cast<unsigned>(ceil_div(length, block * coarsening));
    coarsened_interleaved<<<blocks, block>>>(text, length, histo);
    check(cudaGetLastError());
    // kata: end
}

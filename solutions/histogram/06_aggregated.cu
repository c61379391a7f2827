// 06 Aggregated: as long as a thread meets the same bin, it counts in a register, and one atomic adds
// what it has counted. Mirrors PMPP-notes 9.6.
// Changed from 05: an atomic only where the bin changes, and one at the end. A thread's successive
// characters lie as far apart in the text as the grid has threads, so a thread sees only runs that
// are longer than that.
#include "histogram.cuh"

constexpr int block = 1024;     // threads
constexpr int coarsening = 16;  // characters per thread

__global__ void aggregated(const char* text, std::size_t length, unsigned* histo) {
    // kata: begin
    __shared__ unsigned histo_s[bins];
    for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x) histo_s[bin] = 0;
    __syncthreads();  // zeroed

    unsigned accumulator = 0;  // letters of previous_bin that no atomic has added yet
    int previous_bin = -1;     // none: the first letter begins a run
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = first; i < length; i += threads) {
        const int letter = text[i] - 'a';
        if (letter < 0 || letter >= letters) continue;  // counts nowhere, and ends no run
        const int bin = letter / letters_per_bin;
        if (bin == previous_bin) {
            ++accumulator;
        } else {
            // Before the first letter there is nothing to add, and no bin to add it to.
            if (accumulator > 0) atomicAdd(&histo_s[previous_bin], accumulator);
            accumulator = 1;  // this letter
            previous_bin = bin;
        }
    }
    // The last run: no other bin has ended it.
    if (accumulator > 0) atomicAdd(&histo_s[previous_bin], accumulator);
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
    const auto blocks = static_cast<unsigned>(ceil_div(length, block * coarsening));
    aggregated<<<blocks, block>>>(text, length, histo);
    check(cudaGetLastError());
    // kata: end
}

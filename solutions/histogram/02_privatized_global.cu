// 02 Privatized, global: each block counts in a copy of its own, still in global memory, and adds the
// copy to the histogram at the end. Mirrors PMPP-notes 9.4. Changed from 01: a letter only meets the
// letters of its own block, and on the histogram itself there are at most blocks · bins atomics.
#include "histogram.cuh"

constexpr int block = histogram::copy_characters;  // threads

__global__ void privatized_global(const char* text, std::size_t length, unsigned* histo, unsigned* copies) {
    // kata: begin
    unsigned* const copy = copies + std::size_t{blockIdx.x} * bins;  // this block's copy
    // A thread for each bin; if there were more bins than threads, some would take several.
    for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x) copy[bin] = 0;
    __syncthreads();  // no thread counts in what is not zeroed yet

    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < length) {  // no return: the threads beyond the end must come to the barrier, too
        const int letter = text[i] - 'a';
        if (letter >= 0 && letter < letters) atomicAdd(&copy[letter / letters_per_bin], 1);
    }
    __syncthreads();  // all letters of the block are counted

    for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x) {
        const unsigned count = copy[bin];
        // Atomically, because other blocks add theirs; adding 0 would only cost time.
        if (count > 0) atomicAdd(&histo[bin], count);
    }
    // kata: end
}

void count_letters(const char* text, std::size_t length, unsigned* histo, unsigned* workspace) {
    // kata: begin
    check(cudaMemset(histo, 0, bins * sizeof(unsigned)));
    if (length == 0) return;
    const auto blocks = static_cast<unsigned>(ceil_div(length, block));
    privatized_global<<<blocks, block>>>(text, length, histo, workspace);
    check(cudaGetLastError());
    // kata: end
}

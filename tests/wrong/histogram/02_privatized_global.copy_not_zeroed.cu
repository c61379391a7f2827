// The listing of PMPP-notes 9.4 zeroes no copy, and the workspace holds anything.
//
// Rejected: read of what nobody has written
// On a GPU: of 7 elements differ
#include "histogram.cuh"

constexpr int block = histogram::copy_characters;  // threads

__global__ void privatized_global(const char* text, std::size_t length, unsigned* histo, unsigned* copies) {
    // kata: begin
    const unsigned tx = threadIdx.x;
    unsigned* copy = copies + std::size_t{blockIdx.x} * bins;
    __syncthreads();

    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tx;
    if (i < length) {
        const int letter = text[i] - 'a';
        if (letter >= 0 && letter < letters) atomicAdd(&copy[letter / letters_per_bin], 1);
    }
    __syncthreads();

    if (tx < bins && copy[tx] > 0) atomicAdd(&histo[tx], copy[tx]);
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

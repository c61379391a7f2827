// Grid and block are exchanged: right as long as there are no more blocks than a block may have threads.
//
// Rejected: launch refused
#include "histogram.cuh"

constexpr int block = 1024;  // threads

__global__ void global_atomics(const char* text, std::size_t length, unsigned* histo) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= length) return;
    // A char may be signed or not; as an int, what is no letter lies outside of 0 … 25 either way.
    const int letter = text[i] - 'a';
    if (letter >= 0 && letter < letters) atomicAdd(&histo[letter / letters_per_bin], 1);
}

void count_letters(const char* text, std::size_t length, unsigned* histo, unsigned* workspace) {
    check(cudaMemset(histo, 0, bins * sizeof(unsigned)));
    if (length == 0) return;
    const auto blocks = static_cast<unsigned>(ceil_div(length, block));
    global_atomics<<<block, blocks>>>(text, length, histo);
    check(cudaGetLastError());
}

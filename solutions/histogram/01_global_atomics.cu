// 01 Global atomics: a thread for each character, which adds 1 to a bin in global memory.
// Mirrors PMPP-notes 9.2.
// Where a thread writes depends on the data, so threads meet, and only an atomic addition loses no
// count. All threads of the grid meet on 7 bins: one global atomic for each letter of the text, and
// those on one bin go one after the other.
#include "histogram.cuh"

constexpr int block = 1024;  // threads

__global__ void global_atomics(const char* text, std::size_t length, unsigned* histo) {
    // kata: begin
    // In 64 bits, because a text may have 2³² characters and more: blockIdx.x · blockDim.x alone has 32.
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= length) return;  // the last block hangs over the end of the text
    // A char may be signed or not; as an int, what is not a letter lies outside of 0 … 25 either way.
    const int letter = text[i] - 'a';
    // Reads, adds and writes with no other thread in between.
    if (letter >= 0 && letter < letters) atomicAdd(&histo[letter / letters_per_bin], 1);
    // kata: end
}

void count_letters(const char* text, std::size_t length, unsigned* histo, unsigned* workspace) {
    // kata: begin
    // Not in the kernel: some blocks would still zero what others have counted.
    check(cudaMemset(histo, 0, bins * sizeof(unsigned)));
    if (length == 0) return;  // a grid without blocks is an error in CUDA
    const auto blocks = static_cast<unsigned>(ceil_div(length, block));
    global_atomics<<<blocks, block>>>(text, length, histo);
    check(cudaGetLastError());  // a launch returns nothing: this asks whether it was refused
    // kata: end
}

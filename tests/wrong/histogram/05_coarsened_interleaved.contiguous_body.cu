// The body of 04 handed in as 05: the right answer, with 16 sectors a load.
//
// Rejected: right, but without the point of the step
// On a GPU: nothing
#include "histogram.cuh"

constexpr int block = 1024;     // threads
constexpr int coarsening = 16;  // characters per thread

__global__ void coarsened_contiguous(const char* text, std::size_t length, unsigned* histo) {
    // kata: begin
    __shared__ unsigned histo_s[bins];
    const unsigned tx = threadIdx.x;
    if (tx < bins) histo_s[tx] = 0;
    __syncthreads();

    const std::size_t first = (std::size_t{blockIdx.x} * blockDim.x + tx) * coarsening;
    const std::size_t end = min(first + coarsening, length);
    for (std::size_t i = first; i < end; ++i) {
        const int letter = text[i] - 'a';
        if (letter >= 0 && letter < letters) atomicAdd(&histo_s[letter / letters_per_bin], 1);
    }
    __syncthreads();

    if (tx < bins && histo_s[tx] > 0) atomicAdd(&histo[tx], histo_s[tx]);
    // kata: end
}

void count_letters(const char* text, std::size_t length, unsigned* histo, unsigned* workspace) {
    // kata: begin
    check(cudaMemset(histo, 0, bins * sizeof(unsigned)));
    if (length == 0) return;
    const auto blocks = static_cast<unsigned>(ceil_div(length, block * coarsening));
    coarsened_contiguous<<<blocks, block>>>(text, length, histo);
    check(cudaGetLastError());
    // kata: end
}

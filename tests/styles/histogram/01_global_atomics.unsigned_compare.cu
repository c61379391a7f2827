// One unsigned comparison instead of two, blocks of 512, an early return: usual in text processing.
#include "histogram.cuh"

__device__ __forceinline__ unsigned alphabet_position(char c) { return static_cast<unsigned char>(c) - unsigned('a'); }

__global__ void __launch_bounds__(512) count(const char* __restrict__ text, const size_t n, unsigned* const bin) {
    const size_t tid = size_t(blockIdx.x) * 512 + threadIdx.x;
    if (tid >= n) return;
    const unsigned p = alphabet_position(text[tid]);
    if (p < 26u) atomicAdd(&bin[p >> 2], 1u);
}

void count_letters(const char* text, std::size_t length, unsigned* histo, unsigned*) {
    check(cudaMemsetAsync(histo, 0, bins * sizeof(unsigned)));
    if (length == 0) return;
    count<<<static_cast<unsigned>((length + 511) / 512), 512>>>(text, length, histo);
    check(cudaGetLastError());
}

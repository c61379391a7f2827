// One row for each bin, and one more for characters that are no letters, so that the copies of a lane are
// small: more blocks of 256 threads fit on a multiprocessor. Usual where there are few bins and shared memory
// is short.
#include "histogram.cuh"

constexpr int THREADS = 256;
constexpr int VECTORS = 4;

__global__ void histogram_lanes(const char* text, size_t length, unsigned* histo) {
    __shared__ unsigned s_hist[(bins + 1) * 32];
    for (int i = threadIdx.x; i < (bins + 1) * 32; i += THREADS) s_hist[i] = 0;
    __syncthreads();

    unsigned* const mine = s_hist + (threadIdx.x & 31);
    const uint4* vectors = (const uint4*)text;
    const size_t n = length / 16;
    for (size_t base = (size_t)blockIdx.x * THREADS * VECTORS + threadIdx.x; base < n;
         base += (size_t)gridDim.x * THREADS * VECTORS) {
        for (int j = 0; j < VECTORS && base + j * THREADS < n; j++) {
            const uint4 v = vectors[base + j * THREADS];
            const unsigned w[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
            for (int k = 0; k < 16; k++) {
                const unsigned position = ((w[k / 4] >> (k % 4 * 8)) & 0xffu) - 'a';
                const unsigned bin = min(position / letters_per_bin, (unsigned)bins);
                atomicAdd(mine + 32 * (position < letters ? bin : bins), 1u);
            }
        }
    }
    if (blockIdx.x == 0)
        for (size_t i = n * 16 + threadIdx.x; i < length; i += THREADS) {
            const int position = text[i] - 'a';
            if (position >= 0 && position < letters) atomicAdd(mine + 32 * (position / letters_per_bin), 1u);
        }
    __syncthreads();

    const int bin = threadIdx.x / 32;
    if (bin < bins) {
        unsigned sum = s_hist[threadIdx.x];
        for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, offset);
        if (threadIdx.x % 32 == 0) atomicAdd(&histo[bin], sum);
    }
}

void count_letters(const char* text, std::size_t length, unsigned* histo, unsigned* workspace) {
    check(cudaMemset(histo, 0, bins * sizeof(unsigned)));
    if (length == 0) return;
    const size_t per_block = THREADS * VECTORS * 16;
    histogram_lanes<<<(unsigned)min(length / per_block + 1, (size_t)1056), THREADS>>>(text, length, histo);
    check(cudaGetLastError());
}

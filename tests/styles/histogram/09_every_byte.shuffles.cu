// The merge of step 08: one row for each warp, one column for each lane, and shuffles add up the lanes. A
// thread has four loads a round.
#include "bytes.cuh"

constexpr int THREADS = 512;
constexpr int VECTORS = 4;

__global__ void histogram_lanes(const char* text, size_t length, unsigned* histo) {
    __shared__ unsigned s_hist[values * 32];
    for (int i = threadIdx.x; i < values * 32; i += THREADS) s_hist[i] = 0;
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
            for (int k = 0; k < 16; k++) atomicAdd(mine + 32 * ((w[k / 4] >> (k % 4 * 8)) & 0xffu), 1u);
        }
    }
    if (blockIdx.x == 0)
        for (size_t i = n * 16 + threadIdx.x; i < length; i += THREADS)
            atomicAdd(mine + 32 * (unsigned char)text[i], 1u);
    __syncthreads();

    for (int row = threadIdx.x / 32; row < values; row += THREADS / 32) {
        unsigned sum = mine[32 * row];
        for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, offset);
        if (threadIdx.x % 32 == 0 && sum != 0) atomicAdd(&histo[row], sum);
    }
}

void count_bytes(const char* text, std::size_t length, unsigned* histo) {
    check(cudaMemset(histo, 0, values * sizeof(unsigned)));
    if (length == 0) return;
    const size_t per_block = THREADS * VECTORS * 16;
    histogram_lanes<<<(unsigned)min(length / per_block + 1, (size_t)528), THREADS>>>(text, length, histo);
    check(cudaGetLastError());
}

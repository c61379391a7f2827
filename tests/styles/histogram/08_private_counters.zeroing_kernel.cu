// A small kernel zeroes the bins instead of cudaMemset, as a library that runs in streams and graphs does.
#include "histogram.cuh"

constexpr int block = 512;  // threads
constexpr int loads = 4;    // per thread at a time
constexpr int tile = loads * block;
constexpr unsigned max_blocks = 4 * 132;  // four on each multiprocessor of an H100
constexpr int lanes = 32;                 // per warp
constexpr int characters = 256;           // values of a byte

__global__ void clear(unsigned* histo) { histo[threadIdx.x] = 0; }

__global__ void private_counters(const char* text, std::size_t length, unsigned* histo) {
    // The lane is the index that changes fastest: neighbouring lanes, neighbouring banks.
    __shared__ unsigned counters[characters][lanes];
    const unsigned tx = threadIdx.x, lane = tx % lanes, warp = tx / lanes;
    for (unsigned c = warp; c < characters; c += block / lanes) counters[c][lane] = 0;
    __syncthreads();  // zeroed

    // The same lane of the other warps has the same column, so an atomic is still necessary. It meets no
    // other atomic of its warp.
    const auto count = [&](unsigned character) { atomicAdd(&counters[character][lane], 1); };
    const auto* const text16 = reinterpret_cast<const uint4*>(text);
    const std::size_t whole = length / 16;
    for (std::size_t first = std::size_t{blockIdx.x} * tile; first < whole;
         first += std::size_t{gridDim.x} * tile) {
        uint4 sixteen[loads];
#pragma unroll
        for (int k = 0; k < loads; ++k) {
            const std::size_t i = first + k * block + tx;
            sixteen[k] = i < whole ? text16[i] : uint4{};  // zeros are counted in a row that is no letter's
        }
#pragma unroll
        for (int k = 0; k < loads; ++k) {
            const unsigned words[] = {sixteen[k].x, sixteen[k].y, sixteen[k].z, sixteen[k].w};
#pragma unroll
            for (unsigned word : words)
#pragma unroll
                for (int byte = 0; byte < 4; ++byte) count(word >> 8 * byte & 255);
        }
    }
    if (blockIdx.x == 0 && tx < length % 16) count(static_cast<unsigned char>(text[16 * whole + tx]));
    __syncthreads();  // counted

    // A warp adds up a bin: each lane its own counters of the bin's letters, then all lanes together.
    for (int bin = warp; bin < bins; bin += block / lanes) {
        unsigned sum = 0;
        const int end = min((bin + 1) * letters_per_bin, letters);  // the last bin has two letters
        for (int letter = bin * letters_per_bin; letter < end; ++letter) sum += counters['a' + letter][lane];
        for (int stride = lanes / 2; stride > 0; stride /= 2) sum += __shfl_down_sync(~0u, sum, stride);
        if (lane == 0 && sum > 0) atomicAdd(&histo[bin], sum);
    }
}

void count_letters(const char* text, std::size_t length, unsigned* histo, unsigned* workspace) {
    clear<<<1, bins>>>(histo);
    check(cudaGetLastError());
    if (length == 0) return;
    const std::size_t tiles = max(ceil_div(length / 16, tile), std::size_t{1});
    const auto blocks = static_cast<unsigned>(min(tiles, std::size_t{max_blocks}));
    private_counters<<<blocks, block>>>(text, length, histo);
    check(cudaGetLastError());
}

// 09 Every byte: 256 bins, one for each value of a byte. Beyond the documents; NVIDIA's sample histogram256
// has a copy for each warp. Changed from 08: the rows of counters are the bins, so all that a lane counts is
// needed. There is no row for zeros that stand for no character, and 256 rows are to be added up instead of
// those of 26 letters: a thread takes a row, each from a column of its own on, so that neither shuffles nor
// banks cost anything, and the lanes of a warp merge 32 neighbouring bins.
#include "bytes.cuh"

constexpr int block = 512;  // threads
constexpr int loads = 4;    // per thread at a time
constexpr int tile = loads * block;
constexpr unsigned max_blocks = 4 * 132;  // four on each multiprocessor of an H100
constexpr int lanes = 32;                 // per warp

__global__ void every_byte(const char* text, std::size_t length, unsigned* histo) {
    // kata: begin
    __shared__ unsigned counters[values][lanes];
    const unsigned tx = threadIdx.x, lane = tx % lanes;
    for (unsigned v = tx / lanes; v < values; v += block / lanes) counters[v][lane] = 0;
    __syncthreads();  // zeroed

    // A lane has a column, which is a bank. The same lane of the other warps has it, too: hence an atomic.
    const auto count = [&](unsigned value) { atomicAdd(&counters[value][lane], 1); };
    const auto* const text16 = reinterpret_cast<const uint4*>(text);
    const std::size_t whole = length / 16;
    for (std::size_t first = std::size_t{blockIdx.x} * tile + tx; first < whole;
         first += std::size_t{gridDim.x} * tile) {
        uint4 sixteen[loads];
#pragma unroll
        for (int k = 0; k < loads; ++k) {
            const std::size_t i = first + k * block;
            sixteen[k] = i < whole ? text16[i] : uint4{};
        }
#pragma unroll
        for (int k = 0; k < loads; ++k) {
            if (first + k * block >= whole) break;  // these zeros are no characters, and 0 has a bin
            const unsigned words[] = {sixteen[k].x, sixteen[k].y, sixteen[k].z, sixteen[k].w};
#pragma unroll
            for (unsigned word : words)
#pragma unroll
                for (int byte = 0; byte < 4; ++byte) count(word >> 8 * byte & 255);
        }
    }
    if (blockIdx.x == 0 && tx < length % 16) count(static_cast<unsigned char>(text[16 * whole + tx]));
    __syncthreads();  // counted

    // Rows are 32 words apart, all in the same banks: from its own column on, each lane reads another bank.
    for (unsigned v = tx; v < values; v += block) {
        unsigned sum = 0;
#pragma unroll 8  // not all 32: they would take 48 registers, and of four blocks two would fit
        for (unsigned k = 0; k < lanes; ++k) sum += counters[v][(lane + k) % lanes];
        if (sum > 0) atomicAdd(&histo[v], sum);
    }
    // kata: end
}

void count_bytes(const char* text, std::size_t length, unsigned* histo) {
    // kata: begin
    check(cudaMemset(histo, 0, values * sizeof(unsigned)));
    if (length == 0) return;
    const std::size_t tiles = max(ceil_div(length / 16, tile), std::size_t{1});
    const auto blocks = static_cast<unsigned>(min(tiles, std::size_t{max_blocks}));
    every_byte<<<blocks, block>>>(text, length, histo);
    check(cudaGetLastError());
    // kata: end
}

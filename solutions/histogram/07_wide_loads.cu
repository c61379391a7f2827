// 07 Wide loads: 16 characters per load, and four such loads of a thread in flight at once. Beyond the
// documents; in CUB it is ConsumeTile of AgentHistogram, for quads of pixels. Changed from 04 and 05: what a
// lane loads lies side by side, as in 04, and so does what the lanes of a warp load, as in 05. A sixteenth
// of the load instructions, and one test for the end of the text instead of 16. Blocks have 512 threads.
#include "histogram.cuh"

constexpr int block = 512;           // threads
constexpr int loads = 4;             // per thread
constexpr int tile = loads * block;  // loads of a block, of 16 characters each

/// Adds a character to the bins, if it is a letter.
__device__ void count(unsigned character, unsigned* histo_s) {
    // kata: begin
    // Unsigned, what comes before 'a' wraps around to something large: one comparison is for both ends.
    const unsigned letter = character - 'a';
    if (letter < letters) atomicAdd(&histo_s[letter / letters_per_bin], 1);
    // kata: end
}

__global__ void wide_loads(const char* text, std::size_t length, unsigned* histo) {
    // kata: begin
    __shared__ unsigned histo_s[bins];
    const unsigned tx = threadIdx.x;
    if (tx < bins) histo_s[tx] = 0;
    __syncthreads();  // zeroed

    // cudaMalloc aligns its memory to 256 bytes, so each uint4 is aligned to 16.
    const auto* const text16 = reinterpret_cast<const uint4*>(text);
    const std::size_t whole = length / 16;  // loads that are full
    const std::size_t first = std::size_t{blockIdx.x} * tile + tx;
    uint4 sixteen[loads];  // in registers, as both loops are unrolled
#pragma unroll
    for (int k = 0; k < loads; ++k) {  // all are issued …
        const std::size_t i = first + k * block;
        sixteen[k] = i < whole ? text16[i] : uint4{};  // zeros are no letters
    }
#pragma unroll
    for (int k = 0; k < loads; ++k) {  // … before the first is needed
        const unsigned words[] = {sixteen[k].x, sixteen[k].y, sixteen[k].z, sixteen[k].w};
        for (unsigned word : words)
            for (int byte = 0; byte < 4; ++byte) count(word >> 8 * byte & 255, histo_s);
    }
    // The characters at the end that fill no load. One block takes them, or each would.
    if (blockIdx.x == 0 && tx < length % 16)
        count(static_cast<unsigned char>(text[16 * whole + tx]), histo_s);  // a char may be negative
    __syncthreads();                                                        // counted

    if (tx < bins && histo_s[tx] > 0) atomicAdd(&histo[tx], histo_s[tx]);
    // kata: end
}

void count_letters(const char* text, std::size_t length, unsigned* histo, unsigned* workspace) {
    // kata: begin
    check(cudaMemset(histo, 0, bins * sizeof(unsigned)));
    if (length == 0) return;
    // At least one block: a few characters fill no load.
    const auto blocks = static_cast<unsigned>(max(ceil_div(length / 16, tile), std::size_t{1}));
    wide_loads<<<blocks, block>>>(text, length, histo);
    check(cudaGetLastError());
    // kata: end
}

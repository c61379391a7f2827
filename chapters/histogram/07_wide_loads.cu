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
    // As before, an atomic for a letter, and nothing for other characters. But the character is unsigned, so
    // one comparison is enough for both ends of the alphabet.
    kata::open();
    // kata: end
}

__global__ void wide_loads(const char* text, std::size_t length, unsigned* histo) {
    // kata: begin
    // Zero and merge as in 03. In between, a thread loads 16 characters as uint4, `loads` times, each
    // `block` uint4 after the one before. All go into an array of registers first; only then are their
    // bytes counted. Both loops are unrolled. Past the end of the text a load is left out. Up to 15
    // characters at the end fill no load: they are counted once, by the first threads of one block.
    kata::open();
    // kata: end
}

void count_letters(const char* text, std::size_t length, unsigned* histo, unsigned* workspace) {
    // kata: begin
    // As in 04, with a block for `tile` loads. There is at least one block, also for a few characters.
    // Also required: any length from 0 on, also more than 32 bits can count.
    kata::open();
    // kata: end
}

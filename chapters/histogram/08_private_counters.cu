// 08 Private counters: each lane of a warp has counters of its own, and it counts characters, not letters.
// Beyond the documents; NVIDIA's sample histogram64 has counters for each thread. Changed from 07: a
// column of counters for each lane, and a row for each of the 256 characters. A column lies in one bank, so
// the lanes of a warp never meet at an address or in a bank, whatever the text is; and nothing is tested or
// divided while counting: letters and bins are looked at in the end. 32 KiB are zeroed and added up once a
// block, so there are no more blocks than an H100 runs at a time, and they go on in a loop.
#include "histogram.cuh"

constexpr int block = 512;  // threads
constexpr int loads = 4;    // per thread at a time
constexpr int tile = loads * block;
constexpr unsigned max_blocks = 4 * 132;  // four on each multiprocessor of an H100
constexpr int lanes = 32;                 // per warp
constexpr int characters = 256;           // values of a byte

__global__ void private_counters(const char* text, std::size_t length, unsigned* histo) {
    // kata: begin
    // Shared memory holds a counter for each of the 256 characters and each lane of a warp, the lane being
    // the index that changes fastest. The block zeroes them, and goes through the text in a loop: `tile`
    // loads at a time, the whole grid apart, loaded as in 07. Each byte is counted where the thread's lane
    // has its counter, by an atomic, for other warps have the same lanes. Then each bin is added up by a
    // warp, its letters first and the lanes by __shfl_down_sync, and merged into the histogram. The last bin
    // has fewer letters than the others.
    kata::open();
    // kata: end
}

void count_letters(const char* text, std::size_t length, unsigned* histo, unsigned* workspace) {
    // kata: begin
    // As in 07, with no more than max_blocks blocks.
    // Also required: any length from 0 on, also more than 32 bits can count; counters of 32 bits.
    kata::open();
    // kata: end
}

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
    // Counters as in 08: a row for each of the 256 values of a byte, a column for each lane of a warp. The
    // block zeroes them and goes through the text in a loop, loaded as in 08. Now the rows are the bins, that
    // of 0, too: zeros past the end of the text must not be counted. In the end a thread adds up a row, 32
    // columns, and merges the sum. Lanes of a warp have neighbouring rows, which lie 32 words apart: let each
    // begin at another column, so that they read 32 banks.
    kata::open();
    // kata: end
}

void count_bytes(const char* text, std::size_t length, unsigned* histo) {
    // kata: begin
    // As in 08, with `values` bins.
    // Also required: any length from 0 on, also more than 32 bits can count; counters of 32 bits.
    kata::open();
    // kata: end
}

// 05 Coarsened, interleaved: the characters of a thread lie as far apart as the grid has threads.
// Mirrors PMPP-notes 9.5. Changed from 04: in each round the lanes of a warp read 32 neighbouring
// bytes, which are one sector instead of 16.
#include "histogram.cuh"

constexpr int block = 1024;     // threads
constexpr int coarsening = 16;  // characters per thread

__global__ void coarsened_interleaved(const char* text, std::size_t length, unsigned* histo) {
    // kata: begin
    // As in 04, but thread t of the grid counts the characters t, t + n, t + 2n, …, where n is the number of
    // threads of the grid: in each round a warp reads neighbouring characters.
    kata::open();
    // kata: end
}

void count_letters(const char* text, std::size_t length, unsigned* histo, unsigned* workspace) {
    // kata: begin
    // As in 04: zero the histogram, then a block for each block * coarsening characters.
    // Also required: any length from 0 on, also more than 32 bits can count.
    kata::open();
    // kata: end
}

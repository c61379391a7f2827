// 06 Aggregated: as long as a thread meets the same bin, it counts in a register, and one atomic adds
// what it has counted. Mirrors PMPP-notes 9.6.
// Changed from 05: an atomic only where the bin changes, and one at the end. A thread's successive
// characters lie as far apart in the text as the grid has threads, so a thread sees only runs that
// are longer than that.
#include "histogram.cuh"

constexpr int block = 1024;     // threads
constexpr int coarsening = 16;  // characters per thread

__global__ void aggregated(const char* text, std::size_t length, unsigned* histo) {
    // kata: begin
    // The loop of 05, and an atomic for a run of equal bins: remember the bin of the last letter and how
    // often it has come so far, and add that to the block's copy where another bin begins. Characters that
    // are no letters do not end a run. And what ends the last run?
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

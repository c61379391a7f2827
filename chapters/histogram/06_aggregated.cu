// 06 Aggregated: a run of equal bins is added with one atomic.
// Mirrors PMPP-notes 9.6. Its listing strides over the grid like 05, so that what a thread sees in a row lies
// far apart in the text, and a run of the text is no run of any thread; here a thread has a stretch of text,
// as in 04. Changed against 04: a counter in a register instead of an atomic a letter; an atomic only where
// the bin changes, and one at the end of the stretch.
#include "histogram.cuh"

constexpr int block = 1024;     // threads
constexpr int coarsening = 16;  // characters per thread

__global__ void aggregated(const char* text, std::size_t length, unsigned* histo) {
    // kata: begin
    // A stretch of characters for each thread as in 04, and an atomic for a run of equal bins: remember the
    // bin of the run and its length so far, and add them to the block's copy where another bin begins.
    // Characters that are no letters do not end a run. And what ends the last run?
    kata::open();
    // kata: end
}

void count_letters(const char* text, std::size_t length, unsigned* histo, unsigned* workspace) {
    // kata: begin
    // As in 04.
    kata::open();
    // kata: end
}

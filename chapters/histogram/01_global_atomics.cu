// 01 Global atomics: a thread for each character, which adds 1 to a bin in global memory.
// Mirrors PMPP-notes 9.2.
// Where a thread writes depends on the data, so threads meet, and only an atomic addition loses no
// count. All threads of the grid meet on 7 bins: one global atomic for each letter of the text, and
// those on one bin go one after the other.
#include "histogram.cuh"

constexpr int block = 1024;  // threads

__global__ void global_atomics(const char* text, std::size_t length, unsigned* histo) {
    // kata: begin
    // A thread for each character; the last block hangs over the end of the text. Which letter is it, 0 to
    // 25? Other characters are not counted, and a char may be negative. Four letters share a bin. Other
    // threads add to the same bin at the same time, which is what atomicAdd is for.
    kata::open();
    // kata: end
}

void count_letters(const char* text, std::size_t length, unsigned* histo, unsigned* workspace) {
    // kata: begin
    // The histogram may hold anything: zero it with cudaMemset. Then launch as many blocks as cover the
    // text; an empty text needs none, and a grid without blocks is an error.
    // Also required: any length from 0 on, also more than 32 bits can count.
    kata::open();
    // kata: end
}

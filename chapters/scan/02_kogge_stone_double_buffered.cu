// 02 Kogge–Stone, double-buffered: a round reads one buffer and writes the other, and then the two swap
// roles. Mirrors PMPP-scan 11.2. Changed from 01: no thread overwrites what another still reads, so one
// barrier per round is enough where there were two. The price is twice the shared memory.
#include "sections.cuh"

template <class T, class Op>
__global__ void double_buffered(const T* in, T* out, int n, Kind kind, Op op) {
    // kata: begin
    // Load as in 01, element i for an inclusive scan and i - 1 for an exclusive one. Two arrays in shared
    // memory: a round reads one and writes every element of the other, even those that have nothing to their
    // left. Then they swap roles. There is one barrier per round; and which of the arrays is stored?
    kata::open();
    // kata: end
}

template <class T, class Op>
void scan_sections(const T* in, T* out, int n, int section, Kind kind, Op op) {
    // kata: begin
    // As in 01: a block for each section, a thread for each element, and check the launch. For no elements
    // launch nothing.
    // Also required: any n from 0 on; sections of 32 to 1024; types of 4 and 8 bytes; op need not commute.
    kata::open();
    // kata: end
}

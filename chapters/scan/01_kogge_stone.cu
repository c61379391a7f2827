// 01 Kogge–Stone: a block scans one section in shared memory, with a thread for each element. In each
// round every element adds the one `stride` places to its left, and then the stride doubles.
// Mirrors PMPP-scan 11.2. log₂N rounds instead of N − 1 steps, for N·log₂N − (N − 1) additions instead
// of N − 1.
#include "sections.cuh"

template <class T, class Op>
__global__ void kogge_stone(const T* in, T* out, int n, Kind kind, Op op) {
    // kata: begin
    // Thread t of a block has element t of the block's section. Load it into shared memory, an array of
    // scan::max_section elements. Kind::inclusive: element i of the input. Kind::exclusive: element i - 1,
    // and op.identity() at the head of each section. Where the input has no element, op.identity(), too.
    // In the rounds with stride 1, 2, 4, … below blockDim.x, each thread that has an element `stride` places
    // to its left applies op(left, own). A round reads elements that the same round writes: where do the
    // barriers belong? All threads of the block must come to each of them.
    // Store where the output has an element.
    kata::open();
    // kata: end
}

template <class T, class Op>
void scan_sections(const T* in, T* out, int n, int section, Kind kind, Op op) {
    // kata: begin
    // A block for each section, a thread for each element: kogge_stone<<<blocks, threads>>>(in, out, n, kind,
    // op), and check(cudaGetLastError()) after it. The last section may be a part of one, and a grid without
    // blocks is an error.
    // Also required: any n from 0 on; sections of 32 to 1024; types of 4 and 8 bytes; op need not commute.
    kata::open();
    // kata: end
}

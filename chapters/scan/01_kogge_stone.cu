// 01 Kogge–Stone: a block scans a section in place, in shared memory; in each round every element takes in
// what stands `stride` elements to its left, and the stride doubles. Mirrors PMPP-scan 11.2; its listing sums
// int data in float, which is wrong above 2²⁴, and its exclusive variant loads X[i] where X[i − 1] is meant.
// log₂N rounds instead of N − 1 steps, at N·log₂N − (N − 1) additions instead of N − 1.
#include "sections.cuh"

// A thread per element of the section.
template <class T, class Op>
__global__ void kogge_stone(const T* in, T* out, int n, Kind kind, Op op) {
    // kata: begin
    // A thread has element threadIdx.x of the section of its block. Load it into shared memory: inclusive,
    // element i; exclusive, element i - 1, and the identity at the head of each section. What lies over the
    // end of the input is the identity, too.
    // In rounds with stride 1, 2, 4, … below blockDim.x every thread that has an element `stride` places to
    // its left applies op(left, own). A round reads elements that the same round writes: where do the
    // barriers belong? All threads come to each of them.
    // Store where the output has an element.
    kata::open();
    // kata: end
}

template <class T, class Op>
void scan_sections(const T* in, T* out, int n, int section, Kind kind, Op op) {
    // kata: begin
    // A block a section, a thread an element: launch(kogge_stone<T, Op>, {blocks, threads}, in, out, n, kind,
    // op). The last section may be a part of one.
    kata::open();
    // kata: end
}

// 05 Hierarchical: three kernels. The first scans sections and keeps the sum of each, the second scans
// the sums, and the third adds to each section the sum of all before it. Mirrors PMPP-scan 11.6.
// Changed from 04: an array of any length is one scan. The first kernel is step 04, with its
// sections, and keeps the sums. The second is the first again, with one block. One block is enough for
// 1024 sums, so for 1024² elements; more sums than that are scanned as any long array is, by all three
// kernels. The price: the output is written, read and written again.
#include "whole.cuh"

constexpr int threads = 256;
constexpr int coarse_factor = 4;
constexpr int section = threads * coarse_factor;

/// Scans the section in x, which is padded, with all threads of the block: phases 1 to 3 of step 04.
/// Begins and ends with a barrier.
template <class T, class Op>
__device__ void scan_in_place(T* x, Op op) {
    // kata: begin
    // As in step 04: phases 1 to 3 over x, in which element e lies at x[padded(e)], with an array of the last
    // elements in shared memory. A barrier at the beginning, because other threads have loaded x, and one at
    // the end, because other threads will store it.
    kata::open();
    // kata: end
}

// `in` may be `out`, if the scan is inclusive.
template <class T, class Op>
__global__ void scan_each_section(const T* in, T* out, int n, Kind kind, T* sums, Op op) {
    // kata: begin
    // Load a section into shared memory, element e to x[padded(e)], scan it with scan_in_place() and store
    // it. Its last element, the sum of the section, goes to sums[blockIdx.x]. An exclusive scan is the
    // inclusive one of the input shifted by one. Here only element 0 of the whole is new; the other sections
    // begin with the last element of the one before.
    kata::open();
    // kata: end
}

template <class T, class Op>
__global__ void add_sums(T* out, int n, const T* sums, Op op) {
    // kata: begin
    // sums holds, for each section, the sum of all that lies up to its end. Each block adds what lies before
    // its section, from the left. Nothing lies before section 0, so block 0 may begin with section 1.
    kata::open();
    // kata: end
}

template <class T, class Op>
void scan_whole(const T* in, T* out, int n, Kind kind, T* workspace, Op op) {
    // kata: begin
    // Scan each section. If there is more than one, scan their sums, inclusively, and add them. One block can
    // scan as many sums as a section has elements; how can more of them be scanned? The workspace has
    // scan::workspace_bytes(n) bytes, 16 for every 256 elements and more; what lies behind the sums is free.
    // Also required: any n from 0 on; types of 4 and 8 bytes; op need not commute.
    kata::open();
    // kata: end
}

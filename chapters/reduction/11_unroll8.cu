// 11 Unroll 8: eight blocks of elements, fetched together. Mirrors REDUCE-vi 7; its listing drops the
// elements at the end that do not fill eight blocks. Changed against 10: half as many blocks again, and
// eight loads under way.
#include "rounds.cuh"

constexpr int block = 512;          // threads
constexpr int segment = 8 * block;  // elements of a block

template <class T, class Op>
__global__ void unroll8(T* in, T* out, int n, Op op) {
    // kata: begin
    // As 10, with eight elements a thread.
    kata::open();
    // kata: end
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    // kata: begin
    // As in 01, with unroll8: while the elements take more than one block, launch a block of threads for each
    // `segment` elements. Each leaves its partial result in partials; go on with these, and never lay new
    // ones over those that are being read. The last block writes to out.
    kata::open();
    // kata: end
}

// 07 Neighbored, less divergence: the same pairs, taken by the first threads of the block. Mirrors REDUCE-vi
// 3. Changed from 06: the thread's number chooses the pair and not the element, so that whole warps are
// without work instead of most lanes of every warp, and no thread divides.
#include "rounds.cuh"

constexpr int block_dim = 512;      // threads of a block
constexpr int segment = block_dim;  // elements that a block reduces

template <class T, class Op>
__global__ void neighbored_less(T* in, T* out, int n, Op op) {
    // kata: begin
    // The rounds of 06, but thread t takes pair t of the round, if the segment has that pair: its first
    // element is 2 * stride * t.
    kata::open();
    // kata: end
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    // kata: begin
    // As in 01: a block of block_dim threads for each `segment` elements, and check the launch.
    // Also required: any n from 1 on; int, float and double; sums and maxima.
    kata::open();
    // kata: end
}

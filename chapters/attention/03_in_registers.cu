// 03 In registers: a row is loaded once. Beyond the documents; the model is reduction 15. Changed from 02:
// each thread keeps its elements in registers. From there the largest and the sum cost no load, in one pass
// or in two. Two passes compute one exponential for each element, and keep it as well. Shuffles reduce a warp
// without shared memory, and one value of each warp is left.
#include "softmax.cuh"

constexpr int threads = 256;

/// Returns the combined values of all threads of the block, to each thread. Call it once for each operator,
/// as in 01.
template <class Op>
__device__ float reduce_block(float value, Op op) {
    // kata: begin
    // Within a warp by shuffles, without shared memory; __shfl_xor_sync leaves the result in all lanes. One
    // value of each warp goes through shared memory, and each thread combines all of these.
    kata::open();
    return value;
    // kata: end
}

/// For rows of at most threads * kept elements.
template <int kept>
__global__ void __launch_bounds__(threads) in_registers(const float* in, float* out, int columns) {
    // kata: begin
    // First load all elements of the thread into x; neighbouring threads load neighbouring elements. Places
    // beyond the end of the row must not change the result. Then compute the largest, the exponentials, which
    // may stay in x, and their sum. Unroll each loop over x: #pragma unroll.
    kata::open();
    // kata: end
}

void softmax(const float* in, float* out, int rows, int columns) {
    // kata: begin
    // A kernel that keeps few elements for short rows, and one that keeps more for longer rows.
    // Also required: from 0 to 16384 columns, and any number of rows. Elements may be any finite number; some
    // of a row may be -infinity, but not all. A NaN makes its own row NaN, and no other row.
    kata::open();
    // kata: end
}

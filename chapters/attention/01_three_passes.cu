// 01 Three passes: the largest element of a row, the sum of the exponentials, the quotients. Beyond the
// documents; the model is the safe softmax in Milakov and Gimelshein, Online Normalizer Calculation for
// Softmax, 2018. A block has a row, and its threads go over it three times. exp(89) is more than a float can
// hold. So the largest element of the row is subtracted from all of them first, which changes no quotient.
#include "softmax.cuh"

constexpr int threads = 256;

/// Returns the combined values of all threads of the block, to each thread. Call it once for each operator:
/// each call then has an array of its own, and need not wait until all have read the previous result.
template <class Op>
__device__ float reduce_block(float value, Op op) {
    // kata: begin
    // The tree of reduction 03, in shared memory. But here all threads get the result: which barrier does
    // that need?
    kata::open();
    return value;
    // kata: end
}

__global__ void three_passes(const float* in, float* out, int columns) {
    // kata: begin
    // Block b has row b. Its threads go over it three times, and neighbouring threads take neighbouring
    // elements: for the largest element, for the sum of exp(element - largest), and for the quotients.
    // The first two passes leave a value in each thread; combine them by reduce_block() with Max{} or Sum{}.
    kata::open();
    // kata: end
}

void softmax(const float* in, float* out, int rows, int columns) {
    // kata: begin
    // A block for each row.
    // Also required: from 0 to 16384 columns, and any number of rows. Elements may be any finite number; some
    // of a row may be -infinity, but not all. A NaN makes its own row NaN, and no other row.
    kata::open();
    // kata: end
}

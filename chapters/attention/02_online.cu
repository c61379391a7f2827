// 02 Online: the largest element and the sum of the exponentials in one pass. Beyond the documents; the model
// is Milakov and Gimelshein, Online Normalizer Calculation for Softmax, 2018. Changed from 01: the sum does
// not wait for the largest element of the row. It is relative to the largest so far, and when that rises, the
// sum is multiplied by exp(old - new). So a row is loaded twice and not three times.
#include "softmax.cuh"

constexpr int threads = 256;

/// The largest of some elements, and the sum of their exponentials, relative to it. For no elements the sum
/// is 0, and the largest is a number, because -∞ - -∞ is NaN.
struct Part {
    float largest = -FLT_MAX, sum = 0;
};

/// Returns the largest and the sum of the elements of both.
__device__ Part together(Part a, Part b) {
    // kata: begin
    // Both sums are relative to the largest of their own elements. To make them relative to the largest of
    // all, multiply each by the exponential of a difference. Which difference, so that it is never above 1?
    kata::open();
    return a;
    // kata: end
}

/// Returns the parts of all threads of the block, together, to each of them.
__device__ Part reduce_block(Part part) {
    // kata: begin
    // As in 01, with together() in place of an operator.
    kata::open();
    return part;
    // kata: end
}

__global__ void online(const float* in, float* out, int columns) {
    // kata: begin
    // A single element x is the part {x, 1}. One pass over the row, then reduce_block(), then a second pass
    // for the quotients.
    kata::open();
    // kata: end
}

void softmax(const float* in, float* out, int rows, int columns) {
    // kata: begin
    // As in 01.
    // Also required: from 0 to 16384 columns, and any number of rows. Elements may be any finite number; some
    // of a row may be -infinity, but not all. A NaN makes its own row NaN, and no other row.
    kata::open();
    // kata: end
}

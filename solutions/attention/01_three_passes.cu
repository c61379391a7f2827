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
    __shared__ float x[threads];
    const int t = threadIdx.x;
    x[t] = value;
    for (int stride = threads / 2; stride > 0; stride /= 2) {
        __syncthreads();
        if (t < stride) x[t] = op(x[t], x[t + stride]);
    }
    __syncthreads();
    return x[0];
    // kata: end
}

__global__ void three_passes(const float* in, float* out, int columns) {
    // kata: begin
    const float* const row = in + blockIdx.x * columns;
    // Neighbouring threads have neighbouring elements, in each pass.
    float largest = -INFINITY;
    for (int i = threadIdx.x; i < columns; i += threads) largest = fmaxf(largest, row[i]);
    largest = reduce_block(largest, Max{});
    float sum = 0;  // at least 1: one of the exponents is 0
    for (int i = threadIdx.x; i < columns; i += threads) sum += expf(row[i] - largest);
    sum = reduce_block(sum, Sum{});
    for (int i = threadIdx.x; i < columns; i += threads)
        out[blockIdx.x * columns + i] = expf(row[i] - largest) / sum;
    // kata: end
}

void softmax(const float* in, float* out, int rows, int columns) {
    // kata: begin
    if (rows == 0 || columns == 0) return;  // a grid without blocks is an error
    three_passes<<<rows, threads>>>(in, out, columns);
    check(cudaGetLastError());
    // kata: end
}

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
    const float largest = fmaxf(a.largest, b.largest);
    return {largest, a.sum * expf(a.largest - largest) + b.sum * expf(b.largest - largest)};
    // kata: end
}

/// Returns the parts of all threads of the block, together, to each of them.
__device__ Part reduce_block(Part part) {
    // kata: begin
    __shared__ Part x[threads];
    const int t = threadIdx.x;
    x[t] = part;
    for (int stride = threads / 2; stride > 0; stride /= 2) {
        __syncthreads();
        if (t < stride) x[t] = together(x[t], x[t + stride]);
    }
    __syncthreads();
    return x[0];
    // kata: end
}

__global__ void online(const float* in, float* out, int columns) {
    // kata: begin
    const float* const row = in + blockIdx.x * columns;
    Part part;
    for (int i = threadIdx.x; i < columns; i += threads) part = together(part, {row[i], 1});
    part = reduce_block(part);
    for (int i = threadIdx.x; i < columns; i += threads)
        out[blockIdx.x * columns + i] = expf(row[i] - part.largest) / part.sum;
    // kata: end
}

void softmax(const float* in, float* out, int rows, int columns) {
    // kata: begin
    if (rows == 0 || columns == 0) return;
    online<<<rows, threads>>>(in, out, columns);
    check(cudaGetLastError());
    // kata: end
}

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
    __shared__ float of_warp[threads / 32];
    // From the lane whose number differs in one bit: in the end all lanes have the result.
    for (int stride = 16; stride > 0; stride /= 2) value = op(value, __shfl_xor_sync(~0u, value, stride));
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    float all = of_warp[0];
    for (int warp = 1; warp < threads / 32; ++warp) all = op(all, of_warp[warp]);
    return all;
    // kata: end
}

/// For rows of at most threads * kept elements.
template <int kept>
__global__ void __launch_bounds__(threads) in_registers(const float* in, float* out, int columns) {
    // kata: begin
    const int first = blockIdx.x * columns;
    float x[kept];  // in registers only if all indices are known, so every loop over it is unrolled
    float largest = -INFINITY, sum = 0;
#pragma unroll
    for (int r = 0; r < kept; ++r) {
        const int i = threadIdx.x + r * threads;
        x[r] = i < columns ? in[first + i] : -INFINITY;  // beyond the row: has no share
        largest = fmaxf(largest, x[r]);
    }
    largest = reduce_block(largest, Max{});
#pragma unroll
    for (int r = 0; r < kept; ++r) {
        x[r] = expf(x[r] - largest);
        sum += x[r];
    }
    sum = reduce_block(sum, Sum{});
#pragma unroll
    for (int r = 0; r < kept; ++r) {
        const int i = threadIdx.x + r * threads;
        if (i < columns) out[first + i] = x[r] / sum;
    }
    // kata: end
}

void softmax(const float* in, float* out, int rows, int columns) {
    // kata: begin
    if (rows == 0 || columns == 0) return;
    // A short row does not pay for the registers of a long one.
    const auto kernel = columns <= threads * 4    ? in_registers<4>
                        : columns <= threads * 16 ? in_registers<16>
                                                  : in_registers<64>;
    static_assert(attention::max_columns <= threads * 64);
    kernel<<<rows, threads>>>(in, out, columns);
    check(cudaGetLastError());
    // kata: end
}

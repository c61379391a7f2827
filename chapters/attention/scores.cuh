// Included by step 04: what attention.cuh has, with memory for scores, and the softmax of their rows. Not
// to be changed: grading takes the repository's own.
#pragma once
#include "head_sizes.cuh"

/// Defined by step 04. Q, K, V and the result are heads x n x d, in row-major order: for each query, the
/// mean of the rows of V, weighted by the softmax of Q · K / √d. If `causal`, query i sees keys 0 to i only.
/// `scores` has room for heads x n x n floats, in which anything may stand.
template <int d>
void attend_with_scores(const float* q, const float* k, const float* v, float* out, int heads, int n,
                        bool causal, float* scores);

void attend_with_scores(const float* q, const float* k, const float* v, float* out, int heads, int n, int d,
                        bool causal, float* scores) {
    with_head_size(d, [&]<int size>() { attend_with_scores<size>(q, k, v, out, heads, n, causal, scores); });
}

constexpr int softmax_threads = 256;

/// Replaces each row by its softmax, a block a row. The maximum and the sum are computed in one pass, as in
/// step 02, and reduced by shuffles.
__global__ void __launch_bounds__(softmax_threads) softmax_in_place(float* rows, int columns) {
    __shared__ float largest_of[softmax_threads / 32], sum_of[softmax_threads / 32];
    float* const row = rows + size_t{blockIdx.x} * columns;
    float largest = -FLT_MAX, sum = 0;
    for (int i = threadIdx.x; i < columns; i += softmax_threads) {
        const float before = largest;
        largest = fmaxf(largest, row[i]);
        sum = sum * expf(before - largest) + expf(row[i] - largest);
    }
    const auto add = [&](float other_largest, float other_sum) {
        const float before = largest;
        largest = fmaxf(largest, other_largest);
        sum = sum * expf(before - largest) + other_sum * expf(other_largest - largest);
    };
    for (int stride = 16; stride > 0; stride /= 2)
        add(__shfl_xor_sync(~0u, largest, stride), __shfl_xor_sync(~0u, sum, stride));
    if (threadIdx.x % 32 == 0) largest_of[threadIdx.x / 32] = largest, sum_of[threadIdx.x / 32] = sum;
    __syncthreads();
    largest = -FLT_MAX, sum = 0;
    for (int warp = 0; warp < softmax_threads / 32; ++warp) add(largest_of[warp], sum_of[warp]);
    for (int i = threadIdx.x; i < columns; i += softmax_threads) row[i] = expf(row[i] - largest) / sum;
}

/// Launches it.
inline void softmax_of_rows(float* matrix, int rows, int columns) {
    softmax_in_place<<<rows, softmax_threads>>>(matrix, columns);
    check(cudaGetLastError());
}

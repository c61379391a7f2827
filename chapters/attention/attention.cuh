// Included by the steps from 05 on: CUDA C++ on either back end, check(), ceil_div(), the operators Sum and
// Max, and what calls a step for each head size. Not to be changed: grading takes the repository's own.
#pragma once
#include "head_sizes.cuh"

/// Defined by these steps. Q, K, V and the result are heads x n x d, in row-major order: for each query, the
/// mean of the rows of V, weighted by the softmax of Q · K / √d. If `causal`, query i sees keys 0 to i only.
template <int d>
void attend(const float* q, const float* k, const float* v, float* out, int heads, int n, bool causal);

void attend(const float* q, const float* k, const float* v, float* out, int heads, int n, int d,
            bool causal) {
    with_head_size(d, [&]<int size>() { attend<size>(q, k, v, out, heads, n, causal); });
}

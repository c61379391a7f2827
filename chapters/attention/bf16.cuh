// Included by the steps from 08 on: what attention.cuh has, for queries, keys and values in bfloat16. Not to
// be changed: grading takes the repository's own.
#pragma once
#include "head_sizes.cuh"

#include <cuda_bf16.h>

using bf16 = __nv_bfloat16;

/// Defined by these steps. Q, K and V are bfloat16 and the result is float, all heads x n x d, in row-major
/// order: for each query, the mean of the rows of V, weighted by the softmax of Q · K / √d. If `causal`,
/// query i sees keys 0 to i only. Pointers are multiples of 256 bytes.
template <int d>
void attend_bf16(const bf16* q, const bf16* k, const bf16* v, float* out, int heads, int n, bool causal);

extern "C" [[gnu::visibility("default")]] void attend_bf16(const bf16* q, const bf16* k, const bf16* v,
                                                           float* out, int heads, int n, int d, bool causal) {
    with_head_size(d, [&]<int size>() { attend_bf16<size>(q, k, v, out, heads, n, causal); });
}

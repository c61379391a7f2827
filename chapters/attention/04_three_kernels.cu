// 04 Three kernels: scores, their softmax, and the weighted sum of V. Beyond the documents; it is attention
// as it is written in Vaswani and others, Attention Is All You Need, 2017. Both products are tiled as in gemm
// 02. Rows of K are multiplied, not columns. So lanes read a column of its tile, whose rows have a word more,
// as in transposition 03. Between the kernels, global memory holds a score for each pair of a query and a
// key.
#include "scores.cuh"

constexpr int tile = 32;  // rows and columns of results of a block, each with its thread

/// scores[head][i][j] = Q[i] · K[j] / √d, or -∞ if query i does not see key j.
template <int d>
__global__ void multiply_qk(const float* q, const float* k, float* scores, int n, bool causal) {
    // kata: begin
    // The product of gemm 02: a block computes 32 x 32 scores, a tile at a time along d. But rows of Q are
    // multiplied by rows of K: which index of k_s is the lane's, and why does k_s have one more column?
    // Multiply the sum by scale<d>. A key that the query does not see must have no weight after the softmax.
    kata::open();
    // kata: end
}

/// out[head][i] = Σ weights[head][i][j] · V[j]
template <int d>
__global__ void multiply_by_v(const float* weights, const float* v, float* out, int n) {
    // kata: begin
    // The product of gemm 02 as it is. The tiles go along the keys, n of them: what must stand in both tiles
    // beyond the last one?
    kata::open();
    // kata: end
}

template <int d>
void attend_with_scores(const float* q, const float* k, const float* v, float* out, int heads, int n,
                        bool causal, float* scores) {
    // kata: begin
    // Three launches. blockIdx.z is the head; softmax_of_rows() has all rows of all heads.
    // Also required: from 0 to 65535 heads, any n from 0 on; `scores` may hold NaN at first; q, k and v are
    // only read.
    kata::open();
    // kata: end
}

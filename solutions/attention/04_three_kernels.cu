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
    __shared__ float q_s[tile][tile], k_s[tile][tile + 1];
    const int head = blockIdx.z, x = threadIdx.x, y = threadIdx.y;
    q += head * n * d, k += head * n * d, scores += head * n * n;
    const int query = blockIdx.y * tile + y, first_key = blockIdx.x * tile, key = first_key + x;

    float sum = 0;
    for (int first = 0; first < d; first += tile) {
        q_s[y][x] = query < n ? q[query * d + first + x] : 0;
        k_s[y][x] = first_key + y < n ? k[(first_key + y) * d + first + x] : 0;
        __syncthreads();  // a thread multiplies what others have loaded
        for (int i = 0; i < tile; ++i) sum += q_s[y][i] * k_s[x][i];
        __syncthreads();  // all have used the tiles before the next overwrite them
    }
    // The exponential of -∞ is 0: keys that a query does not see have no weight.
    if (query < n && key < n) scores[query * n + key] = causal && key > query ? -INFINITY : sum * scale<d>;
    // kata: end
}

/// out[head][i] = Σ weights[head][i][j] · V[j]
template <int d>
__global__ void multiply_by_v(const float* weights, const float* v, float* out, int n) {
    // kata: begin
    __shared__ float w_s[tile][tile], v_s[tile][tile];
    const int head = blockIdx.z, x = threadIdx.x, y = threadIdx.y;
    weights += head * n * n, v += head * n * d, out += head * n * d;
    const int query = blockIdx.y * tile + y, column = blockIdx.x * tile + x;

    float sum = 0;
    for (int first = 0; first < n; first += tile) {
        // Beyond the last key both are 0: whatever lies there may be NaN, and 0 times NaN is NaN.
        w_s[y][x] = query < n && first + x < n ? weights[query * n + first + x] : 0;
        v_s[y][x] = first + y < n ? v[(first + y) * d + column] : 0;
        __syncthreads();
        for (int i = 0; i < tile; ++i) sum += w_s[y][i] * v_s[i][x];
        __syncthreads();
    }
    if (query < n) out[query * d + column] = sum;
    // kata: end
}

template <int d>
void attend_with_scores(const float* q, const float* k, const float* v, float* out, int heads, int n,
                        bool causal, float* scores) {
    // kata: begin
    if (heads == 0 || n == 0) return;
    const int tiles = ceil_div(n, tile);
    const dim3 block(tile, tile);
    multiply_qk<d><<<dim3(tiles, tiles, heads), block>>>(q, k, scores, n, causal);
    check(cudaGetLastError());
    softmax_of_rows(scores, heads * n, n);
    multiply_by_v<d><<<dim3(d / tile, tiles, heads), block>>>(scores, v, out, n);
    check(cudaGetLastError());
    // kata: end
}

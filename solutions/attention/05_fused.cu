// 05 Fused: no score leaves the chip. Beyond the documents; the model is Dao, Fu, Ermon, Rudra and Ré,
// FlashAttention, 2022. Changed from 04: a block has some queries, and goes over all keys and values, a tile
// at a time. The softmax is that of 02: when a query's largest score rises, its sum is multiplied by
// exp(old - new), and so is its row of O. So scores are used where they are computed. In 04 a score and its
// weight are stored or loaded six times if d is 64; here they never are, and need no memory.
//
// A warp has four of the queries. For the scores, each lane has a key of the tile; for O, each lane has
// some columns.
#include "attention.cuh"

constexpr int warps = 8;
constexpr int threads = 32 * warps;
constexpr int rows = 4;                // queries of a warp
constexpr int queries = rows * warps;  // per block
constexpr int keys = 32;               // per tile: one for each lane

template <int d>
__global__ void __launch_bounds__(threads)
    fused(const float* q, const float* k, const float* v, float* out, int n, bool causal) {
    // kata: begin
    // K and V are needed in turn, and have the same memory. Lanes read a column of K: its rows have a word
    // more than d, so that the elements of a column are in different banks.
    __shared__ float q_s[queries][d], kv_s[keys][d + 1];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int first_query = blockIdx.x * queries;
    q += blockIdx.y * n * d, k += blockIdx.y * n * d, v += blockIdx.y * n * d, out += blockIdx.y * n * d;

    for (int e = threadIdx.x; e < queries * d; e += threads) {
        const int query = first_query + e / d;
        q_s[e / d][e % d] = query < n ? q[query * d + e % d] * scale<d> : 0;
    }

    // The lane's columns of O are lane, lane + 32, …
    float o[rows][d / 32] = {}, largest[rows], sum[rows] = {};
    for (int r = 0; r < rows; ++r) largest[r] = -FLT_MAX;  // as in 02

    for (int first_key = 0; first_key < n; first_key += keys) {
        __syncthreads();  // all have used the values of the tile before
        for (int e = threadIdx.x; e < keys * d; e += threads) {
            const int key = first_key + e / d;
            kv_s[e / d][e % d] = key < n ? k[key * d + e % d] : 0;
        }
        __syncthreads();  // the keys are there, and so is q_s

        const int key = first_key + lane;
        float weight[rows];
        for (int r = 0; r < rows; ++r) {
            const int query = first_query + warp * rows + r;
            float score = 0;
            for (int i = 0; i < d; ++i) score += q_s[warp * rows + r][i] * kv_s[lane][i];
            if (key >= n || (causal && key > query)) score = -INFINITY;
            // All lanes get the largest score and the sum of the tile.
            float of_tile = score;
            for (int stride = 16; stride > 0; stride /= 2)
                of_tile = fmaxf(of_tile, __shfl_xor_sync(~0u, of_tile, stride));
            const float before = largest[r];
            largest[r] = fmaxf(before, of_tile);
            weight[r] = expf(score - largest[r]);
            float added = weight[r];
            for (int stride = 16; stride > 0; stride /= 2) added += __shfl_xor_sync(~0u, added, stride);
            // The sum so far is relative to the largest score before.
            const float factor = expf(before - largest[r]);
            sum[r] = sum[r] * factor + added;
            for (int c = 0; c < d / 32; ++c) o[r][c] *= factor;
        }

        __syncthreads();  // all have used the keys
        for (int e = threadIdx.x; e < keys * d; e += threads) {
            const int key = first_key + e / d;
            kv_s[e / d][e % d] = key < n ? v[key * d + e % d] : 0;
        }
        __syncthreads();
        for (int r = 0; r < rows; ++r)
            for (int j = 0; j < keys; ++j) {
                const float w = __shfl_sync(~0u, weight[r], j);  // the weight of key j, from its lane
                for (int c = 0; c < d / 32; ++c) o[r][c] += w * kv_s[j][lane + 32 * c];
            }
    }

    for (int r = 0; r < rows; ++r) {
        const int query = first_query + warp * rows + r;
        for (int c = 0; c < d / 32; ++c)
            if (query < n) out[query * d + lane + 32 * c] = o[r][c] / sum[r];
    }
    // kata: end
}

template <int d>
void attend(const float* q, const float* k, const float* v, float* out, int heads, int n, bool causal) {
    // kata: begin
    if (heads == 0 || n == 0) return;
    fused<d><<<dim3(ceil_div(n, queries), heads), threads>>>(q, k, v, out, n, causal);
    check(cudaGetLastError());
    // kata: end
}

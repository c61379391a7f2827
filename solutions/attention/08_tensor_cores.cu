// 08 Tensor cores: they compute both products. Beyond the documents; the models are gemm 11 and
// FlashAttention-2, Dao, 2023. Changed from 07: Q, K and V are bfloat16, and a warp has 16 queries, as many
// as a fragment has rows. CUDA does not say which lane has which element of a fragment. So the scores pass
// through shared memory to the softmax, and the weights, rounded to bfloat16, to the second product. O stays
// in fragments. To multiply each of its rows by a number, these numbers are loaded as a fragment, too:
// fragments of one type have the same places. Values arrive while scores are computed, and keys while values
// are used.
//
// Needs: sm_80
#include "bf16.cuh"

#include <cuda_pipeline.h>
#include <mma.h>

constexpr int side = 16;                      // rows and columns of a fragment
constexpr int queries = 64;                   // per block; a warp has 16
constexpr int keys = 64;                      // per tile
constexpr int threads = queries / side * 32;  // per block
constexpr int wide = 8;                       // elements of a pack of 16 bytes
// After each row of a tile, as in gemm 11. Eight rows that are read at once then lie in different banks.
constexpr int padding = wide;

using namespace nvcuda;
using Rows = wmma::fragment<wmma::matrix_a, side, side, side, bf16, wmma::row_major>;
using Keys = wmma::fragment<wmma::matrix_b, side, side, side, bf16, wmma::col_major>;
using Values = wmma::fragment<wmma::matrix_b, side, side, side, bf16, wmma::row_major>;
using Sums = wmma::fragment<wmma::accumulator, side, side, side, float>;

/// The shared memory of a block, of which a warp has 16 rows of scores and weights. Tensor cores load and
/// store from multiples of 32 bytes on.
template <int d>
struct alignas(32) Tiles {
    bf16 k[keys][d + padding], v[keys][d + padding];
    float scores[queries][keys + padding / 2];
    bf16 weights[queries][keys + padding];
    float factors[queries];
};

/// Begins to copy rows of a matrix of n rows to a tile, with zeros for rows that the matrix does not have.
template <int d>
__device__ void begin_copies(bf16 (&tile)[keys][d + padding], const bf16* matrix, int first_row, int n) {
    // kata: begin
    for (int e = threadIdx.x * wide; e < keys * d; e += threads * wide) {
        const int row = first_row + e / d, column = e % d;
        // The weights of these rows are 0, but 0 times what happens to be in memory may be NaN.
        constexpr int bytes = wide * sizeof(bf16);
        __pipeline_memcpy_async(&tile[e / d][column], &matrix[row < n ? row * d + column : 0], bytes,
                                row < n ? 0 : bytes);
    }
    __pipeline_commit();
    // kata: end
}

/// Multiplies row i of the fragments by factors[i].
template <int count>
__device__ void multiply_rows(Sums (&sums)[count], const float* factors) {
    // kata: begin
    Sums factor;  // columns that lie 0 apart are all the same one
    wmma::load_matrix_sync(factor, factors, 0, wmma::mem_col_major);
    for (auto& sum : sums)
        for (int e = 0; e < sum.num_elements; ++e) sum.x[e] *= factor.x[e];
    // kata: end
}

template <int d>
__global__ void __launch_bounds__(threads)
    tensor_cores(const bf16* q, const bf16* k, const bf16* v, float* out, int heads, int n, bool causal) {
    // kata: begin
    alignas(32) extern __shared__ unsigned char memory[];
    Tiles<d>& s = *reinterpret_cast<Tiles<d>*>(memory);
    // As in 07, the last queries of all heads first.
    const int head = blockIdx.x % heads, tile = ceil_div(n, queries) - 1 - blockIdx.x / heads;
    const int first_query = tile * queries;
    const int end = causal ? min(first_query + queries, n) : n;
    q += head * n * d, k += head * n * d, v += head * n * d, out += head * n * d;

    // Where the warp's rows begin in the tiles. Two lanes have one of its queries for the softmax.
    const int lane = threadIdx.x % 32, first_row = threadIdx.x / 32 * side;
    const int row = first_row + lane / 2, query = first_query + row;

    // The queries pass through the memory of a tile of keys, and stay in fragments.
    begin_copies<d>(s.k, q, first_query, n);
    __pipeline_wait_prior(0);
    __syncthreads();
    Rows q_i[d / side];
    for (int i = 0; i < d / side; ++i) wmma::load_matrix_sync(q_i[i], &s.k[first_row][i * side], d + padding);
    __syncthreads();  // all have their queries
    begin_copies<d>(s.k, k, 0, n);

    Sums o[d / side];
    for (auto& fragment : o) wmma::fill_fragment(fragment, 0.0f);
    // The exponentials are powers of two, for which there is an instruction.
    constexpr float log2_e = 1.44269504f, factor_of_scores = scale<d> * log2_e;
    float largest = -FLT_MAX, sum = 0;  // for the lane's query; the sum is over the lane's own keys
    for (int first_key = 0; first_key < end; first_key += keys) {
        __pipeline_wait_prior(0);
        __syncthreads();  // the keys are there, and all have used the values of the tile before
        begin_copies<d>(s.v, v, first_key, n);

        for (int c = 0; c < keys; c += side) {
            Sums score;
            wmma::fill_fragment(score, 0.0f);
            for (int i = 0; i < d / side; ++i) {
                Keys k_i;  // transposed: a row of K is a column of this factor
                wmma::load_matrix_sync(k_i, &s.k[c][i * side], d + padding);
                wmma::mma_sync(score, q_i[i], k_i, score);
            }
            wmma::store_matrix_sync(&s.scores[first_row][c], score, keys + padding / 2, wmma::mem_row_major);
        }
        __syncwarp();  // the scores of the warp are there

        // Two lanes take pairs of neighbouring keys in turn.
        float2 score[keys / 4];
        const float before = largest;
        for (int i = 0; i < keys / 4; ++i) {
            const int c = 4 * i + lane % 2 * 2, key = first_key + c;
            score[i] = *reinterpret_cast<const float2*>(&s.scores[row][c]);
            const auto seen = [&](int j) { return j < n && !(causal && j > query); };
            score[i].x = seen(key) ? score[i].x * factor_of_scores : -INFINITY;
            score[i].y = seen(key + 1) ? score[i].y * factor_of_scores : -INFINITY;
            largest = fmaxf(largest, fmaxf(score[i].x, score[i].y));
        }
        largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, 1));
        const float factor = exp2f(before - largest);
        sum *= factor;
        for (int i = 0; i < keys / 4; ++i) {
            const float x = exp2f(score[i].x - largest), y = exp2f(score[i].y - largest);
            sum += x + y;
            *reinterpret_cast<__nv_bfloat162*>(&s.weights[row][4 * i + lane % 2 * 2]) =
                __floats2bfloat162_rn(x, y);
        }
        if (lane % 2 == 0) s.factors[row] = factor;
        __syncwarp();
        multiply_rows(o, &s.factors[first_row]);

        __pipeline_wait_prior(0);
        __syncthreads();  // the values are there, and all have used the keys
        if (first_key + keys < end) begin_copies<d>(s.k, k, first_key + keys, n);
        for (int j = 0; j < keys; j += side) {
            Rows w_j;
            wmma::load_matrix_sync(w_j, &s.weights[first_row][j], keys + padding);
            for (int c = 0; c < d / side; ++c) {
                Values v_j;
                wmma::load_matrix_sync(v_j, &s.v[j][c * side], d + padding);
                wmma::mma_sync(o[c], w_j, v_j, o[c]);
            }
        }
    }

    sum += __shfl_xor_sync(~0u, sum, 1);
    if (lane % 2 == 0) s.factors[row] = 1 / sum;
    __syncwarp();
    multiply_rows(o, &s.factors[first_row]);
    // Rows and columns are known in memory only: O passes through the memory of the warp's scores.
#pragma unroll
    for (int first_column = 0; first_column < d; first_column += keys) {
        for (int c = 0; c < keys; c += side)
            wmma::store_matrix_sync(&s.scores[first_row][c], o[(first_column + c) / side], keys + padding / 2,
                                    wmma::mem_row_major);
        __syncwarp();
        for (int e = lane; e < side * keys; e += 32) {
            const int r = first_row + e / keys, c = e % keys;
            if (first_query + r < n) out[(first_query + r) * d + first_column + c] = s.scores[r][c];
        }
        __syncwarp();  // before the memory is used again
    }
    // kata: end
}

template <int d>
void attend_bf16(const bf16* q, const bf16* k, const bf16* v, float* out, int heads, int n, bool causal) {
    // kata: begin
    if (heads == 0 || n == 0) return;
    constexpr int bytes = sizeof(Tiles<d>);
    check(cudaFuncSetAttribute(tensor_cores<d>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    tensor_cores<d><<<ceil_div(n, queries) * heads, threads, bytes>>>(q, k, v, out, heads, n, causal);
    check(cudaGetLastError());
    // kata: end
}

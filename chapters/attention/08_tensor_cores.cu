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
    // As in gemm 11, by packs, and then the commit. A row that the matrix does not have gets zeros.
    kata::open();
    // kata: end
}

/// Multiplies row i of the fragments by factors[i].
template <int count>
__device__ void multiply_rows(Sums (&sums)[count], const float* factors) {
    // kata: begin
    // Load the factors as a fragment with equal columns: by columns that lie 0 elements apart. Then multiply
    // each element of each fragment by the element with the same number.
    kata::open();
    // kata: end
}

template <int d>
__global__ void __launch_bounds__(threads)
    tensor_cores(const bf16* q, const bf16* k, const bf16* v, float* out, int heads, int n, bool causal) {
    // kata: begin
    // Queries and tiles of keys as in 07, and two barriers for a tile of keys and one of values. Wait for the
    // keys, then for the block, and begin to copy the values. Each warp multiplies its rows of queries by the
    // keys, 16 of them at a time, and stores the scores. Two lanes have a query: each takes half of its
    // scores, finds the largest with the other, and stores the weights as bfloat16, and the factor for what
    // has been added so far. multiply_rows() multiplies O. Then wait for the values and the block, begin to
    // copy the next keys, if there are any, and add the products of weights and values to O. In the end
    // multiply O by the reciprocals of the sums and store it to the memory of the scores, as many columns as
    // it has. From there lanes copy the rows that there are.
    kata::open();
    // kata: end
}

template <int d>
void attend_bf16(const bf16* q, const bf16* k, const bf16* v, float* out, int heads, int n, bool causal) {
    // kata: begin
    // As in 07.
    // Also required: d of 64 and 128, any number of heads up to 65535, any n, also 0. An element may be off
    // by what a rounding of the weights to bfloat16 causes, and not by more: neither queries nor scores nor O
    // are rounded.
    kata::open();
    // kata: end
}

// A tile is a function with a template parameter: those that all queries of the block see are not tested, and the
// others are tested for the end and the diagonal. A head has a row of the grid, whose blocks go from the last queries
// to the first. Usual since FlashAttention-2.
#include "attention.cuh"

constexpr int side = 16;  // threads along a side of the square
constexpr int threads = side * side;
constexpr int rows = 4, columns = 2;  // queries and keys of a thread
constexpr int queries = rows * side;  // per block
constexpr int keys = columns * side;  // per tile

/// The shared memory of a block: more than 48 KiB if d is 128.
/// Rows are padded, so that the two rows of queries of a warp are in different banks.
/// So are the elements of a column of K.
template <int d>
struct Tiles {
    float q[queries][d + 1], kv[keys][d + 1], weights[queries][keys + side];
};

template <int d>
__global__ void __launch_bounds__(threads)
    causal_tiles(const float* q, const float* k, const float* v, float* out, int n, bool causal) {
    extern __shared__ float memory[];
    Tiles<d>& s = *reinterpret_cast<Tiles<d>*>(memory);
    // The thread has queries ty, ty + 16, … and keys, then columns, tx, tx + 16, …
    const int tx = threadIdx.x % side, ty = threadIdx.x / side;
    const int head = blockIdx.y, tile = gridDim.x - 1 - blockIdx.x;
    const int first_query = tile * queries;
    const int end = causal ? min(first_query + queries, n) : n;  // no query of the block sees this key
    q += head * n * d, k += head * n * d, v += head * n * d, out += head * n * d;

    for (int e = threadIdx.x; e < queries * d; e += threads) {
        const int query = first_query + e / d;
        s.q[e / d][e % d] = query < n ? q[query * d + e % d] * scale<d> : 0;
    }

    float o[rows][d / side] = {}, largest[rows], sum[rows] = {};
    for (int r = 0; r < rows; ++r) largest[r] = -FLT_MAX;

    const auto process = [&]<bool tested>(int first_key) {
        __syncthreads();  // as in 05 and 06
        for (int e = threadIdx.x; e < keys * d; e += threads) {
            const int key = first_key + e / d;
            s.kv[e / d][e % d] = key < n ? k[key * d + e % d] : 0;
        }
        __syncthreads();

        float score[rows][columns] = {};
        for (int i = 0; i < d; ++i) {
            float q_i[rows], k_i[columns];
            for (int r = 0; r < rows; ++r) q_i[r] = s.q[ty + r * side][i];
            for (int c = 0; c < columns; ++c) k_i[c] = s.kv[tx + c * side][i];
            for (int r = 0; r < rows; ++r)
                for (int c = 0; c < columns; ++c) score[r][c] += q_i[r] * k_i[c];
        }

        for (int r = 0; r < rows; ++r) {
            const float before = largest[r];
            for (int c = 0; c < columns; ++c) {
                const int query = first_query + ty + r * side, key = first_key + tx + c * side;
                if (tested && (key >= n || (causal && key > query))) score[r][c] = -INFINITY;
                largest[r] = fmaxf(largest[r], score[r][c]);
            }
            // The threads with the same queries are 16 neighbouring lanes. Numbers that differ in one of the
            // lower four bits belong to the same 16.
            for (int stride = side / 2; stride > 0; stride /= 2)
                largest[r] = fmaxf(largest[r], __shfl_xor_sync(~0u, largest[r], stride));
            const float factor = expf(before - largest[r]);
            sum[r] *= factor;
            for (int c = 0; c < d / side; ++c) o[r][c] *= factor;
            for (int c = 0; c < columns; ++c) {
                const float weight = expf(score[r][c] - largest[r]);
                sum[r] += weight;  // over the thread's own keys: the 16 sums are added up in the end
                s.weights[ty + r * side][tx + c * side] = weight;
            }
        }

        __syncthreads();  // all have used the keys, and the weights are there
        for (int e = threadIdx.x; e < keys * d; e += threads) {
            const int key = first_key + e / d;
            s.kv[e / d][e % d] = key < n ? v[key * d + e % d] : 0;
        }
        __syncthreads();
        for (int j = 0; j < keys; ++j) {
            float w_j[rows], v_j[d / side];
            for (int r = 0; r < rows; ++r) w_j[r] = s.weights[ty + r * side][j];
            for (int c = 0; c < d / side; ++c) v_j[c] = s.kv[j][tx + c * side];
            for (int r = 0; r < rows; ++r)
                for (int c = 0; c < d / side; ++c) o[r][c] += w_j[r] * v_j[c];
        }
    };
    // Queries that are not there may be given any keys.
    const int seen_by_all = causal ? min(first_query + 1, n) : n;
    int first_key = 0;
    for (; first_key + keys <= seen_by_all; first_key += keys) process.template operator()<false>(first_key);
    for (; first_key < end; first_key += keys) process.template operator()<true>(first_key);

    for (int r = 0; r < rows; ++r) {
        for (int stride = side / 2; stride > 0; stride /= 2) sum[r] += __shfl_xor_sync(~0u, sum[r], stride);
        const int query = first_query + ty + r * side;
        for (int c = 0; c < d / side; ++c)
            if (query < n) out[query * d + tx + c * side] = o[r][c] / sum[r];
    }
}

template <int d>
void attend(const float* q, const float* k, const float* v, float* out, int heads, int n, bool causal) {
    if (heads == 0 || n == 0) return;
    constexpr int bytes = sizeof(Tiles<d>);
    check(cudaFuncSetAttribute(causal_tiles<d>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    causal_tiles<d><<<dim3(ceil_div(n, queries), heads), threads, bytes>>>(q, k, v, out, n, causal);
    check(cudaGetLastError());
}

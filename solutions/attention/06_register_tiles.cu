// 06 Register tiles: a thread computes several scores, and several elements of O, at a time. Beyond the
// documents; the model is gemm 04. Changed from 05: the block's 256 threads are a square of 16 x 16. A thread
// has four queries and two keys of a tile, so that what it reads of a query serves two scores, and what it
// reads of a key four. Then it has the same queries and every sixteenth column of O. The weights that it
// needs there are computed by its neighbours in a row of the square, and pass through shared memory. A block
// has twice the queries of 05, and so K and V are loaded half as often.
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
    register_tiles(const float* q, const float* k, const float* v, float* out, int n, bool causal) {
    // kata: begin
    extern __shared__ float memory[];
    Tiles<d>& s = *reinterpret_cast<Tiles<d>*>(memory);
    // The thread has queries ty, ty + 16, … and keys, then columns, tx, tx + 16, …
    const int tx = threadIdx.x % side, ty = threadIdx.x / side;
    const int first_query = blockIdx.x * queries;
    q += blockIdx.y * n * d, k += blockIdx.y * n * d, v += blockIdx.y * n * d, out += blockIdx.y * n * d;

    for (int e = threadIdx.x; e < queries * d; e += threads) {
        const int query = first_query + e / d;
        s.q[e / d][e % d] = query < n ? q[query * d + e % d] * scale<d> : 0;
    }

    float o[rows][d / side] = {}, largest[rows], sum[rows] = {};
    for (int r = 0; r < rows; ++r) largest[r] = -FLT_MAX;

    for (int first_key = 0; first_key < n; first_key += keys) {
        __syncthreads();  // as in 05
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
                if (key >= n || (causal && key > query)) score[r][c] = -INFINITY;
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
    }

    for (int r = 0; r < rows; ++r) {
        for (int stride = side / 2; stride > 0; stride /= 2) sum[r] += __shfl_xor_sync(~0u, sum[r], stride);
        const int query = first_query + ty + r * side;
        for (int c = 0; c < d / side; ++c)
            if (query < n) out[query * d + tx + c * side] = o[r][c] / sum[r];
    }
    // kata: end
}

template <int d>
void attend(const float* q, const float* k, const float* v, float* out, int heads, int n, bool causal) {
    // kata: begin
    if (heads == 0 || n == 0) return;
    constexpr int bytes = sizeof(Tiles<d>);
    check(cudaFuncSetAttribute(register_tiles<d>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const dim3 grid(ceil_div(n, queries), heads);
    register_tiles<d><<<grid, threads, bytes>>>(q, k, v, out, n, causal);
    check(cudaGetLastError());
    // kata: end
}

// 09 Warpgroups: they compute both products, and no score leaves the registers. Beyond the documents;
// the model is FlashAttention-3, Shah and others, 2024. Changed from 08: TMA brings tiles of Q, K and V, as
// in gemm 14. One warpgroup, the producer, fetches; two consumers have 64 queries each. It is known which
// thread has which element of wgmma's sum, so the softmax is computed where the scores are. And wgmma takes
// its left factor from registers, too, in the same places: two weights that are neighbours become a pair of
// bfloat16.
//
// Needs: sm_90a
#include "bf16.cuh"
#include "hopper.cuh"

using namespace hopper;

constexpr int consumers = 2, threads = (1 + consumers) * 128;
constexpr int queries = consumers * 64;  // per block
constexpr int keys = 128;                // per tile
constexpr int stages = 2;                // tiles of K, and as many of V

/// The shared memory of a block. A tile is boxes of 64 columns, side by side.
template <int d>
struct alignas(1024) Tiles {
    bf16 q[d / 64][queries][64], k[stages][d / 64][keys][64], v[stages][d / 64][keys][64];
    Barrier full_q, full_k[stages], full_v[stages], empty_k[stages], empty_v[stages];
};

/// Announces a tile, and fetches it: the rows of a head from this one on.
template <int boxes, int rows>
__device__ void fetch_tile(bf16 (&tile)[boxes][rows][64], const CUtensorMap& heads, int head, int row,
                           Barrier& full) {
    expect(full, sizeof tile);
    for (int i = 0; i < boxes; ++i) fetch(tile[i], heads, i * 64, row, head, full);
}

/// One thread arrives for its warpgroup, which is done with a tile.
__device__ void release(Barrier& empty) {
    if (threadIdx.x % 128 == 0) arrive(empty);
}

template <int d>
__global__ void __launch_bounds__(threads, 1)
    warpgroups(const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k,
               const __grid_constant__ CUtensorMap v, float* out, int heads, int n, bool causal) {
    // kata: begin
    alignas(1024) extern __shared__ unsigned char memory[];
    Tiles<d>& s = reinterpret_cast<Tiles<d>&>(memory);
    if (threadIdx.x == 0) {
        init(s.full_q, 1);
        for (int i = 0; i < stages; ++i) {
            init(s.full_k[i], 1), init(s.full_v[i], 1);
            init(s.empty_k[i], consumers), init(s.empty_v[i], consumers);
        }
        publish_barriers();
    }
    __syncthreads();
    // As in 07, the last queries of all heads first.
    const int head = blockIdx.x % heads;
    const int first_query = (ceil_div(n, queries) - 1 - blockIdx.x / heads) * queries;
    const int tiles = ceil_div(causal ? min(first_query + queries, n) : n, keys);

    if (threadIdx.x < 128) {
        give_registers<40>();
        if (threadIdx.x != 0) return;
        fetch_tile(s.q, q, head, first_query, s.full_q);
        for (int tile = 0; tile < tiles; ++tile) {
            const int stage = tile % stages, parity = tile / stages % 2;
            wait(s.empty_k[stage], parity ^ 1);  // returns at once in round 0, as in gemm 14
            fetch_tile(s.k[stage], k, head, tile * keys, s.full_k[stage]);
            wait(s.empty_v[stage], parity ^ 1);
            fetch_tile(s.v[stage], v, head, tile * keys, s.full_v[stage]);
        }
    } else {
        take_registers<232>();
        const int consumer = threadIdx.x / 128 - 1, t = threadIdx.x % 128;
        // The thread has two rows of the consumer's 64, eight apart, and two of each eight columns, as Sum
        // says.
        const int query = first_query + consumer * 64 + t / 32 * 16 + t % 32 / 4, column = t % 4 * 2;
        // e^((score - largest) / √d) is 2^(score * to_log2 - largest * to_log2): a multiplication and
        // addition in one, and one instruction for the power.
        constexpr float to_log2 = scale<d> * 1.44269504f;
        hopper::Sum<d> o = {};
        // All queries see the first key, which comes before any that they do not: -inf - -inf never occurs.
        float largest[2] = {-INFINITY, -INFINITY}, sum[2] = {};
        wait(s.full_q, 0);
        for (int tile = 0; tile < tiles; ++tile) {
            const int stage = tile % stages, parity = tile / stages % 2;
            hopper::Sum<keys> score;
            wait(s.full_k[stage], parity);
            begin_products();
            // 16 columns at a time, of which a box has four times as many. Keys lie in rows: their tile is K,
            // and the factor is transposed.
            for (int i = 0; i < d / 16; ++i)
                multiply_transposed(score, tile_of_a(s.q[i / 4][consumer * 64]) + i % 4 * 2,
                                    tile_of_a(s.k[stage][i / 4]) + i % 4 * 2, i > 0);
            end_products();
            wait_products<0>(score);
            release(s.empty_k[stage]);

            // Beyond the last key of the head there are zeros.
            const int first_key = tile * keys, last_key = first_key + keys - 1;
            if (last_key >= n || (causal && last_key > first_query))
#pragma unroll
                for (int i = 0; i < keys / 2; ++i) {
                    const int key = first_key + i / 4 * 8 + column + i % 2;
                    if (key >= n || (causal && key > query + i / 2 % 2 * 8)) score[i] = -INFINITY;
                }

            Pairs weights[keys / 16];
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                const float before = largest[h];
#pragma unroll
                for (int i = 2 * h; i < keys / 2; i += 4)
                    largest[h] = fmaxf(largest[h], fmaxf(score[i], score[i + 1]));
                // Four neighbouring lanes have a row.
                for (int stride = 2; stride > 0; stride /= 2)
                    largest[h] = fmaxf(largest[h], __shfl_xor_sync(~0u, largest[h], stride));
                const float shift = largest[h] * to_log2, factor = power_of_two(before * to_log2 - shift);
                sum[h] *= factor;
#pragma unroll
                for (int i = 2 * h; i < d / 2; i += 4) o[i] *= factor, o[i + 1] *= factor;
#pragma unroll
                for (int i = 2 * h; i < keys / 2; i += 4) {
                    const float first = power_of_two(score[i] * to_log2 - shift);
                    const float second = power_of_two(score[i + 1] * to_log2 - shift);
                    sum[h] += first + second;  // over the thread's own keys: added up in the end
                    weights[i / 8][i % 8 / 2] = pair(first, second);
                }
            }

            wait(s.full_v[stage], parity);
            begin_products();
            for (int i = 0; i < keys / 16; ++i)
                multiply(o, weights[i], tile_of_b(s.v[stage], sizeof s.v[0][0]) + i * 128);
            end_products();
            wait_products<0>(o);
            release(s.empty_v[stage]);
        }

#pragma unroll
        for (int h = 0; h < 2; ++h) {
            for (int stride = 2; stride > 0; stride /= 2) sum[h] += __shfl_xor_sync(~0u, sum[h], stride);
            // Rows below the head's last one are the next head's.
            if (query + 8 * h >= n) continue;
            float* const row = out + (size_t{1} * head * n + query + 8 * h) * d + column;
            const float share = 1 / sum[h];
#pragma unroll
            for (int i = 2 * h; i < d / 2; i += 4)
                *reinterpret_cast<float2*>(row + i / 4 * 8) = float2{o[i] * share, o[i + 1] * share};
        }
    }
    // kata: end
}

template <int d>
void attend_bf16(const bf16* q, const bf16* k, const bf16* v, float* out, int heads, int n, bool causal) {
    // kata: begin
    if (heads == 0 || n == 0) return;
    CUtensorMap map_q, map_k, map_v;
    describe_stack(map_q, q, heads, n, d, queries, 64);
    describe_stack(map_k, k, heads, n, d, keys, 64);
    describe_stack(map_v, v, heads, n, d, keys, 64);
    constexpr int bytes = sizeof(Tiles<d>);
    check(cudaFuncSetAttribute(warpgroups<d>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    warpgroups<d>
        <<<ceil_div(n, queries) * heads, threads, bytes>>>(map_q, map_k, map_v, out, heads, n, causal);
    check(cudaGetLastError());
    // kata: end
}

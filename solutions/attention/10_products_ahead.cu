// 10 Products ahead: exponentials are computed while tensor cores multiply. Beyond the documents; the model
// is FlashAttention-3, Shah and others, 2024. Changed from 09: a consumer begins the scores of a tile, and
// then the results of the previous tile. While the latter are multiplied, it computes the former's weights.
// As in gemm 14, a block stays for many tiles of queries, and fetches the next ones while it stores; causal
// ones are dealt out so that all blocks have about as much. Results are rescaled only if the largest score
// has risen by much; until then weights may exceed 1, which does no harm.
//
// Needs: sm_90a
#include "bf16.cuh"
#include "hopper.cuh"

using namespace hopper;

constexpr int consumers = 2, threads = (1 + consumers) * 128;
constexpr int queries = consumers * 64;  // per block, at a time
constexpr int keys = 128;                // per tile
constexpr int stages = 2;                // tiles of K, and as many of V
constexpr float allowed = 8;             // a weight is at most 2 to this power

/// The shared memory of a block. A tile is boxes of 64 columns, side by side.
template <int d>
struct alignas(1024) Tiles {
    bf16 q[d / 64][queries][64], k[stages][d / 64][keys][64], v[stages][d / 64][keys][64];
    Barrier full_q, empty_q, full_k[stages], full_v[stages], empty_k[stages], empty_v[stages];
};

/// The stages in turn. A barrier is in its first phase in the first round, of parity 0, and so on.
struct Stage {
    int index = 0, parity = 0;
    __device__ void operator++() {
        if (++index == stages) index = 0, parity ^= 1;
    }
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

/// The work of a block at a time: some queries of a head, and the tiles of keys that they see.
struct Work {
    int head, first_query, tiles;
};

/// Returns the number of the tile that the block computes in this round. The tiles of queries of all heads
/// are numbered together.
__device__ int number_in(int round, bool causal) {
    // kata: begin
    // Causal tiles are numbered from the longest to the shortest. In every other round they are dealt the
    // other way, so that no block has the longest one each time.
    const int block = causal && round % 2 ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
    return round * gridDim.x + block;
    // kata: end
}

/// Returns the work that has this number.
__device__ Work work_of(int number, int heads, int n, bool causal) {
    // kata: begin
    const int in_head = ceil_div(n, queries);
    // If all are equally long, blocks that run together share few heads, whose keys the L2 cache has.
    if (!causal) return {number / in_head, number % in_head * queries, ceil_div(n, keys)};
    // The last queries of all heads are the longest.
    const int first_query = (in_head - 1 - number / heads) * queries;
    return {number % heads, first_query, ceil_div(min(first_query + queries, n), keys)};
    // kata: end
}

template <int d>
__global__ void __launch_bounds__(threads, 1)
    products_ahead(const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k,
                   const __grid_constant__ CUtensorMap v, float* out, int heads, int n, bool causal) {
    // kata: begin
    alignas(1024) extern __shared__ unsigned char memory[];
    Tiles<d>& s = reinterpret_cast<Tiles<d>&>(memory);
    if (threadIdx.x == 0) {
        init(s.full_q, 1), init(s.empty_q, consumers);
        for (int i = 0; i < stages; ++i) {
            init(s.full_k[i], 1), init(s.full_v[i], 1);
            init(s.empty_k[i], consumers), init(s.empty_v[i], consumers);
        }
        publish_barriers();
    }
    __syncthreads();
    const int all = ceil_div(n, queries) * heads;
    Stage of_k, of_v;

    if (threadIdx.x < 128) {
        give_registers<40>();
        if (threadIdx.x != 0) return;
        for (int round = 0, number; (number = number_in(round, causal)) < all; ++round) {
            const auto [head, first_query, tiles] = work_of(number, heads, n, causal);
            wait(s.empty_q, round % 2 ^ 1);
            fetch_tile(s.q, q, head, first_query, s.full_q);
            // In the order of use: the keys of a tile come before the values of the tile before.
            for (int tile = 0; tile <= tiles; ++tile) {
                if (tile < tiles) {
                    wait(s.empty_k[of_k.index], of_k.parity ^ 1);
                    fetch_tile(s.k[of_k.index], k, head, tile * keys, s.full_k[of_k.index]);
                    ++of_k;
                }
                if (tile > 0) {
                    wait(s.empty_v[of_v.index], of_v.parity ^ 1);
                    fetch_tile(s.v[of_v.index], v, head, (tile - 1) * keys, s.full_v[of_v.index]);
                    ++of_v;
                }
            }
        }
    } else {
        take_registers<232>();
        const int consumer = threadIdx.x / 128 - 1, t = threadIdx.x % 128;
        constexpr float to_log2 = scale<d> * 1.44269504f;
        for (int round = 0, number; (number = number_in(round, causal)) < all; ++round) {
            const auto [head, first_of_block, tiles] = work_of(number, heads, n, causal);
            const int first_query = first_of_block + consumer * 64;
            const int query = first_query + t / 32 * 16 + t % 32 / 4, column = t % 4 * 2;
            // From this tile on, some query does not see some key.
            const int first_masked = causal ? min(n, first_query + 1) / keys : n / keys;
            hopper::Sum<keys> score;  // and, after the softmax, the weights
            hopper::Sum<d> o = {};
            Pairs weights[keys / 16];
            float largest[2] = {-INFINITY, -INFINITY}, sum[2] = {}, factor[2];

            const auto begin_scores = [&] {
                const uint64_t a = tile_of_a(s.q[0][consumer * 64]), b = tile_of_a(s.k[of_k.index]);
                begin_products();
#pragma unroll
                for (int i = 0; i < d / 16; ++i)
                    multiply_transposed(score, a + i / 4 * (sizeof s.q[0] / 16) + i % 4 * 2,
                                        b + i / 4 * (sizeof s.k[0][0] / 16) + i % 4 * 2, i > 0);
                end_products();
            };
            const auto begin_results = [&] {
                const uint64_t b = tile_of_b(s.v[of_v.index], sizeof s.v[0][0]);
                begin_products();
#pragma unroll
                for (int i = 0; i < keys / 16; ++i) multiply(o, weights[i], b + i * 128);
                end_products();
            };
            const auto softmax = [&](int tile) {
                if (tile >= first_masked)
#pragma unroll
                    for (int i = 0; i < keys / 2; ++i) {
                        const int key = tile * keys + i / 4 * 8 + column + i % 2;
                        if (key >= n || (causal && key > query + i / 2 % 2 * 8)) score[i] = -INFINITY;
                    }
#pragma unroll
                for (int h = 0; h < 2; ++h) {
                    float found = largest[h];
#pragma unroll
                    for (int i = 2 * h; i < keys / 2; i += 4)
                        found = fmaxf(found, fmaxf(score[i], score[i + 1]));
                    found = fmaxf(found, __shfl_xor_sync(~0u, found, 1));
                    found = fmaxf(found, __shfl_xor_sync(~0u, found, 2));
                    // Numerator and denominator may be relative to any number, if no weight is too large.
                    if ((found - largest[h]) * to_log2 < allowed) found = largest[h];
                    factor[h] = power_of_two((largest[h] - found) * to_log2);
                    largest[h] = found;
                    const float shift = found * to_log2;
                    float added = 0;
#pragma unroll
                    for (int i = 2 * h; i < keys / 2; i += 4) {
                        score[i] = power_of_two(score[i] * to_log2 - shift);
                        score[i + 1] = power_of_two(score[i + 1] * to_log2 - shift);
                        added += score[i];
                        added += score[i + 1];
                    }
                    sum[h] = sum[h] * factor[h] + added;
                }
            };
            const auto round_weights = [&] {
#pragma unroll
                for (int i = 0; i < keys / 4; ++i)
                    weights[i / 4][i % 4] = pair(score[2 * i], score[2 * i + 1]);
            };

            wait(s.full_q, round % 2);
            wait(s.full_k[of_k.index], of_k.parity);
            begin_scores();
            wait_products<0>(score);
            release(s.empty_k[of_k.index]);
            if (tiles == 1) release(s.empty_q);
            ++of_k;
            softmax(0);
            round_weights();
            if (tiles > 1) wait(s.full_k[of_k.index], of_k.parity);
            for (int tile = 1; tile < tiles; ++tile) {
                begin_scores();
                wait(s.full_v[of_v.index], of_v.parity);
                begin_results();          // results of the tile before
                wait_products<1>(score);  // all but the results
                release(s.empty_k[of_k.index]);
                if (tile == tiles - 1) release(s.empty_q);
                ++of_k;
                softmax(tile);
                // Waits for the next tile here, because nvcc moves nothing across the loop of a wait. Without
                // it, nvcc would compute weights after wait_products<0>(), when nothing is multiplied.
                if (tile + 1 < tiles) wait(s.full_k[of_k.index], of_k.parity);
                wait_products<0>(o);
                release(s.empty_v[of_v.index]);
                ++of_v;
                if (__any_sync(~0u, factor[0] != 1 || factor[1] != 1))
#pragma unroll
                    for (int i = 0; i < d / 2; ++i) o[i] *= factor[i / 2 % 2];
                round_weights();
            }
            wait(s.full_v[of_v.index], of_v.parity);
            begin_results();
            wait_products<0>(o);
            release(s.empty_v[of_v.index]);
            ++of_v;

#pragma unroll
            for (int h = 0; h < 2; ++h) {
                for (int stride = 2; stride > 0; stride /= 2) sum[h] += __shfl_xor_sync(~0u, sum[h], stride);
                if (query + 8 * h >= n) continue;
                float* const row = out + (size_t{1} * head * n + query + 8 * h) * d + column;
                const float share = 1 / sum[h];
#pragma unroll
                for (int i = 2 * h; i < d / 2; i += 4)
                    *reinterpret_cast<float2*>(row + i / 4 * 8) = float2{o[i] * share, o[i + 1] * share};
            }
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
    int device, multiprocessors;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    const int blocks = min(multiprocessors, ceil_div(n, queries) * heads);
    constexpr int bytes = sizeof(Tiles<d>);
    check(cudaFuncSetAttribute(products_ahead<d>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    products_ahead<d><<<blocks, threads, bytes>>>(map_q, map_k, map_v, out, heads, n, causal);
    check(cudaGetLastError());
    // kata: end
}

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
    // Store the block's queries, times scale<d>, to q_s. For each tile of keys: load K into kv_s, and compute
    // one score for each lane and each of the warp's queries. Those beyond n, and those that the query does
    // not see, are -infinity. Shuffles give all lanes the largest score of the tile. When the largest so far
    // rises, sum and O are multiplied by exp(old - new). Then load V into kv_s, and add up the weighted rows:
    // a lane has columns lane, lane + 32, … of O, and gets the weight of each key from the lane that has it.
    // In the end divide by the sum. Four barriers a tile: what does each of them wait for?
    kata::open();
    // kata: end
}

template <int d>
void attend(const float* q, const float* k, const float* v, float* out, int heads, int n, bool causal) {
    // kata: begin
    // A block for each 32 queries of each head.
    // Also required: from 0 to 65535 heads, any n from 0 on, with or without `causal`; q, k and v are only
    // read.
    kata::open();
    // kata: end
}

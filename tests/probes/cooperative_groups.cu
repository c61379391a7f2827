// Cooperative groups of a block, of tiles and of lanes that are at the same place.
#include "kata.hpp"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

struct Best {
    float2 place;
    int index;
};

__device__ int sum_of(cg::thread_group group, int* scratch, int value) {
    for (int i = group.size() / 2; i > 0; i /= 2) {
        scratch[group.thread_rank()] = value;
        group.sync();
        if (group.thread_rank() < i) value += scratch[group.thread_rank() + i];
        group.sync();
    }
    return value;
}

template <unsigned size>
__device__ float sum_of(const cg::thread_block_tile<size>& tile, float value) {
    for (int i = tile.size() / 2; i > 0; i /= 2) value += tile.shfl_down(value, i);
    return value;
}

__global__ void k(float* out, int* numbers, double* doubles) {
    __shared__ int scratch[64];
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    cg::thread_block_tile<8> eight = cg::tiled_partition<8>(block);
    auto four = cg::tiled_partition<4>(warp);
    cg::thread_group sixteen = cg::tiled_partition(block, 16);
    const unsigned i = block.thread_rank() + block.group_index().x * block.size() + block.thread_index().y;
    numbers[i] = sum_of(block, scratch, i) + sum_of(cg::tiled_partition<32>(block), scratch, i) + sum_of(sixteen, scratch, i);
    out[i] = sum_of<32>(warp, 1.0f) + sum_of(eight, 1.0f) + four.meta_group_rank() + warp.meta_group_size();
    out[i] += warp.shfl(out[i], 3) + warp.shfl_up(out[i], 1) + warp.shfl_xor(out[i], 16) + four.shfl(make_float4(1, 2, 3, 4), 1).x;
    out[i] += warp.shfl(Best{{out[i], 1}, 2}, 3).place.y;
    if (warp.any(i == 3) && !warp.all(i > 3)) numbers[i] += warp.ballot(i % 2) + warp.match_any(numbers[i]);
    int all = 0;
    numbers[i] += warp.match_all(3, all) + all;
    cg::sync(block);
    block.sync();
    warp.sync();
    out[i] += cg::reduce(warp, out[i], cg::plus<float>()) + cg::reduce(eight, out[i], cg::greater<float>());
    numbers[i] += cg::reduce(warp, numbers[i], cg::less<int>()) + cg::reduce(four, numbers[i], cg::bit_or<int>());
    doubles[i] = cg::inclusive_scan(warp, doubles[i], cg::plus<double>()) + cg::exclusive_scan(warp, doubles[i]);
    numbers[i] += cg::inclusive_scan(eight, numbers[i]) + cg::reduce(warp, numbers[i], [](int a, int b) { return a ^ b; });
    if (i % 3 == 0) {
        auto active = cg::coalesced_threads();
        if (active.thread_rank() == 0) numbers[i] = active.size() + active.num_threads();
        numbers[i] += active.shfl(numbers[i], 0) + active.shfl_down(i, 1) + active.ballot(i == 6) + cg::reduce(active, 1, cg::plus<int>());
        auto part = cg::tiled_partition(active, 2);
        part.sync();
    }
    auto halves = cg::binary_partition(warp, i % 2 == 0);
    auto labeled = cg::labeled_partition(warp, static_cast<int>(i % 3));
    numbers[i] += halves.size() + labeled.size();
    auto grid = cg::this_grid();
    out[i] += grid.thread_rank() + grid.size() + grid.num_blocks() + grid.block_rank() + grid.block_index().x;
}
void f(float* out, int* numbers, double* doubles) { k<<<2, 64>>>(out, numbers, doubles); }

// Cooperative groups.
#include "kata.hpp"
#include "kernels.hpp"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

namespace kernels {

__global__ void group_ranks_kernel(unsigned* out) {
    const auto block = cg::this_thread_block();
    const auto eight = cg::tiled_partition<8>(block);
    const auto four = cg::tiled_partition<4>(eight);
    unsigned* mine = out + 8 * block.thread_rank();
    mine[0] = block.thread_rank(), mine[1] = block.size();
    mine[2] = eight.thread_rank(), mine[3] = eight.meta_group_rank(), mine[4] = eight.meta_group_size();
    mine[5] = four.thread_rank(), mine[6] = four.meta_group_rank(), mine[7] = four.meta_group_size();
}
void group_ranks(unsigned* out, dim3 block) { group_ranks_kernel<<<1, block>>>(out); }

template <unsigned size>
__global__ void tile_shuffle_kernel(Tile_shuffle kind, unsigned argument, const int* in, int* out) {
    const auto tile = cg::tiled_partition<size>(cg::this_thread_block());
    const int t = threadIdx.x, value = in[t];
    switch (kind) {
        case Tile_shuffle::index:
            out[t] = tile.shfl(value, argument);
            break;
        case Tile_shuffle::up:
            out[t] = tile.shfl_up(value, argument);
            break;
        case Tile_shuffle::down:
            out[t] = tile.shfl_down(value, argument);
            break;
        case Tile_shuffle::exclusive_or:
            out[t] = tile.shfl_xor(value, argument);
            break;
    }
}
void tile_shuffle(Tile_shuffle kind, int size, unsigned argument, const int* in, int* out) {
    const auto kernel = size == 1    ? tile_shuffle_kernel<1>
                        : size == 2  ? tile_shuffle_kernel<2>
                        : size == 4  ? tile_shuffle_kernel<4>
                        : size == 8  ? tile_shuffle_kernel<8>
                        : size == 16 ? tile_shuffle_kernel<16>
                                     : tile_shuffle_kernel<32>;
    kernel<<<1, 64>>>(kind, argument, in, out);
}
__global__ void warp_shuffle_kernel(const int* in, int* out) {
    out[threadIdx.x] = __shfl_down_sync(~0u, in[threadIdx.x], 3, 8);
}
void warp_shuffle(const int* in, int* out) { warp_shuffle_kernel<<<1, 64>>>(in, out); }

__global__ void wide_shuffle_kernel(double* out) {
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const double t = threadIdx.x;
    const double4 next = warp.shfl_xor(make_double4(t, -t, 2 * t, 0.5), 1);
    double* mine = out + 4 * threadIdx.x;
    mine[0] = next.x, mine[1] = next.y, mine[2] = next.z, mine[3] = next.w;
}
void wide_shuffle(double* out) { wide_shuffle_kernel<<<1, 32>>>(out); }

template <unsigned size>
__global__ void tile_reduce_kernel(const int* in, int* out, float* sums) {
    const auto tile = cg::tiled_partition<size>(cg::this_thread_block());
    const int t = threadIdx.x, value = in[t];
    out[6 * t] = cg::reduce(tile, value, cg::plus<int>());
    out[6 * t + 1] = cg::reduce(tile, value, cg::less<int>());
    out[6 * t + 2] = cg::reduce(tile, value, cg::greater<int>());
    out[6 * t + 3] = cg::reduce(tile, value, cg::bit_and<int>());
    out[6 * t + 4] = cg::reduce(tile, value, cg::bit_or<int>());
    out[6 * t + 5] = cg::reduce(tile, value, cg::bit_xor<int>());
    sums[t] = cg::reduce(tile, 0.5f * value, cg::plus<float>());
}
void tile_reduce(int size, const int* in, int* out, float* sums) {
    const auto kernel = size == 2    ? tile_reduce_kernel<2>
                        : size == 16 ? tile_reduce_kernel<16>
                                     : tile_reduce_kernel<32>;
    kernel<<<1, 64>>>(in, out, sums);
}

__device__ int2 compose(int2 newer, int2 older) { return {older.x * newer.x, older.y * newer.x + newer.y}; }

__global__ void group_scan_kernel(bool coalesced, const int2* in, int2* inclusive, int2* exclusive) {
    const int t = threadIdx.x;
    const auto both = [&](const auto& group) {
        inclusive[t] = cg::inclusive_scan(group, in[t], [](int2 a, int2 b) { return compose(a, b); });
        exclusive[t] = cg::exclusive_scan(group, in[t], [](int2 a, int2 b) { return compose(a, b); });
    };
    if (!coalesced)
        both(cg::tiled_partition<8>(cg::this_thread_block()));
    else if (t % 3 == 0)
        both(cg::coalesced_threads());
}
void group_scan(bool coalesced, const int2* in, int2* inclusive, int2* exclusive) {
    group_scan_kernel<<<1, 32>>>(coalesced, in, inclusive, exclusive);
}

__global__ void lanes_together_kernel(unsigned mask, int* out) {
    const int t = threadIdx.x;
    if (!(mask >> t & 1)) return;
    const auto group = cg::coalesced_threads();
    out[4 * t] = group.thread_rank();
    out[4 * t + 1] = group.shfl(100 + t, group.size() - 1);
    out[4 * t + 2] = group.ballot(group.thread_rank() % 2);
    out[4 * t + 3] = cg::reduce(group, t, cg::plus<int>());
}
void lanes_together(unsigned mask, int* out) { lanes_together_kernel<<<1, 32>>>(mask, out); }

__global__ void tile_with_absent_lane_kernel(int* out) {
    const auto tile = cg::tiled_partition<4>(cg::this_thread_block());
    if (tile.thread_rank() < 3)
        out[threadIdx.x] = tile.shfl_down(static_cast<int>(threadIdx.x), 1);  // mark: absent lane
    __syncthreads();
}
void tile_with_absent_lane(int* out) { tile_with_absent_lane_kernel<<<1, 32>>>(out); }

__device__ int sum_of(cg::thread_group group, int* scratch, int value) {
    const unsigned rank = group.thread_rank();
    for (unsigned i = group.size() / 2; i > 0; i /= 2) {
        scratch[rank] = value;
        group.sync();
        if (rank < i) value += scratch[rank + i];
        group.sync();
    }
    return value;
}
__global__ void reduce_through_group_kernel(const int* in, int* out) {
    __shared__ int scratch[128];
    const auto block = cg::this_thread_block();
    const auto sixteen = cg::tiled_partition(block, 16);
    const int t = threadIdx.x;
    const int whole = sum_of(block, scratch, in[t]);
    const int part = sum_of(sixteen, scratch + 64 + t / 16 * 16, in[t]);
    out[t] = t % 16 != 0 ? 0 : t == 0 ? whole : part;
}
void reduce_through_group(const int* in, int* out) { reduce_through_group_kernel<<<1, 64>>>(in, out); }

__global__ void group_barrier_kernel(bool divergent, int* out) {
    __shared__ int s[64];
    const auto block = cg::this_thread_block();
    s[threadIdx.x] = threadIdx.x;
    if (!divergent || threadIdx.x < 10) block.sync();  // mark: barrier of a group
    out[threadIdx.x] = s[63 - threadIdx.x];
}
void group_barrier(bool divergent, int* out) { group_barrier_kernel<<<1, 64>>>(divergent, out); }

__global__ void grid_barrier_kernel() { cg::this_grid().sync(); }  // mark: barrier of the grid
void grid_barrier() { grid_barrier_kernel<<<1, 1>>>(); }

}  // namespace kernels

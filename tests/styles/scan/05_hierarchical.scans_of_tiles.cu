// One element a thread, and the library's functions for everything within a warp: the first tile scans the
// sums of the tiles.
#include "whole.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

constexpr int section = 1024;  // elements and threads

template <class T, class Op>
__global__ void scan_each_section(const T* in, T* out, int n, Kind kind, T* sums, Op op) {
    __shared__ T of_tiles[32];
    const auto block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<32>(block);
    // The library passes the value from further left as the second operand.
    const auto in_order = [op](T later, T earlier) { return op(earlier, later); };
    const int i = blockIdx.x * section + threadIdx.x, from = i - (kind == Kind::exclusive);
    T sum = cg::inclusive_scan(tile, from >= 0 && from < n ? in[from] : op.identity(), in_order);
    if (tile.thread_rank() == 31) of_tiles[tile.meta_group_rank()] = sum;
    block.sync();
    if (tile.meta_group_rank() == 0)
        of_tiles[tile.thread_rank()] = cg::inclusive_scan(tile, of_tiles[tile.thread_rank()], in_order);
    block.sync();
    if (tile.meta_group_rank() > 0) sum = op(of_tiles[tile.meta_group_rank() - 1], sum);
    if (i < n) out[i] = sum;
    if (threadIdx.x == section - 1) sums[blockIdx.x] = sum;
}

template <class T, class Op>
__global__ void add_sums(T* out, int n, const T* sums, Op op) {
    const int i = (blockIdx.x + 1) * section + threadIdx.x;
    if (i < n) out[i] = op(sums[blockIdx.x], out[i]);
}

template <class T, class Op>
void scan_whole(const T* in, T* out, int n, Kind kind, T* workspace, Op op) {
    if (n == 0) return;
    const int sections = ceil_div(n, section);
    T* const sums = workspace;
    scan_each_section<<<sections, section>>>(in, out, n, kind, sums, op);
    check(cudaGetLastError());
    if (sections == 1) return;
    scan_whole(sums, sums, sections, Kind::inclusive, workspace + sections, op);
    add_sums<<<sections - 1, section>>>(out, n, sums, op);
    check(cudaGetLastError());
}

// Tiles scan the sums of their threads by the library's function, and the block adds the sums of the tiles
// before: usual since CUDA 11.
#include "whole.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

constexpr int threads = 256, each = 4;
constexpr int section = threads * each;

template <class T, class Op>
__global__ void scan_each_section(const T* in, T* out, int n, Kind kind, T* sums, Op op) {
    __shared__ T x[section + section / 32], of_tiles[threads / 32];
    const cg::thread_block block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<32>(block);
    const int t = block.thread_rank(), first = block.group_index().x * section;
    const auto place = [](int e) { return e + e / 32; };
    for (int e = t; e < section; e += threads) {
        const int i = first + e - (kind == Kind::exclusive);
        x[place(e)] = i >= 0 && i < n ? in[i] : op.identity();
    }
    block.sync();
    T* const mine = x + place(t * each);
    for (int k = 1; k < each; ++k) mine[k] = op(mine[k - 1], mine[k]);
    // The library passes the value from further left as the second operand.
    const T sum = cg::inclusive_scan(tile, mine[each - 1], [op](T later, T earlier) { return op(earlier, later); });
    if (tile.thread_rank() == tile.size() - 1) of_tiles[tile.meta_group_rank()] = sum;
    T before = tile.shfl_up(sum, 1);
    if (tile.thread_rank() == 0) before = op.identity();
    block.sync();
    for (int earlier = tile.meta_group_rank() - 1; earlier >= 0; --earlier) before = op(of_tiles[earlier], before);
    for (int k = 0; k < each; ++k) mine[k] = op(before, mine[k]);
    block.sync();
    for (int e = t; e < section; e += threads)
        if (first + e < n) out[first + e] = x[place(e)];
    if (t == threads - 1) sums[block.group_index().x] = mine[each - 1];
}

template <class T, class Op>
__global__ void add_sums(T* out, int n, const T* sums, Op op) {
    const int first = (blockIdx.x + 1) * section;
    for (int e = threadIdx.x; e < section; e += threads)
        if (first + e < n) out[first + e] = op(sums[blockIdx.x], out[first + e]);
}

template <class T, class Op>
void scan_whole(const T* in, T* out, int n, Kind kind, T* workspace, Op op) {
    if (n == 0) return;
    const int sections = ceil_div(n, section);
    T* const sums = workspace;
    scan_each_section<<<sections, threads>>>(in, out, n, kind, sums, op);
    check(cudaGetLastError());
    if (sections == 1) return;
    scan_whole(sums, sums, sections, Kind::inclusive, workspace + sections, op);
    add_sums<<<sections - 1, threads>>>(out, n, sums, op);
    check(cudaGetLastError());
}

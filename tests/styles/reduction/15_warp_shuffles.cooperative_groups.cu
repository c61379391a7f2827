// Tiles of a block are reduced by the library's function: as in NVIDIA's samples since CUDA 9.
#include "reduction.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

constexpr int block_dim = 512;
constexpr int elements = 8;

template <class T, class Op>
__global__ void reduce_tiles(const T* in, T* out, int n, Op op) {
    __shared__ T of_tiles[32];
    const cg::thread_block block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<32>(block);
    T value = op.identity();
    const long long first = (long long)block.group_index().x * elements * block.size() + block.thread_rank();
    for (int k = 0; k < elements; k++)
        if (first + k * block.size() < n) value = op(value, in[first + k * block.size()]);
    value = cg::reduce(tile, value, op);
    if (tile.thread_rank() == 0) of_tiles[tile.meta_group_rank()] = value;
    block.sync();
    if (tile.meta_group_rank() == 0) {
        value = tile.thread_rank() < tile.meta_group_size() ? of_tiles[tile.thread_rank()] : op.identity();
        value = cg::reduce(tile, value, op);
        if (tile.thread_rank() == 0) atomic_combine(out, value, op);
    }
}


template <class T, class Op>
void reduce(const T* in, T* out, int n, Op op) {
    const T identity = op.identity();
    check(cudaMemcpy(out, &identity, sizeof(T), cudaMemcpyHostToDevice));
    if (n == 0) return;
    reduce_tiles<<<ceil_div(n, elements * block_dim), block_dim>>>(in, out, n, op);
    check(cudaGetLastError());
}

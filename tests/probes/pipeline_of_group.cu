// Asynchronous copies into shared memory, by a group.
#include "kata.hpp"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline_primitives.h>
namespace cg = cooperative_groups;

__global__ void k(float* out, const float* in) {
    __shared__ float s[2][128];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, s[0], in, sizeof(float) * 128);
    cg::memcpy_async(block, s[1], 128, in + 128, 128);
    cg::wait_prior<1>(block);
    out[threadIdx.x] = s[0][127 - threadIdx.x];
    cg::wait(block);
    out[threadIdx.x] += s[1][127 - threadIdx.x];
    auto warp = cg::tiled_partition<32>(block);
    cg::memcpy_async(warp, &s[0][warp.meta_group_rank() * 32], in + 256, sizeof(float) * 32);
    cg::wait(warp);
    __pipeline_memcpy_async(&s[1][threadIdx.x], in, 4, 4);
}
void f(float* out, const float* in) { k<<<1, 128>>>(out, in); }

// The row is kept in shared memory instead of registers, so that no loop need be unrolled and no row be shorter than
// a template says. Usual where a row may be longer than registers hold; a row of 16384 needs more than 48 KiB.
#include "softmax.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__device__ float block_reduce(float x, bool max) {
    __shared__ float of_warp[32];
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const auto combine = [&](float y) {
        return max ? cg::reduce(warp, y, cg::greater<float>()) : cg::reduce(warp, y, cg::plus<float>());
    };
    x = combine(x);
    __syncthreads();  // all have read the last result
    if (warp.thread_rank() == 0) of_warp[warp.meta_group_rank()] = x;
    __syncthreads();
    return combine(warp.thread_rank() < warp.meta_group_size() ? of_warp[warp.thread_rank()] : max ? -INFINITY : 0.f);
}

__global__ void softmax_smem(const float* in, float* out, int C) {
    extern __shared__ float row[];
    in += (size_t)blockIdx.x * C;
    out += (size_t)blockIdx.x * C;

    float maxval = -INFINITY;
    for (int i = threadIdx.x; i < C; i += blockDim.x) {
        row[i] = in[i];
        maxval = fmaxf(maxval, row[i]);
    }
    maxval = block_reduce(maxval, true);

    float sum = 0.f;
    for (int i = threadIdx.x; i < C; i += blockDim.x) sum += row[i] = __expf(row[i] - maxval);
    sum = block_reduce(sum, false);

    for (int i = threadIdx.x; i < C; i += blockDim.x) out[i] = row[i] / sum;
}

void softmax(const float* in, float* out, int rows, int columns) {
    if (rows == 0 || columns == 0) return;
    const int bytes = columns * sizeof(float);
    check(cudaFuncSetAttribute(softmax_smem, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    softmax_smem<<<rows, 256, bytes>>>(in, out, columns);
    check(cudaGetLastError());
}

// cuda::barrier and cuda::pipeline, as the examples of the manual use them.
#include "kata.hpp"

#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>

__global__ void at_barrier(float* out, const float* in) {
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ float s[128];
    auto block = cooperative_groups::this_thread_block();
    if (block.thread_rank() == 0) init(&barrier, block.size());
    block.sync();
    cuda::memcpy_async(block, s, in, sizeof(float) * block.size(), barrier);
    barrier.arrive_and_wait();
    out[threadIdx.x] = s[127 - threadIdx.x];
    cuda::barrier<cuda::thread_scope_block>::arrival_token token = barrier.arrive();
    out[threadIdx.x] += s[threadIdx.x];
    barrier.wait(static_cast<decltype(token)&&>(token));
}
template <int stages>
__global__ void in_stages(float* out, const float* in, int batches) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    extern __shared__ float tiles[];
    auto block = cooperative_groups::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    const auto shape = cuda::aligned_size_t<4>(sizeof(float) * block.size());
    for (int done = 0, asked = 0; done < batches; ++done) {
        for (; asked < batches && asked < done + stages; ++asked) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, tiles + asked % stages * block.size(), in + asked * block.size(), shape,
                               pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        out[threadIdx.x] += tiles[done % stages * block.size() + block.size() - 1 - threadIdx.x];
        pipeline.consumer_release();
    }
}
__global__ void by_roles(float* out, const float* in) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ float s[32];
    const auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipeline = cuda::make_pipeline(cooperative_groups::this_thread_block(), &state, role);
    if (role == cuda::pipeline_role::producer) {
        pipeline.producer_acquire();
        cuda::memcpy_async(&s[threadIdx.x], &in[threadIdx.x], sizeof(float), pipeline);
        pipeline.producer_commit();
    } else {
        pipeline.consumer_wait();
        out[threadIdx.x] = s[63 - threadIdx.x];
        pipeline.consumer_release();
    }
}
__global__ void by_thread(float* out, const float* in) {
    __shared__ float s[32];
    cuda::pipeline<cuda::thread_scope_thread> pipeline = cuda::make_pipeline();
    pipeline.producer_acquire();
    cuda::memcpy_async(&s[threadIdx.x], &in[threadIdx.x], sizeof(float), pipeline);
    pipeline.producer_commit();
    cuda::pipeline_consumer_wait_prior<0>(pipeline);
    out[threadIdx.x] = s[threadIdx.x];
    pipeline.consumer_release();
}
void f(float* out, const float* in) {
    at_barrier<<<1, 128>>>(out, in);
    in_stages<2><<<1, 128, 1024>>>(out, in, 9);
    by_roles<<<1, 64>>>(out, in);
    by_thread<<<1, 32>>>(out, in);
}

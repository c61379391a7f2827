// Asynchronous copies.
#include "kata.hpp"
#include "kernels.hpp"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

namespace kernels {

__global__ void copies_ahead_kernel(const int* in, int* out, int groups) {
    __shared__ int s[2][32];
    const unsigned t = threadIdx.x;
    for (int i = 0; i < 2; ++i) {
        __pipeline_memcpy_async(&s[i][t], &in[32 * i + t], sizeof(int));
        __pipeline_commit();
    }
    __pipeline_wait_prior(groups);
    out[t] = s[0][t];
    __pipeline_wait_prior(0);
    out[32 + t] = s[1][t];
}
void copies_ahead(const int* in, int* out, int groups) { copies_ahead_kernel<<<1, 32>>>(in, out, groups); }

__global__ void copy_reversed_kernel(Wait wait, const int* in, int* out) {
    __shared__ int s[2][32];
    const int t = threadIdx.x;
    for (int half = 0; half < 2; ++half) {
        if (t / 32 == half) __pipeline_memcpy_async(&s[half][t % 32], &in[t], 4);  // mark: copy
        if (wait != Wait::no_commit) __pipeline_commit();
    }
    if (wait == Wait::barrier_first) __syncthreads();
    if (wait == Wait::too_few)
        __pipeline_wait_prior(1);
    else if (wait != Wait::none)
        __pipeline_wait_prior(0);
    if (wait != Wait::no_barrier && wait != Wait::barrier_first) __syncthreads();
    out[t] = s[1 - t / 32][31 - t % 32];  // mark: read of the copy
}
void copy_reversed(Wait wait, const int* in, int* out) { copy_reversed_kernel<<<1, 64>>>(wait, in, out); }

__global__ void copy_in_dynamic_kernel(const int* in, int* out) {
    extern __shared__ int dynamic_copy[];
    __pipeline_memcpy_async(&dynamic_copy[threadIdx.x], &in[threadIdx.x], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[threadIdx.x] = dynamic_copy[threadIdx.x];
}
void copy_in_dynamic(const int* in, int* out) { copy_in_dynamic_kernel<<<1, 64, 4096>>>(in, out); }

__global__ void copy_with_zeros_kernel(const int* in, int* out) {
    __shared__ int4 s[16];
    const int t = threadIdx.x;
    if (t < 16) __pipeline_memcpy_async(&s[t], &in[4 * t], 16, 4 * (t % 5));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = reinterpret_cast<int*>(s)[t];
}
void copy_with_zeros(const int* in, int* out) { copy_with_zeros_kernel<<<1, 64>>>(in, out); }

__global__ void copy_by_group_kernel(bool waits, const int* in, int* out) {
    __shared__ alignas(16) int s[64];
    const auto block = cg::this_thread_block();
    cg::memcpy_async(block, s, in, sizeof s);  // mark: copy of a group
    if (waits) cg::wait(block);
    out[threadIdx.x] = s[63 - threadIdx.x];  // mark: read of the group
}
void copy_by_group(bool waits, const int* in, int* out) { copy_by_group_kernel<<<1, 64>>>(waits, in, out); }

template <int stages, class Pipeline>
__device__ void copy_in_stages(Pipe pipe, const int* in, int* out, int batches, Pipeline& pipeline) {
    __shared__ alignas(16) int s[stages][64];
    const auto block = cg::this_thread_block();
    for (int done = 0, begun = 0; done < batches; ++done) {
        for (; begun < batches && begun < done + stages; ++begun) {
            pipeline.producer_acquire();  // mark: acquires a stage
            if (pipe == Pipe::of_thread)
                cuda::memcpy_async(&s[begun % stages][threadIdx.x], &in[64 * begun + threadIdx.x],
                                   sizeof(int), pipeline);
            else
                cuda::memcpy_async(block, s[begun % stages], &in[64 * begun],
                                   cuda::aligned_size_t<16>(sizeof s[0]), pipeline);
            pipeline.producer_commit();
        }
        if (pipe != Pipe::no_wait) pipeline.consumer_wait();
        if (pipe == Pipe::of_thread) __syncthreads();
        out[64 * done + threadIdx.x] = s[done % stages][63 - threadIdx.x];  // mark: reads a stage
        if (pipe == Pipe::of_thread) __syncthreads();
        if (pipe != Pipe::no_release) pipeline.consumer_release();
    }
}
template <int stages>
__global__ void through_pipeline_kernel(Pipe pipe, const int* in, int* out, int batches) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    auto pipeline = cuda::make_pipeline(cg::this_thread_block(), &state);
    copy_in_stages<stages>(pipe, in, out, batches, pipeline);
}
__global__ void through_pipeline_of_thread(const int* in, int* out, int batches) {
    auto pipeline = cuda::make_pipeline();
    copy_in_stages<2>(Pipe::of_thread, in, out, batches, pipeline);
}
void through_pipeline(Pipe pipe, const int* in, int* out, int batches) {
    if (pipe == Pipe::of_thread)
        through_pipeline_of_thread<<<1, 64>>>(in, out, batches);
    else if (pipe == Pipe::one_stage)
        through_pipeline_kernel<1><<<1, 64>>>(pipe, in, out, batches);
    else
        through_pipeline_kernel<2><<<1, 64>>>(pipe, in, out, batches);
}

__global__ void at_barrier_kernel(At_barrier how, const int* in, int* out) {
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ int s[32];
    const int t = threadIdx.x;
    if (t == 0) init(&barrier, how == At_barrier::too_many ? 65 : 64);
    __syncthreads();
    if (t < 32) {
        cuda::memcpy_async(&s[t], &in[t], sizeof(int), barrier);  // mark: arrives at the barrier
        (void)barrier.arrive();
    } else {
        auto token = barrier.arrive();
        if (how != At_barrier::no_wait) barrier.wait(std::move(token));  // mark: waits at the barrier
        out[t - 32] = s[63 - t];                                         // mark: reads behind the barrier
    }
}
void at_barrier(At_barrier how, const int* in, int* out) { at_barrier_kernel<<<1, 64>>>(how, in, out); }

__global__ void copy_badly_kernel(int bytes, const char* from, int* out) {
    __shared__ alignas(16) int s[8];
    int* const to = out ? out : s;
    __pipeline_memcpy_async(to, from, bytes);  // mark: bad copy
}
__global__ void copy_first_from_kernel(Copy_from from, bool by_group, const int* in, int* out) {
    __shared__ int s[2][32];
    const int t = threadIdx.x;
    int own = 7;
    s[0][t] = in[t];
    const int* const source = from == Copy_from::global   ? &in[t]
                              : from == Copy_from::shared ? &s[0][t]
                                                          : &own;
    if (by_group) {
        const auto alone = cg::tiled_partition<1>(cg::this_thread_block());
        cg::memcpy_async(alone, &s[1][t], source, sizeof(int));
        cg::wait(alone);
    } else {
        __pipeline_memcpy_async(&s[1][t], source, sizeof(int));  // mark: copies from
        __pipeline_commit();
        __pipeline_wait_prior(0);
    }
    out[t] = s[1][t];
}
void copy_first_from(Copy_from from, bool by_group, const int* in, int* out) {
    copy_first_from_kernel<<<1, 32>>>(from, by_group, in, out);
}
void copy_badly(int bytes, int offset, bool to_global, int* out) {
    copy_badly_kernel<<<1, 1>>>(bytes, reinterpret_cast<const char*>(out) + offset,
                                to_global ? out : nullptr);
}

__global__ void overwrite_copy_kernel(const int* in, int* out) {
    __shared__ int s[32];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &in[t], 4);  // mark: overwritten copy
    __pipeline_commit();
    s[t] = 1;  // mark: write before the copy
    __pipeline_wait_prior(0);
    out[t] = s[t];
}
void overwrite_copy(const int* in, int* out) { overwrite_copy_kernel<<<1, 32>>>(in, out); }

}  // namespace kernels

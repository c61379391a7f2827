// Atomics of libcu++.
#include "kata.hpp"
#include "kernels.hpp"

#include <cuda/atomic>

namespace kernels {

template <cuda::thread_scope scope>
__device__ void hand_over_by(cuda::memory_order store, cuda::memory_order load, int* data, int* flag,
                             int* out) {
    cuda::atomic_ref<int, scope> ready(*flag);
    if (blockIdx.x == 0) {
        data[threadIdx.x] = 7 * threadIdx.x;
        __syncthreads();
        if (threadIdx.x == 0) ready.store(1, store);
    } else {
        if (threadIdx.x == 0)
            while (ready.load(load) == 0) {
            }
        __syncthreads();
        out[threadIdx.x] = data[threadIdx.x];
    }
}
__global__ void hand_over_kernel(Handover how, int* data, int* flag, int* out) {
    using cuda::memory_order_relaxed;
    if (how == Handover::right)
        hand_over_by<cuda::thread_scope_device>(cuda::memory_order_release, cuda::memory_order_acquire, data,
                                                flag, out);
    else if (how == Handover::relaxed)
        hand_over_by<cuda::thread_scope_device>(memory_order_relaxed, memory_order_relaxed, data, flag, out);
    else if (how == Handover::of_block)
        hand_over_by<cuda::thread_scope_block>(cuda::memory_order_release, cuda::memory_order_acquire, data,
                                               flag, out);
    else if (blockIdx.x == 0 && threadIdx.x == 0)
        *flag = 1;
    else if (blockIdx.x == 1)
        out[threadIdx.x] = cuda::atomic_ref<int, cuda::thread_scope_device>(*flag).load(memory_order_relaxed);
}
void hand_over(Handover how, int* data, int* flag, int* out) {
    hand_over_kernel<<<2, 32>>>(how, data, flag, out);
}

__global__ void fetch_all_kernel(int* values, int* before) {
    const auto of = [&](int i) { return cuda::atomic_ref<int, cuda::thread_scope_device>(values[i]); };
    before[0] = of(0).fetch_add(5);
    before[1] = of(1).fetch_sub(5, cuda::memory_order_relaxed);
    before[2] = of(2).fetch_and(6);
    before[3] = of(3).fetch_or(6);
    before[4] = of(4).fetch_xor(6);
    before[5] = of(5).fetch_min(-6);
    before[6] = of(6).fetch_max(60);
    before[7] = of(7).exchange(9);
}
void fetch_all(int* values, int* before) { fetch_all_kernel<<<1, 1>>>(values, before); }

__global__ void count_in_block_kernel(int* out) {
    __shared__ int count;
    cuda::atomic_ref<int, cuda::thread_scope_block> counter(count);
    if (threadIdx.x == 0) counter.store(0, cuda::memory_order_relaxed);
    __syncthreads();
    counter.fetch_add(2, cuda::memory_order_relaxed);
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = counter.load(cuda::memory_order_relaxed);
}
void count_in_block(int* out) { count_in_block_kernel<<<3, 64>>>(out); }

__global__ void compare_and_swap_kernel(int* value) {
    cuda::atomic_ref<int, cuda::thread_scope_device> all(*value);
    int seen = all.load(cuda::memory_order_relaxed);
    while (!all.compare_exchange_weak(seen, seen + 3, cuda::memory_order_relaxed)) {
    }
}
void compare_and_swap(int* value, int n) { compare_and_swap_kernel<<<n, 32>>>(value); }

__global__ void atomic_traffic_kernel(unsigned long long* words) {
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> mine(words[threadIdx.x]);
    const auto value = mine.load(cuda::memory_order_relaxed);
    mine.store(value + 1, cuda::memory_order_relaxed);
    mine.fetch_add(1, cuda::memory_order_relaxed);
}
void atomic_traffic(unsigned long long* words) { atomic_traffic_kernel<<<1, 32>>>(words); }

}  // namespace kernels

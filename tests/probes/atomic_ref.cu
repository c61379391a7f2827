// Atomics with a scope and an order.
#include "kata.hpp"

#include <cuda/atomic>

struct Pair { int a, b; };
using Word = cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>;
__device__ cuda::atomic<int, cuda::thread_scope_device> counter;

__global__ void k(int* i, unsigned long long* u, float* x, Pair* pair) {
    __shared__ int s;
    cuda::atomic_ref<int, cuda::thread_scope_device> device(i[0]);
    cuda::atomic_ref<int> system(i[1]);
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    cuda::atomic_ref<int, cuda::thread_scope_block>(s).fetch_add(1, cuda::memory_order_relaxed);
    device.store(3, cuda::memory_order_release);
    while (device.load(cuda::memory_order_acquire) == 0) {}
    system.fetch_sub(1);
    system.fetch_and(7, cuda::std::memory_order_acq_rel);
    system.fetch_or(1);
    system.fetch_xor(2);
    system.fetch_min(2);
    system.fetch_max(5);
    i[2] = system.exchange(4) + ++system + system++ + (system += 2) + system;
    int expected = 3;
    if (!device.compare_exchange_strong(expected, 4, cuda::memory_order_acq_rel, cuda::memory_order_relaxed)) i[3] = expected;
    while (!device.compare_exchange_weak(expected, expected + 1)) {}
    Word(u[0]).store(7, cuda::memory_order_relaxed);
    cuda::atomic_ref<float, cuda::thread_scope_device>(x[0]).fetch_add(1.5f);
    cuda::atomic_ref<Pair, cuda::thread_scope_device> both(*pair);
    both.store(Pair{1, both.load().b});
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
    counter.fetch_add(1, cuda::memory_order_relaxed);
    i[4] = counter.load() + s;
}
void f(int* i, unsigned long long* u, float* x, Pair* pair) { k<<<1, 32>>>(i, u, x, pair); }

#include "kata.hpp"

// Every type that CUDA declares shuffles for.
template <class T>
__global__ void rotate(T* x) {
    x[threadIdx.x] = __shfl_sync(0xffffffffu, x[threadIdx.x], (threadIdx.x + 1) % 32) +
                     __shfl_up_sync(0xffffffffu, x[threadIdx.x], 1) +
                     __shfl_down_sync(0xffffffffu, x[threadIdx.x], 1) +
                     __shfl_xor_sync(0xffffffffu, x[threadIdx.x], 1);
}

template <class... T>
void launch_all(void* memory) {
    (rotate<<<1, 32>>>(static_cast<T*>(memory)), ...);
}

void f(void* memory) {
    launch_all<int, unsigned, long, unsigned long, long long, unsigned long long, float, double>(memory);
}

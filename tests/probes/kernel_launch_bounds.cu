// __launch_bounds__, wherever it may stand.
#include "kata.hpp"

constexpr int threads(int n) { return (n + 31) / 32 * 32; }
__global__ void __launch_bounds__(256, 2) k1(float* out) { out[0] = 1; }
__global__ __launch_bounds__(256) void k2(float* out) { out[0] = 1; }
__launch_bounds__(threads(250)) __global__ void k3(float* out) { out[0] = 1; }
template <int n> __global__ void __launch_bounds__((n > 32 ? n : 32)) k4(float* out) { out[0] = n; }
template <class T> __launch_bounds__(256) __global__ void k5(T* out) { out[0] = 1; }
void f(float* out) {
    k1<<<1, 2>>>(out);
    k2<<<1, 2>>>(out);
    k3<<<1, 2>>>(out);
    k4<64><<<1, 2>>>(out);
    k5<<<1, 2>>>(out);
}

// Shifts, comparisons and templates in the configuration and among the arguments.
#include "kata.hpp"

template <class T> struct Tile { static constexpr int width = 16; };
template <class T> struct Box { T value; };
template <class T> constexpr int doubled(T x) { return 2 * x; }
__global__ void k(float* out, int n) { out[threadIdx.x] = n; }

void f(float* out, int n) {
    k<<<n >> 4, 16>>>(out, n >> 2);
    k<<<1 << 4, n >> 2>>>(out, n << 2);
    k<<<(n >> 4), (16 << 1), n >> 2>>>(out, n);
    k<<<n < 3 ? 1 : 2, n > 4 ? 32 : 64>>>(out, n < 3);
    k<<<doubled<int>(n), Tile<Box<int>>::width>>>(out, doubled<int>(n) > 3);
    k<<<1, Tile<Box<Box<int>>>::width>>>(out, n >= 3 && n <= 5);
}

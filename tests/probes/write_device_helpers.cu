// Helpers of the device, of host and device, and as templates.
#include "kata.hpp"

__device__ __forceinline__ float square(float x) { return x * x; }
__host__ __device__ inline int index(int row, int column, int width) { return row * width + column; }
__host__ __device__ constexpr int both(int x) { return 2 * x; }
template <class T> __device__ T sum(const T* in, int n) { T s{}; for (int i = 0; i < n; ++i) s += in[i]; return s; }
__device__ float table[4] = {1, 2, 3, 4};
__device__ int counter;
__device__ __constant__ int offset = 3;
__global__ void k(float* out, int n) { out[index(0, n, 4)] = square(sum(out, n)) + table[n] + both(2) + offset; counter = n; }
void f(float* out, int n) { k<<<both(1), 2>>>(out, n); }

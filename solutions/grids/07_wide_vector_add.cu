// 07 Wide vector add: a thread adds four elements, which it loads and stores as one float4. Beyond the
// document. Changed from 01: 16 bytes an instruction instead of 4, so that a thread has four times as many
// bytes in flight, and a quarter of the threads and blocks is enough. The same bytes and sectors.
#include "grids.cuh"

constexpr int block = 256;  // threads
constexpr int wide = 4;     // elements of a thread

__global__ void wide_add(const float* a, const float* b, float* c, int n) {
    // kata: begin
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int first = wide * i;  // the first of the thread's elements
    // Tested as a difference: near the end of the longest vectors first + wide is more than an int holds.
    if (n - first >= wide) {
        // The arrays begin at a multiple of 256 bytes, as cudaMalloc returns them: so fours begin at a
        // multiple of 16.
        const float4 u = reinterpret_cast<const float4*>(a)[i], v = reinterpret_cast<const float4*>(b)[i];
        reinterpret_cast<float4*>(c)[i] = make_float4(u.x + v.x, u.y + v.y, u.z + v.z, u.w + v.w);
    } else {
        // Up to three elements at the end fill no float4.
        for (int k = first; k < n; ++k) c[k] = a[k] + b[k];
    }
    // kata: end
}

void vector_add(const float* a, const float* b, float* c, int n) {
    // kata: begin
    if (n == 0) return;
    wide_add<<<ceil_div(n, wide * block), block>>>(a, b, c, n);
    check(cudaGetLastError());
    // kata: end
}

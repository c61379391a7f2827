// The kernel has its own struct for packs of 16 bytes, two packs a thread, whose loads are in flight
// together, and the first threads of the grid for the rest: usual in libraries that choose the width at
// compile time.
#include "grids.cuh"

template <typename T, int N>
struct alignas(N * sizeof(T)) AlignedVector {
    T val[N];
};

template <int Threads, int Unroll>
__global__ void add_vectorized(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
    using Vec = AlignedVector<float, 4>;
    const int num_vecs = n / 4;
    const int base = blockIdx.x * Threads * Unroll + threadIdx.x;
    Vec va[Unroll], vb[Unroll];
#pragma unroll
    for (int u = 0; u < Unroll; u++) {
        const int v = base + u * Threads;
        if (v < num_vecs) {
            va[u] = reinterpret_cast<const Vec*>(a)[v];
            vb[u] = reinterpret_cast<const Vec*>(b)[v];
        }
    }
#pragma unroll
    for (int u = 0; u < Unroll; u++) {
        const int v = base + u * Threads;
        if (v < num_vecs) {
            Vec vc;
#pragma unroll
            for (int k = 0; k < 4; k++) vc.val[k] = va[u].val[k] + vb[u].val[k];
            reinterpret_cast<Vec*>(c)[v] = vc;
        }
    }
    if (base < n - 4 * num_vecs) c[4 * num_vecs + base] = a[4 * num_vecs + base] + b[4 * num_vecs + base];
}

void vector_add(const float* a, const float* b, float* c, int n) {
    if (n == 0) return;
    constexpr int threads = 128, unroll = 2;
    const int grid = (n - 1) / (4 * threads * unroll) + 1;
    add_vectorized<threads, unroll><<<grid, threads>>>(a, b, c, n);
    check(cudaGetLastError());
}

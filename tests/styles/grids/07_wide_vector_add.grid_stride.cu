// A grid of at most 16 blocks for each of 132 multiprocessors, a loop over float4, and one thread for the
// remaining elements: usual in application code.
#include "grids.cuh"

__global__ void vec4_add(float4 const* lhs, float4 const* rhs, float4* sum, size_t quads, int tail) {
    size_t const stride = size_t(gridDim.x) * blockDim.x;
    for (size_t q = size_t(blockIdx.x) * blockDim.x + threadIdx.x; q < quads; q += stride) {
        float4 l = lhs[q];
        float4 const r = rhs[q];
        l.x += r.x;
        l.y += r.y;
        l.z += r.z;
        l.w += r.w;
        sum[q] = l;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0)
        for (int k = 0; k < tail; ++k)
            reinterpret_cast<float*>(sum + quads)[k] =
                reinterpret_cast<float const*>(lhs + quads)[k] + reinterpret_cast<float const*>(rhs + quads)[k];
}

void vector_add(const float* a, const float* b, float* c, int n) {
    if (n <= 0) return;
    const int quads = n / 4, wanted = quads / 512 + 1;
    vec4_add<<<wanted < 16 * 132 ? wanted : 16 * 132, 512>>>((float4 const*)a, (float4 const*)b, (float4*)c, quads, n % 4);
    check(cudaGetLastError());
}

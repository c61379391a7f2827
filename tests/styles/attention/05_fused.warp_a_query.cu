// A square block of 32 x 32 threads: a warp has one query. K and V have an array each, in dynamic shared memory
// cut up by hand, and the weights pass through a third. Powers of two instead of exponentials. Usual where the
// kernel is derived from a tiled product.
#include "attention.cuh"

#define TILE 32

template <int d>
__global__ void flashForward(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V,
                             float* __restrict__ O, int N, bool causal) {
    extern __shared__ float smem[];
    float* Qs = smem;                // TILE x d
    float* Ks = Qs + TILE * d;       // TILE x (d + 1)
    float* Vs = Ks + TILE * (d + 1); // TILE x d
    float* Ps = Vs + TILE * d;       // TILE x TILE

    const int tx = threadIdx.x, ty = threadIdx.y;
    const int i = blockIdx.x * TILE + ty;
    const size_t base = (size_t)blockIdx.y * N * d;
    const float factor = scale<d> * 1.44269504f;  // log2(e)

    for (int c = tx; c < d; c += TILE) Qs[ty * d + c] = i < N ? Q[base + (size_t)i * d + c] : 0.0f;

    float m = -FLT_MAX, l = 0.0f, o[d / TILE];
    for (int c = 0; c < d / TILE; ++c) o[c] = 0.0f;

    for (int j0 = 0; j0 < N; j0 += TILE) {
        for (int c = tx; c < d; c += TILE) {
            const bool inside = j0 + ty < N;
            Ks[ty * (d + 1) + c] = inside ? K[base + (size_t)(j0 + ty) * d + c] : 0.0f;
            Vs[ty * d + c] = inside ? V[base + (size_t)(j0 + ty) * d + c] : 0.0f;
        }
        __syncthreads();

        float s = 0.0f;
        for (int c = 0; c < d; ++c) s = fmaf(Qs[ty * d + c], Ks[tx * (d + 1) + c], s);
        s *= factor;
        if (j0 + tx >= N || (causal && j0 + tx > i)) s = -INFINITY;

        float m_new = s;
        for (int offset = 16; offset > 0; offset >>= 1)
            m_new = fmaxf(m_new, __shfl_xor_sync(0xffffffff, m_new, offset));
        m_new = fmaxf(m, m_new);
        const float alpha = exp2f(m - m_new), p = exp2f(s - m_new);
        m = m_new;
        l = l * alpha + p;  // for this lane's keys
        Ps[ty * TILE + tx] = p;
        __syncwarp();

        for (int c = 0; c < d / TILE; ++c) {
            float acc = o[c] * alpha;
            for (int j = 0; j < TILE; ++j) acc = fmaf(Ps[ty * TILE + j], Vs[j * d + tx + c * TILE], acc);
            o[c] = acc;
        }
        __syncthreads();
    }
    for (int offset = 16; offset > 0; offset >>= 1) l += __shfl_xor_sync(0xffffffff, l, offset);
    if (i < N)
        for (int c = 0; c < d / TILE; ++c) O[base + (size_t)i * d + tx + c * TILE] = o[c] / l;
}

template <int d>
void attend(const float* q, const float* k, const float* v, float* out, int heads, int n, bool causal) {
    if (heads == 0 || n == 0) return;
    const int bytes = sizeof(float) * (3 * TILE * d + TILE + TILE * TILE);
    check(cudaFuncSetAttribute(flashForward<d>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    flashForward<d><<<dim3(ceil_div(n, TILE), heads), dim3(TILE, TILE), bytes>>>(q, k, v, out, n, causal);
    check(cudaGetLastError());
}

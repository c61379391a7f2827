// A thread has a query: its row of Q, its scores and its row of O are the thread's own, and no shuffle is needed.
// All lanes read the same element of K or V. Usual in short implementations of FlashAttention, where a tile has as
// many keys as a block has threads.
#include "attention.cuh"

constexpr int Br = 32, Bc = 32;

template <int d>
__global__ void flash_attention(const float* Q, const float* K, const float* V, float* O, int N, bool causal) {
    __shared__ float Kj[Bc][d], Vj[Bc][d];
    const int i = blockIdx.x * Br + threadIdx.x;
    const size_t head = (size_t)blockIdx.y * N * d;

    float q[d], o[d], m = -FLT_MAX, l = 0;
    for (int x = 0; x < d; x++) {
        q[x] = i < N ? Q[head + (size_t)i * d + x] : 0;
        o[x] = 0;
    }

    for (int j = 0; j < N; j += Bc) {
        const int rows = min(Bc, N - j);
        __syncthreads();
        for (int x = threadIdx.x; x < rows * d; x += Br) {
            Kj[x / d][x % d] = K[head + (size_t)j * d + x];
            Vj[x / d][x % d] = V[head + (size_t)j * d + x];
        }
        __syncthreads();

        for (int y = 0; y < rows; y++) {
            float s = 0;
            for (int x = 0; x < d; x++) s += q[x] * Kj[y][x];
            s *= scale<d>;
            if (causal && j + y > i) continue;
            const float m_new = fmaxf(m, s), alpha = expf(m - m_new), p = expf(s - m_new);
            l = l * alpha + p;
            for (int x = 0; x < d; x++) o[x] = o[x] * alpha + p * Vj[y][x];
            m = m_new;
        }
    }
    if (i < N)
        for (int x = 0; x < d; x++) O[head + (size_t)i * d + x] = o[x] / l;
}

template <int d>
void attend(const float* q, const float* k, const float* v, float* out, int heads, int n, bool causal) {
    if (heads == 0 || n == 0) return;
    flash_attention<d><<<dim3(ceil_div(n, Br), heads), Br>>>(q, k, v, out, n, causal);
    check(cudaGetLastError());
}

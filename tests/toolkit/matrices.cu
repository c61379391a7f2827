// Halves and tensor cores.
#include "kata.hpp"
#include "kernels.hpp"

#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

namespace kernels {

__global__ void halves_kernel(const half2* in, half* sums, float* out) {
    const int t = threadIdx.x;
    const half2 pair = __ldg(&in[t]), neighbour = __shfl_xor_sync(~0u, pair, 1);
    const half2 sum = __hfma2(pair, __float2half2_rn(2.0f), __float2half2_rn(1.0f));
    atomicAdd(&sums[0], pair.x);
    atomicAdd(&sums[1], half(1));
    out[2 * t] = __low2float(neighbour);
    out[2 * t + 1] = __half2float(sum.y);
}
void halves(const unsigned short* in, unsigned short* sums, float* out) {
    halves_kernel<<<1, 32>>>(reinterpret_cast<const half2*>(in), reinterpret_cast<half*>(sums), out);
}

// Tensor cores.

namespace wmma = nvcuda::wmma;

template <class A, class B>
__global__ void multiply_halves_kernel(wmma::layout_t layout, const half* a, const half* b, float* c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, A> f;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, B> g;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::load_matrix_sync(sum, c, 16, layout);
    wmma::load_matrix_sync(f, a, 16);
    wmma::load_matrix_sync(g, b, 16);
    wmma::mma_sync(sum, f, g, sum);
    wmma::store_matrix_sync(c, sum, 16, layout);
}
void multiply_halves(bool a_by_rows, bool b_by_rows, bool c_by_rows, const unsigned short* a,
                     const unsigned short* b, float* c) {
    using wmma::col_major, wmma::row_major;
    const auto kernel = a_by_rows   ? b_by_rows ? multiply_halves_kernel<row_major, row_major>
                                                : multiply_halves_kernel<row_major, col_major>
                          : b_by_rows ? multiply_halves_kernel<col_major, row_major>
                                    : multiply_halves_kernel<col_major, col_major>;
    kernel<<<1, 32>>>(c_by_rows ? wmma::mem_row_major : wmma::mem_col_major, reinterpret_cast<const half*>(a),
                      reinterpret_cast<const half*>(b), c);
}

__global__ void multiply_tf32_kernel(bool rounds, const float* a, const float* b, float* c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> f;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> g;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(f, a, 8);
    wmma::load_matrix_sync(g, b, 16);
    if (rounds) {
        for (auto& x : f.x) x = wmma::__float_to_tf32(x);
        for (auto& x : g.x) x = wmma::__float_to_tf32(x);
    }
    wmma::mma_sync(sum, f, g, sum);
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}
void multiply_tf32(bool rounds, const float* a, const float* b, float* c) {
    multiply_tf32_kernel<<<1, 32>>>(rounds, a, b, c);
}

template <int k, class T, class Layout, class Element>
__global__ void elements_of_lanes_kernel(const Element* b, unsigned pitch, float* out) {
    wmma::fragment<wmma::matrix_b, 16, 16, k, T, Layout> f;
    wmma::load_matrix_sync(f, b, pitch);
    for (int i = 0; i < f.num_elements; ++i)
        out[threadIdx.x * f.num_elements + i] = static_cast<float>(f.x[i]);
}
void elements_of_lanes(bool tf32, bool by_rows, const float* b, const unsigned short* narrow, float* out) {
    using wmma::col_major, wmma::row_major;
    const auto* const bf16 = reinterpret_cast<const __nv_bfloat16*>(narrow);
    if (tf32 && by_rows)
        elements_of_lanes_kernel<8, wmma::precision::tf32, row_major><<<1, 32>>>(b, 16, out);
    else if (tf32)
        elements_of_lanes_kernel<8, wmma::precision::tf32, col_major><<<1, 32>>>(b, 8, out);
    else if (by_rows)
        elements_of_lanes_kernel<16, __nv_bfloat16, row_major><<<1, 32>>>(bf16, 16, out);
    else
        elements_of_lanes_kernel<16, __nv_bfloat16, col_major><<<1, 32>>>(bf16, 16, out);
}

__global__ void multiply_badly_kernel(Bad_matrix how, float* c) {
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 1.0f);
    const int t = threadIdx.x;
    if (how == Bad_matrix::gone_lane && t == 5) return;
    if (how == Bad_matrix::off_alignment) c += 4;
    if (how == Bad_matrix::unlike_address && t == 9) c += 8;
    const unsigned pitch = how == Bad_matrix::odd_pitch                ? 18
                           : how == Bad_matrix::unlike_pitch && t == 9 ? 20
                                                                       : 16;
    const auto layout =
        how == Bad_matrix::unlike_layout && t == 9 ? wmma::mem_col_major : wmma::mem_row_major;
    if (how == Bad_matrix::other_line && t >= 16)
        wmma::store_matrix_sync(c, sum, pitch, layout);  // mark: other line
    else if (how != Bad_matrix::absent_lane || t != 5)
        wmma::store_matrix_sync(c, sum, pitch, layout);  // mark: bad matrix
    __syncthreads();
}
void multiply_badly(Bad_matrix how, float* c) {
    multiply_badly_kernel<<<1, how == Bad_matrix::half_a_warp ? 16 : 32>>>(how, c);
}

__global__ void through_a_fragment_kernel(bool waits, const float* in, float* out) {
    __shared__ alignas(32) float s[16 * 16];
    for (int i = 4 * threadIdx.x; i < 256; i += 128) __pipeline_memcpy_async(&s[i], &in[i], 16);
    __pipeline_commit();
    if (waits) __pipeline_wait_prior(0);
    __syncthreads();
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> f;
    wmma::load_matrix_sync(f, s, 16, wmma::mem_row_major);  // mark: fragment of a copy
    wmma::store_matrix_sync(out, f, 16, wmma::mem_row_major);
}
void through_a_fragment(bool waits, const float* in, float* out) {
    through_a_fragment_kernel<<<1, 32>>>(waits, in, out);
}

__global__ void round_to_tf32_kernel(const float* in, float* out) {
    out[threadIdx.x] = wmma::__float_to_tf32(in[threadIdx.x]);
}
void round_to_tf32(const float* in, float* out, int n) { round_to_tf32_kernel<<<1, n>>>(in, out); }

}  // namespace kernels

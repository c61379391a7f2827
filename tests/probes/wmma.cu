// Products of fragments of half, bfloat16 and tf32.
#include "kata.hpp"

#include <mma.h>
using namespace nvcuda;

template <class T, class Layout>
__global__ void product(const T* a, const T* b, float* c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> f;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, T, Layout> g;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(f, a, 16);
    wmma::load_matrix_sync(g, b, 16);
    wmma::mma_sync(sum, f, g, sum);
    for (int i = 0; i < sum.num_elements; ++i) sum.x[i] *= 2.0f;
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}
__global__ void product_tf32(const float* a, const float* b, float* c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::col_major> f;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> g;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::load_matrix_sync(sum, c, 16, wmma::mem_col_major);
    wmma::load_matrix_sync(f, a, 16);
    wmma::load_matrix_sync(g, b, 16);
    for (int i = 0; i < f.num_elements; ++i) f.x[i] = wmma::__float_to_tf32(f.x[i]);
    wmma::mma_sync(sum, f, g, sum);
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_col_major);
}
__global__ void product_half(const half* a, half* c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> f;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> g;
    wmma::fragment<wmma::accumulator, 16, 16, 16, half> sum;
    wmma::fill_fragment(sum, __float2half(0.0f));
    wmma::load_matrix_sync(f, a, 16);
    wmma::load_matrix_sync(g, a, 16);
    wmma::mma_sync(sum, f, g, sum);
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}
void f(const half* h, const __nv_bfloat16* b, const float* x, float* c, half* d) {
    product<half, wmma::row_major><<<1, 32>>>(h, h, c);
    product<half, wmma::col_major><<<1, 32>>>(h, h, c);
    product<__nv_bfloat16, wmma::col_major><<<1, 32>>>(b, b, c);
    product_tf32<<<1, 32>>>(x, x, c);
    product_half<<<1, 32>>>(h, d);
}

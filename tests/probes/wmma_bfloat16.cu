// Every layout of factors in bfloat16, and sums by columns.
#include "kata.hpp"

#include <mma.h>
using namespace nvcuda;

template <class A, class B>
__global__ void k(const __nv_bfloat16* in, float* out) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, A> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, B> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c, d;
    wmma::fill_fragment(c, 0);
    wmma::load_matrix_sync(a, in, 24);
    wmma::load_matrix_sync(b, in, 24);
    wmma::mma_sync(d, a, b, c);
    wmma::store_matrix_sync(out, d, 20, wmma::mem_col_major);
}
void f(const __nv_bfloat16* in, float* out) {
    k<wmma::row_major, wmma::row_major><<<1, 32>>>(in, out);
    k<wmma::row_major, wmma::col_major><<<1, 32>>>(in, out);
    k<wmma::col_major, wmma::row_major><<<1, 32>>>(in, out);
    k<wmma::col_major, wmma::col_major><<<1, 32>>>(in, out);
}

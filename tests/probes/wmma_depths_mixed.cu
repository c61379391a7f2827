// refused: no matching function
#include "kata.hpp"

#include <mma.h>
using namespace nvcuda;

__global__ void k(const half* in, float* out) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> c;
    wmma::fill_fragment(c, 0.0f);
    wmma::load_matrix_sync(a, in, 16);
    wmma::load_matrix_sync(b, in, 16);
    wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(out, c, 16, wmma::mem_row_major);
}
void f(const half* in, float* out) { k<<<1, 32>>>(in, out); }

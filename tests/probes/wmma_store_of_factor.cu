// refused: no matching function
#include "kata.hpp"

#include <mma.h>
using namespace nvcuda;

__global__ void k(half* out) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::load_matrix_sync(a, out, 16);
    wmma::store_matrix_sync(out, a, 16, wmma::mem_row_major);
}
void f(half* out) { k<<<1, 32>>>(out); }

// refused: no matching function
#include "kata.hpp"

#include <mma.h>
using namespace nvcuda;

__global__ void k(float* out) {
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::load_matrix_sync(c, out, 16);
    wmma::store_matrix_sync(out, c, 16, wmma::mem_col_major);
}
void f(float* out) { k<<<1, 32>>>(out); }

// refused: is row_major or col_major
#include "kata.hpp"

#include <mma.h>
using namespace nvcuda;

__global__ void k(const half* in, half* out) {
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half> b;
    wmma::load_matrix_sync(b, in, 16);
    out[threadIdx.x] = b.x[0];
}
void f(const half* in, half* out) { k<<<1, 32>>>(in, out); }

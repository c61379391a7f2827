// needs a GPU: such tensor cores
#include "kata.hpp"

#include <mma.h>
using namespace nvcuda;

__global__ void k(float* out) {
    wmma::fragment<wmma::accumulator, 32, 8, 16, float> c;
    wmma::fill_fragment(c, 0.0f);
    wmma::store_matrix_sync(out, c, 8, wmma::mem_row_major);
}
void f(float* out) { k<<<1, 32>>>(out); }

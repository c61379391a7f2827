// illegal: 'beta' of the C++ library is a host function
#include "kata.hpp"

__global__ void betas(const double* x, const double* y, double* out) {
    out[threadIdx.x] = std::beta(x[threadIdx.x], y[threadIdx.x]);
}

void launch(const double* x, const double* y, double* out) {
    betas<<<1, 32>>>(x, y, out);
}

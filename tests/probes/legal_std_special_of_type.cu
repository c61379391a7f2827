// illegal: 'legendref' of the C++ library is a host function
#include "kata.hpp"

// Not a template: clang reports an error in it only the first time that it reads the code.
__global__ void legendres(const float* x, float* out) {
    out[threadIdx.x] = std::legendref(2, x[threadIdx.x]);
}

void launch(const float* x, float* out) {
    legendres<<<1, 32>>>(x, out);
}

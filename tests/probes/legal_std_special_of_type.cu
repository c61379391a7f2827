// illegal: 'legendref' of the C++ library is a host function
#include "kata.hpp"

// No template: what clang has once read of it, and says of it, it says no second time.
__global__ void legendres(const float* x, float* out) {
    out[threadIdx.x] = std::legendref(2, x[threadIdx.x]);
}

void launch(const float* x, float* out) {
    legendres<<<1, 32>>>(x, out);
}

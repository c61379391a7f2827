// Of std, nvcc takes move and forward in device code.
#include <utility>
__global__ void k(float* p) { p[0] = std::move(p[1]); p[2] = std::forward<float>(p[1]); }

// In device code, nvcc accepts std::move and std::forward.
#include <utility>
__global__ void k(float* p) { p[0] = std::move(p[1]); p[2] = std::forward<float>(p[1]); }

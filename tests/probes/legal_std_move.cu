// In device code, nvcc accepts std::move and std::forward.
#include <utility>
template <class T>
__device__ T first(T* from) { return std::move(from[0]); }
__global__ void k(float* p) { p[0] = std::move(p[1]) + first(p); p[2] = std::forward<float>(p[1]); }

// Specifiers of kernels, in any order.
#include "kata.hpp"

void __global__ k1(float* out) { out[0] = 1; }
static __global__ void k2(float* out) { out[0] = 1; }
extern "C" __global__ void k3(float* out) { out[0] = 1; }
extern "C" { __global__ void k4(float* out) { out[0] = 1; } }
__global__ static inline void k5(float* out) { out[0] = 1; }
inline __global__ void k6(float* out) { out[0] = 1; }
__global__ auto k7(float* out) -> void { out[0] = 1; }
__global__ void k8(float* const out) { out[0] = 1; }
template <class T> static __global__ void k9(T* out) { out[0] = 1; }
template <class T> void __global__ k10(T* out) { out[0] = 1; }
[[maybe_unused]] __global__ void k11(float* out) { out[0] = 1; }
void f(float* out) {
    k1<<<1, 2>>>(out);
    k2<<<1, 2>>>(out);
    k3<<<1, 2>>>(out);
    k4<<<1, 2>>>(out);
    k5<<<1, 2>>>(out);
    k6<<<1, 2>>>(out);
    k7<<<1, 2>>>(out);
    k8<<<1, 2>>>(out);
    k9<<<1, 2>>>(out);
    k10<<<1, 2>>>(out);
    k11<<<1, 2>>>(out);
}

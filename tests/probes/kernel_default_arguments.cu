// Default arguments of kernels.
#include "kata.hpp"

__global__ void k(float* out, int n = 4, float x = 1.0f) { out[n] = x; }
template <class T> __global__ void t(T* out, int n = 4) { out[n] = 1; }
void f(float* out) {
    k<<<1, 2>>>(out);
    k<<<1, 2>>>(out, 3);
    k<<<1, 2>>>(out, 3, 2.0f);
    t<<<1, 2>>>(out);
    t<float><<<1, 2>>>(out);
    t<float><<<1, 2>>>(out, 3);
}

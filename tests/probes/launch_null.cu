// A null pointer, as 0, NULL and nullptr, for a kernel and for a template whose arguments are written.
#include "kata.hpp"

__global__ void k(float* out, const float* in, int n) { if (in) out[0] = n; }
template <class T> __global__ void t(T* out, const T* in, int n) { if (in) out[0] = n; }
void f(float* out) {
    k<<<1, 2>>>(out, 0, 0);
    k<<<1, 2>>>(out, NULL, 1);
    k<<<1, 2>>>(0, nullptr, 1);
    t<float><<<1, 2>>>(out, 0, 0);
    t<float><<<1, 2>>>(out, NULL, 1);
    t<float><<<1, 2>>>(0, nullptr, 1);
}

// alignas behind __shared__, over two lines.
#include "kata.hpp"

__global__ void k(float* out) {
    __shared__ alignas(float4)
        float s[4], t[4];
    __shared__ alignas(8) alignas(16) float u[4];
    s[0] = t[0] = u[0] = 1;
    out[0] = s[0] + t[0] + u[0];
}
void f(float* out) { k<<<1, 32>>>(out); }

// A kernel with a pack of parameters.
#include "kata.hpp"

template <class... T> __global__ void k(float* out, T... values) { out[0] = (values + ...); }
void f(float* out) { k<<<1, 2>>>(out, 1, 2.0f); k<int, float><<<1, 2>>>(out, 1, 2.0f); }

// extern __shared__ of a type that depends on the template.
#include "kata.hpp"

template <class T> __global__ void k(T* out) { extern __shared__ T s[]; s[0] = 1; out[0] = s[0]; }
void f(float* out) { k<<<1, 32, 1024>>>(out); }

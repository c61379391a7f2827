// refused: conflicting declaration | redeclaration of
#include "kata.hpp"

template <class T> __global__ void k(T* out) { extern __shared__ T s[]; s[0] = 1; out[0] = s[0]; }
void f(float* out, double* wide) { k<<<1, 32, 1024>>>(out); k<<<1, 32, 1024>>>(wide); }

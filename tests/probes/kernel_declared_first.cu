// A kernel that is declared, launched, and defined at the end.
#include "kata.hpp"

__global__ void k(float* out, int n = 4);
template <class T> __global__ void t(T* out);
void f(float* out) { k<<<1, 2>>>(out); t<<<1, 2>>>(out); }
__global__ void k(float* out, int n) { out[0] = n; }
template <class T> __global__ void t(T* out) { out[0] = 1; }

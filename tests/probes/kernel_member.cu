// refused: a kernel cannot be a member function
#include "kata.hpp"

struct S { __global__ void k(float* out) { out[0] = 1; } };
void f(float* out) { S s; s.k<<<1, 2>>>(out); }

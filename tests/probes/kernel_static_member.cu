// refused: a kernel cannot be a member function
#include "kata.hpp"

struct S { static __global__ void k(float* out) { out[0] = 1; } };
void f(float* out) { S::k<<<1, 2>>>(out); }

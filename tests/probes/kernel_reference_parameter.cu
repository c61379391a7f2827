// A kernel that takes a reference.
#include "kata.hpp"

struct Pair { int a, b; };
__global__ void k(float* out, const Pair& pair) { out[0] = pair.a; }
void f(float* out) { k<<<1, 2>>>(out, Pair{1, 2}); }

// A header of one's own in front of everything else.
#include "own/kernel.cuh"
#include "kata.hpp"

void f(float* out) { own::k<<<1, 2>>>(out, 3); }

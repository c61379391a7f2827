// A header with #pragma once, included first under a condition that does not hold.
#include "kata.hpp"

#ifdef NEVER
#include "own/once.cuh"
#endif
#include "own/once.cuh"
void f(float* out) { once<<<1, 2>>>(out); }

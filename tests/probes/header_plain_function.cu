// refused: own/plain_function.cuh:2: error: plain is launched, so it needs a __global__ in front
#include "kata.hpp"

#include "own/plain_function.cuh"
void f(float* out) { plain<<<1, 2>>>(out); }

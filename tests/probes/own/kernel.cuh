// For header_own.cu: included twice, with #pragma once.
#pragma once
#include "nested/twice.hpp"
#include "plain.h"
namespace own {
__global__ inline void k(float* out, int n) {
    extern __shared__ float own_memory[];
    own_memory[0] = twice(n) + PLAIN;
    out[0] = own_memory[0];
}
inline void run(float* out, int n) { k<<<1, n, 4>>>(out, n); }
}

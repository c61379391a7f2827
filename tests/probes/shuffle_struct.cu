// refused: __shfl_up_sync
#include "kata.hpp"

struct Pair {
    int a, b;
};

__global__ void k(Pair* p) { p[threadIdx.x] = __shfl_up_sync(0xffffffffu, p[threadIdx.x], 1); }

void f(Pair* p) { k<<<1, 32>>>(p); }

// Shared memory that a macro declares.
#include "kata.hpp"

#define TILE(T, name) __shared__ alignas(16) T name[32][33]
#define STATIC_TILE(name)         \
    static __shared__             \
        float name[4];
__global__ void k(float* out) { TILE(float, s); STATIC_TILE(t) s[0][0] = t[0] = 1; out[0] = s[0][0]; }
void f(float* out) { k<<<1, 32>>>(out); }

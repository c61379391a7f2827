// An array of pointers, of structures and of vectors.
#include "kata.hpp"

struct Pair { int a, b; };
__global__ void k(float* out) {
    extern __shared__ Pair pairs[];
    extern __shared__ float4 quads[];
    extern __shared__ float* pointers[];
    extern __shared__ unsigned long long wide[];
    pairs[0].a = 1, quads[0].x = 1, pointers[0] = out, wide[0] = 1;
    pointers[0][0] = 2;
}
void f(float* out) { k<<<1, 32, 1024>>>(out); }

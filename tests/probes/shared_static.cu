// Static shared memory, of one to three dimensions and in any order of words.
#include "kata.hpp"

constexpr int width = 8;
__shared__ float of_all[64];
static __shared__ int offset;
struct Pair { int a, b; };
__global__ void k(float* out) {
    __shared__ float line[64], plane[width][width + 1], volume[2][width][width];
    static __shared__ int first;
    __shared__ static int second;
    float __shared__ odd[4];
    volatile __shared__ int flag;
    __shared__ volatile int other;
    __shared__ alignas(16) float aligned[4];
    alignas(16) __shared__ float aligned_first[4];
    __shared__ __align__(16) float by_macro[4];
    __shared__ float4 quads[4];
    __shared__ Pair pairs[width];
    __shared__ struct { int a; float b; } unnamed;
    __shared__ float* pointer;
    line[0] = plane[0][0] = volume[0][0][0] = odd[0] = aligned[0] = aligned_first[0] = by_macro[0] = quads[0].x = unnamed.b = 1;
    first = second = pairs[0].a = offset = unnamed.a = 1;
    flag = 1, other = 1;
    pointer = out;
    of_all[0] = line[0] + plane[0][0] + volume[0][0][0] + first + second + flag + other + pairs[0].a;
    pointer[0] = of_all[0];
}
void f(float* out) { k<<<1, 32>>>(out); }

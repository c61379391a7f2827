// Dynamic shared memory in a lambda of the kernel, and in blocks of their own.
#include "kata.hpp"

template <class T> struct Four { T value[4]; };
__global__ void k(float* out, int n) {
    extern __shared__ float s[];
    const auto at = [=](int i) { return s[i]; };
    const auto store = [&](int i) { s[i] = 1; };
    store(0);
    for (int i = 0; i < n; ++i) {
        extern __shared__ float s[];
        extern __shared__ Four<Four<int>> fours[], more_fours[];
        extern __shared__ float (*rows)[4], *pointers[];
        fours[0].value[1].value[2] = more_fours[0].value[0].value[0];
        out[i] = s[i] + at(n);
        pointers[0] = rows[0];
    }
}
void f(float* out, int n) { k<<<1, 32, 1024>>>(out, n); }

// Both clocks of a kernel, and __trap().
#include "kata.hpp"

__global__ void k(long long* out) {
    const clock_t start = clock();
    out[0] = clock64();
    if (out[0] < 0) __trap();
    while (clock64() - out[0] < 1000) {}
    out[1] = clock() - start;
}
void f(long long* out) { k<<<1, 1>>>(out); }

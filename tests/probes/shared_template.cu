// Shared memory whose size is the template's, with comparisons in it.
#include "kata.hpp"

template <int n, class T> __global__ void k(T* out) {
    __shared__ T s[(n > 4) ? n : 4][n <= 8];
    s[0][0] = n == 4;
    out[0] = s[0][0];
}
void f(float* out) { k<8><<<1, 32>>>(out); }

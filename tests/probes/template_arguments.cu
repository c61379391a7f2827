// Template arguments with parentheses, comparisons and templates in them.
#include "kata.hpp"

template <class T> struct Add { static constexpr int zero = 0; };
template <class T, class Op, int n, bool odd> __global__ void k(T* out) { out[0] = Op::zero + n + odd; }
template <bool yes> __global__ void b(float* out) { out[0] = yes; }
constexpr int size(int n) { return n; }
void f(float* out) {
    k<float, Add<float>, (4 > 2), (3 < 2)><<<1, 2>>>(out);
    k<float, Add<Add<float>>, (8 >> 1), true><<<1, 2>>>(out);
    k<float, Add<Add<Add<float>>>, 8 << 1, !false><<<1, 2>>>(out);
    k<float, Add<float>, size(4), (size(3) % 2 == 1)><<<dim3(1), 2>>>(out);
    k<float, Add<float>, sizeof(float[4]), 3 <= 4><<<1, 2>>>(out);
    b<3 < 4><<<1, 2>>>(out);
    b<(3 > 4)><<<1, 2>>>(out);
}

// A template whose last argument is a template.
#include "kata.hpp"

template <class T> struct Add {};
template <class Op> __global__ void k(float* out, Op) { out[0] = 1; }
void f(float* out) {
    k<Add<float>><<<1, 2>>>(out, {});
    k<Add<Add<float>>><<<1, 2>>>(out, {});
}

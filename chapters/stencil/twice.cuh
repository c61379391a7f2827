// Included by the steps from 06 on, which make two sweeps at once: CUDA C++ on either back end, check(),
// ceil_div(), and what calls a step for float and for double. Not to be changed: grading takes the
// repository's own.
#pragma once
#include "kata.hpp"
#include "stencil.hpp"

/// Members c0, of the cell itself, c1 and c2 of its neighbours along x, c3 and c4 along y, c5 and c6 along z.
using stencil::Coefficients;

/// Defined by such a step: what two sweeps of reference/stencil.hpp make of `in`, for T = float and double.
template <class T>
void sweep_twice(const T* in, T* out, int n, Coefficients<T> c);

void sweep_twice_float(const float* in, float* out, int n, Coefficients<float> c) {
    sweep_twice(in, out, n, c);
}
void sweep_twice_double(const double* in, double* out, int n, Coefficients<double> c) {
    sweep_twice(in, out, n, c);
}

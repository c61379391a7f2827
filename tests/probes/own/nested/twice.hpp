// For header_own.cu: with a guard, beside a header with the same guard.
#ifndef TWICE_HPP
#define TWICE_HPP
#include "../plain.h"
#include "twice.hpp"
#include "beside.h"
__device__ inline int twice(int n) { return BESIDE * n; }
template <class T> void run_clear(T* out);
template <class T> __global__ void clear(T* out) { out[0] = 0; }
template <class T> void run_clear(T* out) { clear<<<1, 1>>>(out); }
#endif

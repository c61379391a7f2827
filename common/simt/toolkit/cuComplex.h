// Complex numbers, as vectors of two.
#pragma once
#include "simt/cuda.hpp"

using cuFloatComplex = float2;
using cuDoubleComplex = double2;
using cuComplex = cuFloatComplex;

#define SIMT_COMPLEX(Complex, Real, suffix)                                                                 \
    KATA_HOST_DEVICE inline Complex make_##Complex(Real re, Real im) { return {re, im}; }                   \
    KATA_HOST_DEVICE inline Real cuCreal##suffix(Complex a) { return a.x; }                                 \
    KATA_HOST_DEVICE inline Real cuCimag##suffix(Complex a) { return a.y; }                                 \
    KATA_HOST_DEVICE inline Real cuCabs##suffix(Complex a) { return hypot##suffix(a.x, a.y); }              \
    KATA_HOST_DEVICE inline Complex cuConj##suffix(Complex a) { return {a.x, -a.y}; }                       \
    KATA_HOST_DEVICE inline Complex cuCadd##suffix(Complex a, Complex b) { return {a.x + b.x, a.y + b.y}; } \
    KATA_HOST_DEVICE inline Complex cuCsub##suffix(Complex a, Complex b) { return {a.x - b.x, a.y - b.y}; } \
    KATA_HOST_DEVICE inline Complex cuCmul##suffix(Complex a, Complex b) {                                  \
        return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};                                              \
    }                                                                                                       \
    KATA_HOST_DEVICE inline Complex cuCdiv##suffix(Complex a, Complex b) {                                  \
        const Real squared = b.x * b.x + b.y * b.y;                                                         \
        return {(a.x * b.x + a.y * b.y) / squared, (a.y * b.x - a.x * b.y) / squared};                      \
    }                                                                                                       \
    KATA_HOST_DEVICE inline Complex cuCfma##suffix(Complex a, Complex b, Complex c) {                       \
        return cuCadd##suffix(cuCmul##suffix(a, b), c);                                                     \
    }
SIMT_COMPLEX(cuFloatComplex, float, f)
SIMT_COMPLEX(cuDoubleComplex, double, )
#undef SIMT_COMPLEX
KATA_HOST_DEVICE inline cuComplex make_cuComplex(float re, float im) { return {re, im}; }

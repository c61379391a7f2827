// The product of two matrices: the problem of the chapter, its limits and its plain solution.
#pragma once
#include "bf16.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace matrices {

/// A grid has at most 65535 blocks along y. Blocks of 16 rows or more cover this number of rows.
inline constexpr int max_rows = 65535 * 16;

/// C = A · B with A of m x k, B of k x n and C of m x n elements, all in row-major order. Each length may be
/// 0: without rows or columns C is empty, and with k = 0 it is all zeros, the sum of nothing.
struct Shape {
    int m, n, k;
    std::size_t elements_of_a() const { return static_cast<std::size_t>(m) * static_cast<std::size_t>(k); }
    std::size_t elements_of_b() const { return static_cast<std::size_t>(k) * static_cast<std::size_t>(n); }
    std::size_t elements_of_c() const { return static_cast<std::size_t>(m) * static_cast<std::size_t>(n); }
};

/// Throws std::invalid_argument, in one line, for a shape that the steps need not accept: a negative length,
/// a matrix of 2³¹ elements or more, more than max_rows rows of C.
void check(const Shape&);

/// c[row · n + col] = Σ a[row · k + i] · b[i · n + col], in double. PMPP-grids 3.4, for any m, n and k.
std::vector<double> reference(std::span<const float> a, std::span<const float> b, const Shape&);

/// The same sum over |a| · |b|, to which a rounding error is relative.
std::vector<double> magnitude(std::span<const float> a, std::span<const float> b, const Shape&);

/// Multiplications and additions: 2 · m · n · k.
double operations(const Shape&);

// In bfloat16 A and B have 8 significant bits. C stays in float.
using bfloat16::Bf16, bfloat16::to_bf16, bfloat16::to_float;

/// n and k are multiples of it, so that each row of A and B begins at a multiple of 16 bytes. Copies of 16
/// bytes and TMA require this.
inline constexpr int bf16_granule = 8;

/// Throws as check() does, and also if n or k is not a multiple of bf16_granule.
void check_bf16(const Shape&);

/// The bound on the error of an element of C, relative to magnitude(). A product of two bfloat16 has 16 bits,
/// and is exact in float. A tensor core adds 4 products or more to a sum at a time: it shifts each of them to
/// the exponent of the largest, drops the bits below the 24th, adds, and drops again (Fasi, Higham, Mikaitis
/// and Pranesh, "Numerical behavior of NVIDIA tensor cores", PeerJ Computer Science 7, 2021). Each drop is
/// less than 2^-23 of the sum of all magnitudes: one for a product, one for the sum so far and one for the
/// result. Sums that are rounded to nearest, in any order, have smaller errors.
double bf16_rounding(int k);

}  // namespace matrices

/// The function that steps 01 to 10 define: reference() on device memory. `a`, `b` and `c` point to arrays of
/// the device, with the same layout. As in the BLAS with alpha = 1 and beta = 0, c is written and never read.
extern "C" [[gnu::visibility("default")]] void gemm(const float* a, const float* b, float* c, int m, int n,
                                                    int k);

/// The function that the steps from 11 on define under the name gemm_bf16(): the same product for bfloat16.
/// Nothing here depends on CUDA's type for it: chapters/gemm/bf16.cuh declares the function for the steps.
using GemmBf16 = void(const matrices::Bf16* a, const matrices::Bf16* b, float* c, int m, int n, int k);

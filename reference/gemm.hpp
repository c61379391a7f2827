// The product of two matrices: the problem of the chapter, its limits and its plain solution.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace matrices {

/// A grid has at most 65535 blocks along y: so many rows are covered by blocks of 16 rows or more.
inline constexpr int max_rows = 65535 * 16;

/// C = A · B with A of m x k, B of k x n and C of m x n elements, all in row-major order. Each length may be
/// 0: without rows or columns C is empty, and with k = 0 it is all zeros, the sum of nothing.
struct Shape {
    int m, n, k;
    std::size_t elements_of_a() const { return static_cast<std::size_t>(m) * static_cast<std::size_t>(k); }
    std::size_t elements_of_b() const { return static_cast<std::size_t>(k) * static_cast<std::size_t>(n); }
    std::size_t elements_of_c() const { return static_cast<std::size_t>(m) * static_cast<std::size_t>(n); }
};

/// Throws std::invalid_argument, in one line, for a shape that the steps need not take: a negative length, a
/// matrix of 2³¹ elements or more, more than max_rows rows of C.
void check(const Shape&);

/// c[row · n + col] = Σ a[row · k + i] · b[i · n + col], in double. PMPP-grids 3.4, for any m, n and k.
std::vector<double> reference(std::span<const float> a, std::span<const float> b, const Shape&);

/// The same sum over |a| · |b|: what a rounding error is relative to.
std::vector<double> magnitude(std::span<const float> a, std::span<const float> b, const Shape&);

/// Multiplications and additions: 2 · m · n · k.
double operations(const Shape&);

}  // namespace matrices

/// What every step of the chapter defines: reference() on device memory. `a`, `b` and `c` point to arrays of
/// the device, laid out as there. As the BLAS would call it with alpha = 1 and beta = 0: c is written and
/// never read.
extern "C" [[gnu::visibility("default")]] void gemm(const float* a, const float* b, float* c, int m, int n,
                                                    int k);

// Softmax and attention, forward: the problems of the chapter, their limits and their plain solutions.
#pragma once
#include "bf16.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace attention {

/// A result, and by how much each element of a float computation may be off.
struct Result {
    std::vector<double> values, bound;
};

/// A block of 256 threads keeps a row of this length in registers, 64 elements in each thread.
inline constexpr int max_columns = 16384;

/// A matrix of rows x columns elements, in row-major order. Each length may be 0.
struct Matrix {
    int rows, columns;
    constexpr std::size_t elements() const {
        return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
    }
};

/// Throws std::invalid_argument, in one line, for a matrix that the steps need not accept: a negative length,
/// 2³¹ elements or more, more than max_columns in a row.
void check(const Matrix&);

/// out[row][i] = exp(in[row][i]) / Σ exp(in[row][j]) over the row, in double. An element may be -∞, whose
/// exponential is 0, but not all of a row may. With a NaN in it, a row is NaN.
Result softmax_of(std::span<const float> in, const Matrix&);

/// A grid has at most this number of blocks along z.
inline constexpr int max_heads = 65535;

/// The elements of a row of Q, K, V and O. The steps are compiled for either number.
inline constexpr int head_sizes[] = {64, 128};

/// Q, K, V and O are arrays of heads x n x d elements, in row-major order: for each head, n rows, one for
/// each place of a sequence. The heads of all sequences of a batch count together. There may be no heads, and
/// n may be 0.
struct Shape {
    int heads, n, d;
    bool causal = false;  ///< query i sees keys 0 to i only
    constexpr std::size_t elements() const {
        return static_cast<std::size_t>(heads) * static_cast<std::size_t>(n) * static_cast<std::size_t>(d);
    }
    constexpr std::size_t scores() const {
        return static_cast<std::size_t>(heads) * static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    }
};

/// Throws std::invalid_argument, in one line, for a shape that the steps need not accept: a negative length,
/// more than max_heads, another head size, arrays of 2³¹ elements or more.
void check(const Shape&);

/// Throws as check() does, and also for 2³¹ scores or more.
void check_with_scores(const Shape&);

using bfloat16::Bf16, bfloat16::to_bf16, bfloat16::to_float;

/// The type of Q, K and V, on which the bound depends. Sums are floats in either case. If Q, K and V are
/// bfloat16, products are a tensor core's, and weights are rounded to bfloat16 before they are multiplied.
enum class Factors { floats, bf16 };

/// For each head, query i and column c, in double:
///   O[i][c] = Σ w[i][j] · V[j][c], where w[i] is the softmax of Q[i] · K[j] / √d over the keys j that i
///   sees.
Result reference(std::span<const float> q, std::span<const float> k, std::span<const float> v, const Shape&,
                 Factors = Factors::floats);

/// Multiplications and additions of both products: 4 · d for each pair of a query and a key that it sees.
double operations(const Shape&);

}  // namespace attention

/// The function that steps 01 to 03 define: the softmax of each row of a matrix on the device.
extern "C" [[gnu::visibility("default")]] void softmax(const float* in, float* out, int rows, int columns);

/// The function that step 04 defines: reference() on device memory. `scores` points to heads · n · n floats
/// with any contents.
extern "C" [[gnu::visibility("default")]] void attend_with_scores(const float* q, const float* k,
                                                                  const float* v, float* out, int heads,
                                                                  int n, int d, bool causal, float* scores);

/// The function that steps 05 to 07 define: the same without memory for scores.
extern "C" [[gnu::visibility("default")]] void attend(const float* q, const float* k, const float* v,
                                                      float* out, int heads, int n, int d, bool causal);

/// The function that the steps from 08 on define under the name attend_bf16(): the same for bfloat16. Nothing
/// here depends on CUDA's type for it: chapters/attention/bf16.cuh declares the function for the steps.
using AttendBf16 = void(const attention::Bf16* q, const attention::Bf16* k, const attention::Bf16* v,
                        float* out, int heads, int n, int d, bool causal);

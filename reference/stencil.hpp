// 3-D seven-point stencil sweep: the problem of the chapter, its limits and its plain solution.
#pragma once
#include <span>
#include <vector>

namespace stencil {

/// The longest side of a grid: the cells of a tile of 32 that reaches over its end still have indices below
/// 2³¹.
inline constexpr int max_n = 1250;

/// The weights of a cell and its six neighbours. All may differ.
template <class T>
struct Coefficients {
    T c0;      ///< of the cell itself
    T c1, c2;  ///< of the neighbours at x − 1 and x + 1
    T c3, c4;  ///< at y − 1 and y + 1
    T c5, c6;  ///< at z − 1 and z + 1
};

/// Throws std::invalid_argument, in one line, for a side that the steps need not accept: outside 0 … max_n.
void check(int n);

/// One sweep over a grid of n x n x n cells, in which x varies fastest and z slowest. A cell with all six
/// neighbours becomes the weighted sum of itself and its neighbours. The others, the boundary, stay as they
/// are. Sums are in double. For float and double. PMPP-notes 8.2.
template <class T>
std::vector<double> reference(std::span<const T> in, int n, const Coefficients<T>&);

/// Returns plane z of it, for grids that are too large to be kept twice.
template <class T>
std::vector<double> reference_plane(std::span<const T> in, int n, const Coefficients<T>&, int z);

/// The same sum over |coefficient| · |in|, and 0 on the boundary: a rounding error is relative to it.
template <class T>
std::vector<double> magnitude(std::span<const T> in, int n, const Coefficients<T>&);

/// Multiplications and additions: seven and six for each cell that is not on the boundary.
double operations(int n);

}  // namespace stencil

// The function that steps 01 to 05 define: reference() on device memory. `in` and `out` point to n³ elements
// each, with the same layout; they do not overlap. For another sweep the caller swaps them.
extern "C" [[gnu::visibility("default")]] void sweep_float(const float* in, float* out, int n,
                                                           stencil::Coefficients<float>);
extern "C" [[gnu::visibility("default")]] void sweep_double(const double* in, double* out, int n,
                                                            stencil::Coefficients<double>);

// The same sweep twice, in one call.
extern "C" [[gnu::visibility("default")]] void sweep_twice_float(const float* in, float* out, int n,
                                                                 stencil::Coefficients<float>);
extern "C" [[gnu::visibility("default")]] void sweep_twice_double(const double* in, double* out, int n,
                                                                  stencil::Coefficients<double>);

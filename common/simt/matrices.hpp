// Products of small matrices, whose elements the lanes of a warp share out among themselves.
#pragma once
#include "simt/annotations.hpp"

#include <array>
#include <string>

namespace simt {

/// Of a matrix of 16 rows, four lanes hold the columns side by side and eight the rows below each other,
/// `width` neighbours of a row at a time: as the fragments of PTX's mma.sync lie.
struct Place {
    int row, column;
};
__host__ __device__ __forceinline__ constexpr Place place_of(int lane, int element, int width) {
    const int part = element / width;
    return {lane / 4 + part % 2 * 8, lane % 4 * width + element % width + part / 2 * 4 * width};
}
/// Of a second factor, k x 16, as of its transpose: it lies as two fragments of mma.sync with 8 columns each,
/// one behind the other, so that a lane has both of its parts along K before the next columns.
__host__ __device__ __forceinline__ constexpr Place place_of_b(int lane, int element, int width) {
    const int part = element / width;
    return {lane / 4 + part / 2 * 8, lane % 4 * width + element % width + part % 2 * 4 * width};
}

/// What a lane brings to d = a b + c, where a is 16 x k and b is k x 16: its elements of each, of b as of its
/// transpose. `width` is that of a and b; c and d have two neighbours. d may be c.
struct Product {
    int k, width;
    const float *a, *b, *c;
    float* d;
};

/// Of the lanes of a warp: products exact, and added one after the other in float. Tensor cores add in an
/// order that NVIDIA does not document.
void multiply(const std::array<const Product*, 32>& lanes);

/// What a lane says of the matrix that its warp loads or stores.
struct MatrixInMemory {
    const void* address;  // of its first element
    unsigned pitch;       // elements from one row or column to the next
    unsigned element;     // bytes
    bool by_columns;
};

/// What is wrong with what the lanes of a warp say, as the end of a sentence; empty if nothing is.
std::string unlike(const std::array<const MatrixInMemory*, 32>& lanes);

}  // namespace simt

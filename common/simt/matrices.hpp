// Products of small matrices whose elements are distributed over the lanes of a warp.
#pragma once
#include "simt/annotations.hpp"

#include <array>
#include <string>

namespace simt {

/// The place of an element in a matrix of 16 rows. As in the fragments of PTX's mma.sync, four lanes hold
/// neighboring columns and eight lanes neighboring rows, `width` neighbors of a row each.
struct Place {
    int row, column;
};
__host__ __device__ __forceinline__ constexpr Place place_of(int lane, int element, int width) {
    const int part = element / width;
    return {lane / 4 + part % 2 * 8, lane % 4 * width + element % width + part / 2 * 4 * width};
}
/// The same for the transpose of a second factor, k x 16. It consists of two fragments of mma.sync with 8
/// columns each, one after the other: a lane has both of its parts along K before the next columns.
__host__ __device__ __forceinline__ constexpr Place place_of_b(int lane, int element, int width) {
    const int part = element / width;
    return {lane / 4 + part / 2 * 8, lane % 4 * width + element % width + part % 2 * 4 * width};
}

/// A lane's elements of d = a b + c, where a is 16 x k and b is k x 16; those of b as of its transpose.
/// `width` is that of a and b; c and d have width 2. d may be c.
struct Product {
    int k, width;
    const float *a, *b, *c;
    float* d;
};

/// Multiplies: products are exact and added one after the other in float. Tensor cores add in an undocumented
/// order.
void multiply(const std::array<const Product*, 32>& lanes);

/// A lane's arguments for the matrix that its warp loads or stores.
struct MatrixInMemory {
    const void* address;  // address of the first element
    unsigned pitch;       // elements from one row or column to the next
    unsigned element;     // bytes
    bool by_columns;
};

/// Returns how the arguments of the lanes disagree, as the end of a sentence; empty if they agree.
std::string unlike(const std::array<const MatrixInMemory*, 32>& lanes);

}  // namespace simt

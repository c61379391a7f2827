// Header of the steps of this chapter: CUDA C++ on either back end, check(), ceil_div(), Pack and the
// declaration of the function that the steps define. Not to be changed: grading takes the repository's own.
#pragma once
#include "kata.hpp"
#include "transposition.hpp"

/// `n` neighbouring elements. The alignment makes a load or a store of them one instruction.
template <int n>
struct alignas(n * sizeof(float)) Pack {
    float at[n];
};

// Included by every step: CUDA C++ on either back end, check(), ceil_div(), and the elements that are
// sorted. Not to be changed: grading takes the repository's own.
#pragma once
#include "kata.hpp"
#include "sort.hpp"

/// A key of 32 bits and a value of 32 bits that comes along.
using sort::Pair;

/// Returns what an element is sorted by: a number without a sign.
__device__ inline unsigned key_of(unsigned element) { return element; }
__device__ inline unsigned long long key_of(unsigned long long element) { return element; }
__device__ inline unsigned key_of(Pair element) { return element.key; }

/// The type of the key of an element.
template <class T>
using Key = std::conditional_t<std::is_same_v<T, Pair>, unsigned, T>;

/// Calls body(null pointer to the type).
template <class Body>
void with_type(sort::Type type, Body body) {
    if (type == sort::Type::keys_of_32_bits) body(static_cast<unsigned*>(nullptr));
    if (type == sort::Type::keys_of_64_bits) body(static_cast<unsigned long long*>(nullptr));
    if (type == sort::Type::pairs) body(static_cast<Pair*>(nullptr));
}

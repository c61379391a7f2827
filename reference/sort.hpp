// Sorting: the problem of the chapter, its limits, its data and its plain solution.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sort {

/// A block's work may reach over the end by 2^30 elements, and an int still counts them.
inline constexpr int max_elements = 1 << 30;

/// An element that is sorted by its key; the value comes along.
struct alignas(8) Pair {
    std::uint32_t key, value;
    bool operator==(const Pair&) const = default;
};

/// The types of elements with which every step is called.
enum class Type { keys_of_32_bits, keys_of_64_bits, pairs };

/// Returns what an element is sorted by.
constexpr std::uint32_t sorted_by(std::uint32_t element) { return element; }
constexpr std::uint64_t sorted_by(std::uint64_t element) { return element; }
constexpr std::uint32_t sorted_by(Pair element) { return element.key; }

/// Throws std::invalid_argument, in one line, for lengths that the steps need not accept: negative ones, or
/// more than max_elements together.
void check(long long first_length, long long second_length = 0);

/// Sorts by key; elements with the same key stay in their order. The same merges two sorted lists that lie
/// one behind the other: from equal keys, those of the first list come first.
template <class T>
std::vector<T> reference(std::span<const T> in);

/// Returns the bytes of scratch memory for sort_elements(): as much as the elements take, a byte more for
/// each of them, and some more.
constexpr std::size_t workspace_bytes(std::size_t elements, std::size_t element_bytes) {
    return elements * element_bytes + elements + (1 << 17);
}

/// How the keys of the tests are distributed.
enum class Keys {
    uniform,
    sorted,
    reversed,
    few,       ///< 16 values
    skewed,    ///< a bit is set in one of eight keys
    frequent,  ///< one key in four is the smallest number
    equal,
    ends,  ///< only the smallest and the largest number
};

/// Returns element i of n. The value of a pair is i, so that an exchange of equal keys shows.
template <class T>
T element(Keys, std::size_t i, std::size_t n, unsigned seed = 1);

}  // namespace sort

/// The function that steps 01 and 02 define: the sorted lists `a`, of m elements, and `b`, of n, are merged
/// into `out`. From equal keys those of `a` come first, and each list keeps its order.
extern "C" [[gnu::visibility("default")]] void merge_lists(const void* a, int m, const void* b, int n,
                                                           void* out, sort::Type type);

/// The function that the steps from 03 on define: reference() on device memory. `in` is only read.
/// `workspace` points to sort::workspace_bytes() bytes of device memory, aligned for every type, with any
/// contents.
extern "C" [[gnu::visibility("default")]] void sort_elements(const void* in, void* out, int n,
                                                             void* workspace, sort::Type type);

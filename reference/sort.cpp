#include "sort.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace sort {

namespace {

/// Returns 64 bits that look random (the finalizer of SplitMix64).
std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

/// Returns a key of 64 bits, of which keys of 32 bits are the upper half.
std::uint64_t key(Keys keys, std::uint64_t i, std::uint64_t n, unsigned seed) {
    constexpr std::uint64_t all = ~std::uint64_t{0};
    const std::uint64_t random = mixed(i + (std::uint64_t{seed} << 40));
    switch (keys) {
        case Keys::uniform:
            return random;
        case Keys::sorted:
            return i * (all / n);
        case Keys::reversed:
            return (n - 1 - i) * (all / n);
        case Keys::few:
            return (random >> 60) * (all / 15);
        case Keys::skewed:
            return random & mixed(random) & mixed(mixed(random));
        case Keys::frequent:
            return mixed(random) % 4 == 0 ? 0 : random;
        case Keys::equal:
            return all / 3;
        case Keys::ends:
            return random >> 63 ? all : 0;
    }
    return 0;
}

}  // namespace

void check(long long first_length, long long second_length) {
    const auto elements = first_length + second_length;
    if (first_length < 0 || second_length < 0 || elements > max_elements)
        throw std::invalid_argument(std::to_string(elements) + " elements refused: the chapter takes 0 to " +
                                    std::to_string(max_elements));
}

template <class T>
std::vector<T> reference(std::span<const T> in) {
    std::vector<T> out(in.begin(), in.end());
    std::ranges::stable_sort(out, {}, [](T x) { return sorted_by(x); });
    return out;
}
template std::vector<std::uint32_t> reference(std::span<const std::uint32_t>);
template std::vector<std::uint64_t> reference(std::span<const std::uint64_t>);
template std::vector<Pair> reference(std::span<const Pair>);

template <>
std::uint32_t element(Keys keys, std::size_t i, std::size_t n, unsigned seed) {
    return static_cast<std::uint32_t>(key(keys, i, n, seed) >> 32);
}
template <>
std::uint64_t element(Keys keys, std::size_t i, std::size_t n, unsigned seed) {
    return key(keys, i, n, seed);
}
template <>
Pair element(Keys keys, std::size_t i, std::size_t n, unsigned seed) {
    return {element<std::uint32_t>(keys, i, n, seed), static_cast<std::uint32_t>(i)};
}

}  // namespace sort

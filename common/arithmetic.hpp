// The types of elements and the associative operators that reductions and scans are tested with.
#pragma once

namespace kata {

/// The map x -> a * x + b, modulo 2^32.
struct Affine {
    unsigned a, b;
    bool operator==(const Affine&) const = default;
};

/// A type of elements and an operator on it. All are associative (those on floating point up to rounding);
/// all but `composition` are commutative.
enum class Arithmetic {
    sum_of_int,
    max_of_int,
    sum_of_float,
    max_of_float,
    sum_of_double,
    max_of_double,
    composition,  ///< of Affine: first the left map, then the right one
    counted_sum,  ///< of int; how often it was applied is counted
};

/// For messages.
constexpr const char* text_of(Arithmetic arithmetic) {
    switch (arithmetic) {
        case Arithmetic::sum_of_int:
            return "the sum of int";
        case Arithmetic::max_of_int:
            return "the maximum of int";
        case Arithmetic::sum_of_float:
            return "the sum of float";
        case Arithmetic::max_of_float:
            return "the maximum of float";
        case Arithmetic::sum_of_double:
            return "the sum of double";
        case Arithmetic::max_of_double:
            return "the maximum of double";
        case Arithmetic::composition:
            return "the composition of maps, which do not commute";
        case Arithmetic::counted_sum:
            return "the sum of int whose operator counts how often it is applied";
    }
    return "";
}

/// An operation as passed to a step. `applications` is null except for counted_sum, where each application
/// adds one to this counter on the device.
struct Operation {
    Arithmetic arithmetic;
    unsigned long long* applications = nullptr;
};

/// The operations that a chapter offers.
template <Arithmetic...>
struct Arithmetics {};

}  // namespace kata

// The operators of arithmetic.hpp as kernels receive them: an `Op op` with op(left, right) and op.identity(),
// the neutral element.
#pragma once
#include "arithmetic.hpp"
#include "kata.hpp"

#include <limits>
#include <type_traits>

namespace kata {

template <class T>
struct Sum {
    KATA_HOST_DEVICE T identity() const { return 0; }
    KATA_HOST_DEVICE T operator()(T left, T right) const { return left + right; }
};

template <class T>
struct Max {
    static constexpr T lowest = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                                     : std::numeric_limits<T>::lowest();
    KATA_HOST_DEVICE T identity() const { return lowest; }
    KATA_HOST_DEVICE T operator()(T left, T right) const { return left < right ? right : left; }
};

/// Does not commute: exchanging two elements gives another map.
struct Compose {
    KATA_HOST_DEVICE Affine identity() const { return {1, 0}; }
    KATA_HOST_DEVICE Affine operator()(Affine left, Affine right) const {
        return {right.a * left.a, right.a * left.b + right.b};
    }
};

/// The sum of int, which counts how often it was applied.
struct CountedSum {
    unsigned long long* applications;
    KATA_HOST_DEVICE int identity() const { return 0; }
    __device__ int operator()(int left, int right) const {
        atomicAdd(applications, 1ull);
        return left + right;
    }
};

/// Performs *address = op(*address, value) atomically.
template <class T>
__device__ void atomic_combine(T* address, T value, Sum<T>) {
    atomicAdd(address, value);
}
__device__ inline void atomic_combine(int* address, int value, CountedSum op) {
    atomicAdd(op.applications, 1ull);
    atomicAdd(address, value);
}
template <class T, class Op>
__device__ void atomic_combine(T* address, T value, Op op) {
    using Word = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>;
    // A wrong first guess only costs one more round.
    T before = op.identity();
    for (bool done = false; !done;) {
        const T after = op(before, value);
        // The builtin behind std::bit_cast, which nvcc treats as a host function.
        const auto expected = __builtin_bit_cast(Word, before), next = __builtin_bit_cast(Word, after);
        const Word found = atomicCAS(reinterpret_cast<Word*>(address), expected, next);
        done = found == expected;
        before = __builtin_bit_cast(T, found);
    }
}

template <Arithmetic arithmetic>
auto operator_of(const Operation& o) {
    using enum Arithmetic;
    if constexpr (arithmetic == sum_of_int) return Sum<int>{};
    if constexpr (arithmetic == max_of_int) return Max<int>{};
    if constexpr (arithmetic == sum_of_float) return Sum<float>{};
    if constexpr (arithmetic == max_of_float) return Max<float>{};
    if constexpr (arithmetic == sum_of_double) return Sum<double>{};
    if constexpr (arithmetic == max_of_double) return Max<double>{};
    if constexpr (arithmetic == composition) return Compose{};
    if constexpr (arithmetic == counted_sum) return CountedSum{o.applications};
}

/// Calls body(in, out, op) with the types of the operation, which must be one of those offered; otherwise it
/// calls nothing. `in` is a void* or a const void*, and its constness is kept.
template <Arithmetic... offered, class In, class Body>
void with_operator(Arithmetics<offered...>, const Operation& operation, In* in, void* out, Body&& body) {
    const auto call = [&](auto op) {
        using T = decltype(op.identity());
        body(static_cast<std::conditional_t<std::is_const_v<In>, const T, T>*>(in), static_cast<T*>(out), op);
    };
    ((operation.arithmetic == offered ? call(operator_of<offered>(operation)) : void()), ...);
}

}  // namespace kata

using kata::with_operator;

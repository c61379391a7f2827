// Included by the steps from 07 on: what whole.cuh has, shuffles of any type, and messages between blocks
// that need no fence. Not to be changed: grading takes the repository's own.
#pragma once
#include "whole.cuh"

#include <cuda/atomic>

/// Shuffles take numbers of four and eight bytes; a value of another type travels as one of these.
template <class T>
using Bits = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>;
template <class T>
__device__ Bits<T> to_bits(T value) {
    Bits<T> bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
template <class T>
__device__ T from_bits(Bits<T> bits) {
    T value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
/// Returns the value of `lane`, or of the lane this many places up or down; where there is none, the lane's
/// own. All 32 lanes of the warp must come.
template <class T>
__device__ T shuffle(T value, int lane) {
    return from_bits<T>(__shfl_sync(~0u, to_bits(value), lane));
}
template <class T>
__device__ T shuffle_up(T value, int lanes) {
    return from_bits<T>(__shfl_up_sync(~0u, to_bits(value), lanes));
}
template <class T>
__device__ T shuffle_down(T value, int lanes) {
    return from_bits<T>(__shfl_down_sync(~0u, to_bits(value), lanes));
}

/// The state of a section: what it has published.
enum State : unsigned {
    nothing,    ///< nothing yet: this is 0, to which memory is set
    aggregate,  ///< the section's own sum
    prefix      ///< the sum of everything up to the section's end
};

/// State and sum lie in one word of 64 bits, or half a sum in each of two. A word is written and read as
/// one: a thread that sees the state has the sum, and no fence stands between them.
using Word = unsigned long long;
template <class T>
constexpr int words = sizeof(T) / 4;  ///< words for a section

/// Publishes the state and the sum of section s; `status` has words<T> words for each section.
template <class T>
__device__ void publish(Word* status, int s, State state, T sum) {
    unsigned half[words<T>];
    memcpy(half, &sum, sizeof sum);
    for (int k = 0; k < words<T>; ++k)
        cuda::atomic_ref<Word, cuda::thread_scope_device>(status[s * words<T> + k])
            .store(Word{state} << 32 | half[k], cuda::memory_order_relaxed);
}

/// Returns the state of section s, and in `sum` its sum. If its two words have different states, the sum is
/// just being replaced, and the state is `nothing`.
template <class T>
__device__ State observe(Word* status, int s, T& sum) {
    unsigned half[words<T>], states[words<T>];
    for (int k = 0; k < words<T>; ++k) {
        const Word word = cuda::atomic_ref<Word, cuda::thread_scope_device>(status[s * words<T> + k])
                              .load(cuda::memory_order_relaxed);
        half[k] = static_cast<unsigned>(word);
        states[k] = static_cast<unsigned>(word >> 32);
    }
    memcpy(&sum, half, sizeof sum);
    return states[0] == states[words<T> - 1] ? static_cast<State>(states[0]) : nothing;
}

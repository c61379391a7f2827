// Copies into shared memory that a thread has begun and not yet waited for.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace simt {

struct Copy {
    std::byte* to;
    unsigned bytes, read;  // that it writes, and of them those that it has read
    std::size_t group;
    const void* code;                 // of the call that began it
    std::uint64_t mark;               // what the probe said when it began
    std::array<std::byte, 16> value;  // as it was then
};

/// Of one thread.
struct Copies {
    std::vector<Copy> under_way;
    std::size_t groups = 0;  // committed
};

}  // namespace simt

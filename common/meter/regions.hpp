// The pieces of memory that kernels access, each with what the meter remembers of its words.
#pragma once
#include "meter/chains.hpp"
#include "meter/races.hpp"
#include "meter/spare.hpp"
#include "meter/warp_log.hpp"
#include "simt/image.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace meter {

/// The value of up to 8 bytes.
inline std::uint64_t value_at(const void* address, std::size_t bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, address, std::min(bytes, sizeof value));
    return value;
}

struct Region {
    simt::Range range;
    Space space = Space::none;
    std::string name;
    bool written = false;  // all of it was written before the launch
    std::uint64_t serial = 0;
    Spare<Shadow>::Pointer shadow;  // made at the first access
    std::uint32_t epoch = 0;
    Spare<Words>::Pointer words;                  // made at the first write
    std::uint32_t written_in = 0;                 // epoch of the last write
    std::vector<simt::Range> written_parts = {};  // the parts written before the launch, if not all; offsets
    unsigned slots = 0;  // a bit for each resident block whose plain accesses may take the fast path

    void mark_written() {
        shadow->written = written;
        shadow->written_parts = written_parts;
    }
};

}  // namespace meter

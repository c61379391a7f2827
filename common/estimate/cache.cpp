#include "estimate/cache.hpp"

#include <algorithm>

namespace estimate {

Cache::Cache(std::size_t bytes) : sets_(std::max<std::size_t>(1, bytes / 128 / ways)) {
    lines_.resize(sets_ * ways);
}

bool Cache::ask(std::uint64_t sector) {
    const auto tag = sector / 4;
    const auto bit = 1u << sector % 4;
    // Addresses that are powers of two apart would share few sets. Hardware mixes the bits, too.
    const auto set = (tag * 0x9E3779B97F4A7C15) >> 32;
    auto* const first = &lines_[set % sets_ * ways];
    auto* const end = first + ways;
    auto* line = std::find_if(first, end, [tag](const Line& l) { return l.tag == tag; });
    if (line == end) {
        line = std::min_element(first, end, [](const Line& a, const Line& b) { return a.asked < b.asked; });
        *line = {tag, 0, 0};
    }
    line->asked = ++now_;
    const bool there = line->sectors & bit;
    line->sectors |= bit;
    return there;
}

}  // namespace estimate

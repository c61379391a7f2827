#include "simt/text.hpp"

#include <cstdio>
#include <cstring>

namespace simt {

std::string text_of(uint3 v) {
    return "(" + std::to_string(v.x) + "," + std::to_string(v.y) + "," + std::to_string(v.z) + ")";
}
std::string text_of(Site site) {
    const char* slash = std::strrchr(site.file, '/');
    return std::string(slash ? slash + 1 : site.file) + ":" + std::to_string(site.line);
}

std::string hexadecimal(unsigned mask) {
    char text[16];
    std::snprintf(text, sizeof text, "0x%08x", mask);
    return text;
}

std::string ordinal(std::uint64_t n) {
    const bool teen = n / 10 % 10 == 1;
    return std::to_string(n) + (teen          ? "th"
                                : n % 10 == 1 ? "st"
                                : n % 10 == 2 ? "nd"
                                : n % 10 == 3 ? "rd"
                                              : "th");
}

std::string name_of(uint3 thread, uint3 block) {
    return "thread " + text_of(thread) + " of block " + text_of(block);
}

std::string as_written(const Launch& launch) {
    const auto extent = [](dim3 d) { return d.y == 1 && d.z == 1 ? std::to_string(d.x) : text_of(uint3(d)); };
    return launch.name + ("<<<" + extent(launch.grid) + ", " + extent(launch.block) + ">>>");
}

}  // namespace simt

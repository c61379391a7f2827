// Names of threads, lines and launches in messages.
#pragma once
#include "simt/runtime.hpp"

#include <cstdint>
#include <string>

namespace simt {

/// "(3,0,0)"
std::string text_of(uint3);
/// "03_tiled.cu:27"
std::string text_of(Site);
/// A mask of lanes: "0x0000ffff".
std::string hexadecimal(unsigned mask);
/// "3rd"
std::string ordinal(std::uint64_t);
/// "thread (3,0,0) of block (7,0,0)"
std::string name_of(uint3 thread, uint3 block);
/// "sum<<<1, 1024>>>"
std::string as_written(const Launch&);

}  // namespace simt

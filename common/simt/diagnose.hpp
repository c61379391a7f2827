// What is said of threads, and of a block that does not come to its end.
#pragma once
#include "simt/scheduler.hpp"

#include <string>

namespace simt {

/// "(3,0,0)"
std::string text_of(uint3);
/// "03_tiled.cu:27"
std::string text_of(Site);
/// "0x0000ffff", of a mask of lanes.
std::string hexadecimal(unsigned mask);
/// "thread (3,0,0) of block (7,0,0)"
std::string name_of(uint3 thread, uint3 block);

/// Groups the threads of a block that cannot go on by what each waits for. `probe` may be null.
std::string why_stuck(const Block&, const Probe* probe);

/// Names the thread that still runs after so many seconds, or polls memory: the running one, or else one that
/// could go on. `probe` may be null.
std::string spinning(const Block&, double seconds, const Probe* probe);

}  // namespace simt
